import { BRIEFING_CHARS, BRIEFING_TOKENS, type BriefOptions, brief, wasBriefed } from '../briefing/brief.ts'
import { gitState } from '../git.ts'
import { userName } from '../open.ts'
import { readEdits } from '../sessions/views/index.ts'
import type { HookReply } from './call.ts'
import type { Hook } from './hook.ts'

/** A subagent has one thing to do, and a context of its own to fill. */
const SUBAGENT_TOKENS = 800

/** What the conversation of a session that goes on holds, since its last compaction; nothing where it was told nothing. */
function heldBy({ sessions, session }: Hook): ReadonlyMap<string, number> | undefined {
  if (session === '') return undefined
  const from = Number(sessions.get(session)?.data.compacted ?? 0)
  const told = sessions.toldOf(session).filter((t) => t.at >= from)
  return told.length === 0 ? undefined : new Map(told.flatMap((t) => t.ids.map((id) => [id, t.at])))
}

/** What a session is told as it begins, and the one line that its person sees. */
export function briefing(hook: Hook, session: string): HookReply {
  const { memory, project, call, root } = hook
  const child = call.parent !== undefined
  const options: BriefOptions = {
    session: session === '' ? undefined : session,
    client: call.client,
    user: userName(root),
    branch: gitState(root).branch,
    budget: child ? SUBAGENT_TOKENS : BRIEFING_TOKENS,
    chars: BRIEFING_CHARS,
    held: call.source === 'resume' ? heldBy(hook) : undefined,
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
