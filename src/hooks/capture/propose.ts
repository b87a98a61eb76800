import { UserError } from '../../errors.ts'
import { identityOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Hook } from '../hook.ts'
import type { Captured } from './patterns.ts'

/** What was put up for agreement. */
export interface Proposed {
  readonly id: string
  readonly kind: string
  readonly text: string
  readonly category?: string
}

/** The field of an action that says what it is about: the first of these that it has. */
const SAYS = ['fact', 'rightBelief', 'description', 'approach', 'ruleBroken', 'title', 'question', 'summary']

/** By this source the knowledge tells what was captured from what somebody recorded. */
export const CAPTURE_SOURCE = 'capture'

/** Whether the knowledge has it already, agreed to or not: nothing is to be said of it then. */
function isKnown(
  { memory }: Pick<Hook, 'memory'>,
  kindName: string,
  args: { readonly [field: string]: Json },
): boolean {
  const kind = memory.registry().kind(kindName)
  const id = kind && identityOf(kind, args)
  const there = id === undefined ? undefined : memory.reader.entity(id)
  return there?.live === true && standingOf(there.fields) !== 'proposed'
}

/**
 * Puts an action up for agreement in the session's name; never binding. Nothing where it is known, where somebody has
 * rejected it, and where it holds a secret.
 */
export function proposeCaptured(
  hook: Pick<Hook, 'memory'> & { readonly author: { agent: string; session?: string } },
  kind: string,
  action: readonly [verb: string, args: { [field: string]: Json }],
  evidence: string,
  source: string = CAPTURE_SOURCE,
): Proposed | undefined {
  const [verb, args] = action
  try {
    if (isKnown(hook, kind, args)) return undefined
    const author = { ...hook.author, source }
    const done = hook.memory.act([['propose', { action: [verb, { ...args }], evidence }]], author)
    const r = done.results[0]
    if (r?.id === undefined || done.batch === null) return undefined
    const id = String(r.id)
    const text = SAYS.map((field) => args[field]).find((value) => value !== undefined && value !== null) ?? ''
    return { id, kind, text: String(text), category: typeof args.category === 'string' ? args.category : undefined }
  } catch (error) {
    if (error instanceof UserError && (error.code === 'refused' || error.code === 'secret')) return undefined
    throw error
  }
}

/** Proposes what a session's prompt said. */
export function proposeAll(hook: Hook, session: string, found: readonly Captured[]): Proposed[] {
  const author = { agent: hook.call.client, session: session || undefined }
  const all = found.flatMap(
    (f) => proposeCaptured({ memory: hook.memory, author }, f.kind, f.action, `the user said: "${f.said}"`) ?? [],
  )
  const ids = all.map((p) => p.id)
  keepCaptured(hook, session, ids)
  return all
}

/** Remembers with the session what was captured in it. */
export function keepCaptured(hook: Pick<Hook, 'sessions'>, session: string, ids: readonly string[]): void {
  if (ids.length === 0 || session === '') return
  const before = hook.sessions.get(session)?.data.captured
  const all = [...(Array.isArray(before) ? before.map(String) : []), ...ids]
  hook.sessions.patch(session, { captured: [...new Set(all)].slice(-100) })
}
