import { UserError } from '../../base/errors.ts'
import { namesNear, type Reader } from '../../engine/read/reader.ts'
import { asShort, shortRefs } from '../../engine/read/short-references.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import { findInTree } from '../../find/recall/scope.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Kind } from '../../model/kind.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { didYouMean, orNear } from '../../model/names.ts'
import type { JsonObject } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { oneLine } from '../../model/text.ts'
import { localMinute } from '../../model/times.ts'
import type { WorkKind } from '../../model/work-kinds.ts'
import { many } from '../../session/briefing/format.ts'

export { betweenCommas as partsOf } from '../../model/markdown.ts'
export { oneLine } from '../../model/text.ts'
export { ago, span } from '../../model/times.ts'

/** "30 decisions, 1 fact"; a kind that only a project declares has the plural of most words. */
export const countedKinds = (kinds: readonly { kind: string; n: number }[]): string =>
  kinds.map(({ kind, n }) => many(n, kind, KINDS.find((k) => k.name === kind)?.plural)).join(', ')

/** A moment as text: for a person on a terminal local, with the zone, else in UTC. */
export const moment = (ms: number, local: boolean | undefined): string =>
  local ? localMinute(ms) : `${new Date(ms).toISOString().slice(0, 19)}Z`

export const undoLine = (batch: string, does = 'takes it back'): string => `tidemark undo ${shortBatch(batch)} ${does}`

/** A value in words; what is too long ends between two of its parts. */
export function inWords(value: Json, max: number): string {
  if (value === null || typeof value !== 'object') return oneLine(String(value), max)
  const part = (v: Json): string => {
    const text = inWords(v, 60)
    return Array.isArray(v) ? `[${text}]` : v !== null && typeof v === 'object' ? `{${text}}` : text
  }
  const parts = Array.isArray(value) ? value.map(part) : Object.entries(value).map(([k, v]) => `${k}: ${part(v)}`)
  let n = 1
  while (n < parts.length && parts.slice(0, n + 1).join(', ').length <= max) n++
  return [...parts.slice(0, n), ...(n < parts.length ? ['…'] : [])].join(', ')
}

/** The shortest reference to an entity: `#a3f`. */
export const refTo = (reader: Reader, id: string): string => shortRefs([id], reader.allIds()).get(id)!

/** The same for several, by id. */
export const refsTo = (reader: Reader, entities: readonly { readonly id: string }[]): Map<string, string> =>
  shortRefs(
    entities.map((e) => e.id),
    reader.allIds(),
  )

/** An entity as a program gets it: everything said of it, with when and which version. */
export const entityJson = (e: Entity): JsonObject => ({
  ...{ id: e.id, kind: e.kind, name: e.name, ...saidJson(e) },
  ...(e.live ? {} : { deleted: true }),
})

export const saidJson = (e: Entity): JsonObject => ({
  id: e.id,
  kind: e.kind,
  ...e.fields,
  recorded: new Date(e.created).toISOString(),
  updated: new Date(e.updated).toISOString(),
  version: e.version,
})

/** The one entity a reference means. @throws UserError with near matches, or the candidates. */
export function findOne(reader: Reader, ref: unknown, deleted = false): Entity {
  if (typeof ref !== 'string' || ref.trim() === '')
    throw new UserError('bad-reference', 'a reference is missing', 'give an id, kind:name, a path or a name')
  const said = ref.trim()
  const named = reader.find(said, deleted)
  const found = named.length > 0 ? named : reader.find(asShort(said) ?? said, deleted)
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UserError(
      'ambiguous',
      `"${ref}" means several things`,
      `say which: ${found.map((e) => e.id).join(' or ')}`,
      { candidates: found.map((e) => e.id) },
    )
  const hint = orNear(namesNear(reader, ref), '`tidemark list` shows what is recorded', (n) => `"${oneLine(n, 60)}"`)
  throw new UserError('not-found', `nothing is called "${oneLine(ref, 80)}"`, hint)
}

export const quoted = (e: Entity): string => `"${oneLine(e.name, 80)}"`

/** What a flag says, if it says something. */
export const oneOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** The kind that somebody names, in the singular or plural. @throws UserError */
export function kindNamed(registry: Registry, name: string): Kind {
  const kind = registry.kind(name) ?? registry.kindByPlural(name)
  if (kind) return kind
  const shown = registry.visibleKinds().map((k) => k.name)
  const names = registry.kinds().flatMap((k) => [k.name, k.plural])
  throw new UserError(
    'unknown-kind',
    `no kind "${oneLine(name, 80)}"`,
    didYouMean(name, names, `the kinds are ${shown.join(', ')}`),
  )
}

/** What stands below something as a tree: the lines of each, the first with its branch. */
export const asBranches = (below: readonly (readonly string[])[]): string[] =>
  below.flatMap(([first, ...rest], i) => {
    const last = i === below.length - 1
    return [`${last ? '└─ ' : '├─ '}${first}`, ...rest.map((l) => `${last ? '   ' : '│  '}${l}`)]
  })

export const findWork = (reader: Reader, kind: WorkKind, ref: string): Entity =>
  findInTree(reader, kind, ref, `\`tidemark ${kind} list\` shows them`)
