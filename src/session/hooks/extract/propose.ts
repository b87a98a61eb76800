import { unlessRefused } from '../../../base/errors.ts'
import type { Memory } from '../../../engine/memory.ts'
import { identityOf, standingOf } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'
import type { Hook } from '../hook.ts'

/** Whether the knowledge has it already, agreed to or not: nothing is to be said of it then. */
export function isKnown(
  memory: Memory,
  kindName: string,
  args: { readonly [field: string]: Json | undefined },
): boolean {
  const kind = memory.registry().kind(kindName)
  const id = kind && identityOf(kind, args)
  const there = id === undefined ? undefined : memory.reader.entity(id)
  return there?.live === true && standingOf(there.fields) !== 'proposed'
}

/** Proposes an action in the session's name; undefined where it is known, was rejected, or holds a secret. */
export function proposeCaptured(
  hook: Pick<Hook, 'memory'> & { readonly author: { agent: string; session?: string } },
  kind: string,
  action: readonly [verb: string, args: { [field: string]: Json }],
  evidence: string,
  source: string,
): string | undefined {
  const [verb, args] = action
  const propose = () => {
    if (isKnown(hook.memory, kind, args)) return undefined
    const done = hook.memory.act([['propose', { action: [verb, { ...args }], evidence }]], { ...hook.author, source })
    const r = done.results[0]
    return r?.id === undefined || done.batch === null ? undefined : String(r.id)
  }
  return unlessRefused(propose, undefined, 'refused', 'secret')
}

export function keepCaptured(hook: Pick<Hook, 'sessions'>, session: string, ids: readonly string[]): void {
  if (ids.length === 0 || session === '') return
  const before = hook.sessions.get(session)?.data.captured
  const all = [...(Array.isArray(before) ? before.map(String) : []), ...ids]
  hook.sessions.patch(session, { captured: [...new Set(all)].slice(-100) })
}
