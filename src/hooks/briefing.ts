import { type BriefOptions, brief, wasBriefed } from '../briefing/brief.ts'
import { BRIEFING_CHARS, BRIEFING_TOKENS } from '../briefing/budget.ts'
import { gitState } from '../git.ts'
import { readEdits } from '../handoff/views/index.ts'
import { userName } from '../open.ts'
import type { HookReply } from './call.ts'
import { toldSince } from './delivery.ts'
import type { Hook } from './hook.ts'

/** A subagent has one thing to do, and a context of its own to fill. */
const SUBAGENT_TOKENS = 800

/** What a session is told as it begins, and the one line that its person sees. */
export function briefing(hook: Hook, session: string): HookReply {
  const { memory, project, call, root } = hook
  const child = call.parent !== undefined
  const held = call.source === 'resume' ? toldSince(hook) : undefined
  const options: BriefOptions = {
    session: session === '' ? undefined : session,
    client: call.client,
    user: userName(root),
    branch: gitState(root).branch,
    budget: child ? SUBAGENT_TOKENS : BRIEFING_TOKENS,
    chars: BRIEFING_CHARS,
    held: held && held.size > 0 ? held : undefined,
  }
  hook.attempt('edits by hand', () => readEdits(memory, project))
  const { cursor } = memory
  const told = brief(memory, project, options)
  hook.attempt('briefed', () =>
    memory.db.write(() => wasBriefed(memory, options, told, `${call.client} ${call.event}`, cursor)),
  )
  return {
    ...(told.text === '' ? {} : { context: told.text }),
    ...(child ? {} : { visible: `Tidemark: ${told.line}${hook.paused === undefined ? '' : ', capture paused'}` }),
  }
}
