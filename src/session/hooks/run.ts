/** hooks: what is done at each event of a client's session, in no client's dialect. One file per event. */

import { gitCommonDir, gitState, workTreeOf } from '../../base/git.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { clientProcess, sameProcess } from '../../work/coordination/client-process.ts'
import { makeUp } from './backlog.ts'
import { type HookCall, type HookEvent, type HookReply, NOTHING } from './call.ts'
import { type Handler, Hook } from './hook.ts'
import type { HookErrors } from './log.ts'
import { offUntil } from './pause.ts'

const HANDLERS: Partial<Readonly<Record<HookEvent, () => Promise<Handler>>>> = {
  'session-start': async () => (await import('./session-start.ts')).sessionStart,
  'subagent-start': async () => (await import('./session-start.ts')).subagentStart,
  'subagent-stop': async () => (await import('./session-end.ts')).subagentStop,
  'session-end': async () => (await import('./session-end.ts')).sessionEnd,
  prompt: async () => (await import('./prompt.ts')).prompt,
  'before-tool': async () => (await import('./before-tool.ts')).beforeTool,
  'before-edit': async () => (await import('./before-edit.ts')).beforeEdit,
  'after-edit': async () => (await import('./after-tool.ts')).afterEdit,
  'after-tool': async () => (await import('./after-tool.ts')).afterTool,
  'tool-failed': async () => (await import('./after-tool.ts')).toolFailed,
  stop: async () => (await import('./stop.ts')).stop,
  'pre-compact': async () => (await import('./compaction.ts')).preCompact,
  'status-line': async () => (await import('./status-line.ts')).statusLine,
}

/** After these a session may be read by the model that its user has allowed, if there is any: a file says so. */

/** These come after a session's end too, and bring none back to life. */
const QUIET: ReadonlySet<HookEvent> = new Set([
  'stop', 'subagent-stop', 'post-compact', 'session-end', 'status-line', 'after-tool', 'after-edit', 'other',
]) // biome-ignore format: a list to read at a glance

/** Its errors are for the log, never for the client. */
export interface Answered extends HookErrors {
  reply: HookReply
  session: string
}

/** A sign of life. Events that come late bring no session back that has ended or crashed. */
function signOfLife(hook: Hook): void {
  const { call, session, sessions, root } = hook
  const known = sessions.get(session)
  const killed = known?.state === 'crashed' && known.process !== undefined
  if ((known?.state === 'ended' || killed) && QUIET.has(call.event)) return
  const { client, parent, agent } = call
  const isKnown = known?.process !== undefined && !killed
  const process = parent === undefined && !isKnown ? clientProcess() : undefined
  if (killed && (!process || sameProcess(process, known.process!))) return
  if (!known && !process && parent === undefined && QUIET.has(call.event)) return // its client is gone already
  sessions.heartbeat(session, { client, parent, agent, root, process })
  const isElsewhere = call.cwd !== undefined && known?.root !== undefined && known.root !== root
  const asks = call.event === 'prompt' || call.event === 'stop'
  const isOnAnother = asks && known?.root === root && known.branch !== gitState(root).branch
  // a submodule is no work tree of this repository
  if (isOnAnother || (isElsewhere && gitCommonDir(root) === workTreeOf(hook.project.root)?.common))
    sessions.moved(session, root)
}

export async function respond(
  memory: Memory,
  project: Project,
  call: HookCall,
  left: () => number,
  clock = left,
): Promise<Answered> {
  const hook = new Hook(memory, project, call, left, clock)
  const { session } = hook
  if (offUntil(memory.db, memory.env.now()) !== undefined) {
    // one that began before and ends in good order is not told as crashed later
    const ends = call.event === 'session-end' || call.event === 'subagent-stop'
    const { state = 'ended' } = (ends && hook.sessions.get(session)) || {}
    if (state !== 'ended') hook.attempt('session end', () => hook.sessions.end(session, call.reason ?? 'ended'))
    return { reply: call.event === 'status-line' ? { line: 'tidemark: off' } : NOTHING, session, errors: hook.errors }
  }
  if (session !== '' && call.event !== 'session-start' && call.event !== 'subagent-start')
    hook.attempt('sign of life', () => {
      signOfLife(hook)
      // the lock was not to be had: half of a session, without its process, would seem to live for long
      if (!hook.sessions.get(session)) hook.session = ''
    })
  if (hook.session !== '' && hook.errors.length === 0 && call.event !== 'status-line') makeUp(hook)
  const load = HANDLERS[call.event]
  const reply =
    (load && (await hook.attemptLater(call.event, async () => await (await load())(hook), call.event === 'prompt'))) ??
    NOTHING
  if (hook.observed)
    await hook.attemptLater('views', async () => {
      const { refreshViews } = await import('../../work/handoff/views/refresh.ts')
      refreshViews(memory, project)
    })
  return { reply, session: hook.session, errors: hook.errors, code: hook.code }
}
