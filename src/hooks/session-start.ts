import { appendFileSync } from 'node:fs'
import { clientProcess } from '../coordination/client-process.ts'
import type { ProcessRef } from '../env.ts'
import { gitState } from '../git.ts'
import { shellWord } from '../model/shell.ts'
import { userName } from '../open.ts'
import { briefing } from './briefing.ts'
import type { HookCall, HookReply } from './call.ts'
import type { Hook } from './hook.ts'

/** Claude Code reads this file before each command of the agent's shell: so `tidemark` there knows whose it is. */
function tellShell(session: string): void {
  const file = process.env.CLAUDE_ENV_FILE
  if (file) appendFileSync(file, `export TIDEMARK_SESSION=${shellWord(session)}\n`)
}

/** Whose process it is; where that holds several sessions the first sign of life tells it. */
function processOf({ pid, shared }: HookCall): { pid?: number; process?: ProcessRef | undefined } {
  if (shared) return {}
  return pid === undefined ? { process: clientProcess() } : { pid }
}

/** A session begins or goes on, from whatever source: it is there for the others, and is told what it should know. */
export async function sessionStart(hook: Hook): Promise<HookReply> {
  const { call, sessions } = hook
  if (call.parent !== undefined) return subagentStart(hook)
  const info = hook.attempt('session start', () =>
    sessions.start({
      ...(hook.session === '' ? {} : { id: hook.session }),
      client: call.client,
      root: hook.root,
      branch: gitState(hook.root).branch,
      user: userName(hook.root),
      ...processOf(call),
      ...(call.source === undefined ? {} : { source: call.source }),
    }),
  )
  const id = info?.id ?? hook.session
  if (call.client === 'claude' && id !== '') hook.attempt('CLAUDE_ENV_FILE', () => tellShell(id))
  if (call.source === 'compact' && hook.session !== '') await (await import('./compaction.ts')).compacted(hook)
  return hook.attempt('briefing', () => briefing(hook, id)) ?? {}
}

/** A subagent is a session of its own below the one that started it, and is told who else is there. */
export function subagentStart(hook: Hook): HookReply {
  const { call, sessions } = hook
  hook.attempt('subagent start', () =>
    sessions.start({
      id: hook.session,
      parent: call.parent === undefined ? undefined : sessions.resolve(call.parent),
      client: call.client,
      agent: call.agent,
      root: hook.root,
    }),
  )
  return hook.attempt('briefing', () => briefing(hook, hook.session)) ?? {}
}
