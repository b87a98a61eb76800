import { newestFirst } from '../../engine/read/reader.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import type { Hook } from './hook.ts'

/** Of each kind so many of the newest are looked at. */
const LOOKED_AT = 40
/** What hooks write themselves says nothing of what the agent recorded. */
const BY_HOOKS = /^(?:capture$|handoff$|observed$|llm:)/

/** What the session and its subagents have recorded since it started, newest first; without what hooks wrote. */
export function recordedBy({ memory, sessions, session }: Hook, only?: readonly string[]): Entity[] {
  const started = sessions.get(session)?.started ?? 0
  const { reader } = memory
  const kinds = reader.registry().visibleKinds()
  return kinds
    .filter((k) => only === undefined || only.includes(k.name))
    .flatMap((k) => reader.list(k.name, { since: started, limit: LOOKED_AT }))
    .filter((e) =>
      provenanceOf(e).some(
        (p) =>
          (p.session === session || String(p.session).startsWith(`${session}/`)) && !BY_HOOKS.test(String(p.source)),
      ),
    )
    .sort(newestFirst)
}
