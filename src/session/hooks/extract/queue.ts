import { dirname } from 'node:path'
import type { Hook } from '../hook.ts'
import { allowedIn, openExtraction } from './consent.ts'

/** A session that does not say when it ends is looked at when it has been silent for so long. */
const REST_MS = 30 * 60_000
const WAIT_MS = 40

/** Queues the transcript of a session that stopped, and starts a process for what is due, where the user allowed it. */
export async function afterSession(hook: Hook): Promise<void> {
  const { call, memory, project, session } = hook
  if (session === '' || call.parent !== undefined || call.transcript === undefined || !hook.captures) return
  using state = openExtraction(project, { wait: WAIT_MS })
  if (!state || !allowedIn(state)) return
  const now = memory.env.now()
  const due = call.event === 'session-end' ? now : now + REST_MS
  state.queue({ session, transcript: call.transcript, client: call.client, root: hook.root, due })
  if (state.due(now).length > 0) await startExtraction(project.root, dirname(project.storePath))
}

async function startExtraction(root: string, cwd: string): Promise<void> {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, [process.argv[1]!, 'extract', '--due', '--project', root], {
    cwd,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  })
  child.on('error', () => {})
  child.unref()
}
