import { many } from '../briefing/format.ts'
import { UserError } from '../errors.ts'
import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { KINDS } from '../model/kinds/index.ts'
import { namesNear, type Reader } from '../read/reader.ts'

export { ago } from '../coordination/labels.ts'

/** "30 decisions, 1 fact"; a kind that only a project declares has the plural of most words. */
export const countedKinds = (kinds: readonly { kind: string; n: number }[]): string =>
  kinds.map(({ kind, n }) => many(n, kind, KINDS.find((k) => k.name === kind)?.plural)).join(', ')

/** How long, in the largest unit that fits. */
export function span(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

/** One line of at most `max` characters. */
export const oneLine = (value: string, max: number): string => {
  const flat = value.replace(/\s+/g, ' ').trim()
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat
}

/** An entity as a program gets it: everything said of it, with when and which version. */
export const entityJson = (e: Entity): Json => ({
  id: e.id,
  kind: e.kind,
  name: e.name,
  ...e.fields,
  recorded: new Date(e.created).toISOString(),
  updated: new Date(e.updated).toISOString(),
  version: e.version,
  ...(e.live ? {} : { deleted: true }),
})

/** The one entity a reference means. @throws UserError with near matches, or the candidates. */
export function findOne(reader: Reader, ref: unknown, deleted = false): Entity {
  if (typeof ref !== 'string' || ref.trim() === '')
    throw new UserError('bad-reference', 'a reference is missing', 'give an id, kind:name, a path or a name')
  const found = reader.find(ref.trim(), deleted)
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UserError(
      'ambiguous',
      `"${ref}" means several things`,
      `say which: ${found.map((e) => e.id).join(' or ')}`,
      { candidates: found.map((e) => e.id) },
    )
  const near = namesNear(reader, ref)
  throw new UserError(
    'not-found',
    `nothing is called "${oneLine(ref, 80)}"`,
    near.length > 0
      ? `did you mean ${near.map((n) => `"${oneLine(n, 60)}"`).join(' or ')}?`
      : '`tidemark list` shows what is recorded',
  )
}
