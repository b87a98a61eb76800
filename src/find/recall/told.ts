import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { markOf, Staleness } from '../../engine/read/stale.ts'
import { type Entity, importedFrom, provenanceOf, saidAt } from '../../model/entity.ts'
import type { JsonObject } from '../../model/object.ts'
import { unverifiedAmong } from './standing.ts'
import { statesOf } from './validity.ts'

/** What holds of an entity at the moment of telling. */
export interface Holds {
  readonly state?: string | undefined
  /** Ids of what took its place. */
  readonly replacedBy?: readonly string[]
  /** Nobody here stands by it. */
  readonly isUnverified?: boolean
  /** Why what it says of the code may no longer hold. */
  readonly stale?: string | undefined
}

interface Then {
  readonly reader?: Reader
  readonly now?: number
  /** Of a moment before: the code of now says nothing of it. */
  readonly past?: unknown
}

/** What holds of several entities, by id. Every channel that tells of one says it by `marksOf`, `besideOf` or `holdsJson`. */
export function holdsOf(
  memory: Memory,
  root: string,
  entities: readonly Entity[],
  then: Then = {},
): Map<string, Holds> {
  const { reader = memory.reader, now = memory.env.now(), past } = then
  const states = statesOf(entities, reader, now)
  const unverified = unverifiedAmong(memory, entities)
  const staleness = past ? undefined : new Staleness(memory.db, root, reader)
  return new Map(
    entities.map((e) => {
      const state = states.get(e)
      const stale = staleness?.of(e.id)
      const links = state === 'superseded' ? reader.links('to', e.id).filter((l) => l.type === 'supersedes') : []
      const isUnverified = unverified.has(e.id)
      return [e.id, { state, replacedBy: links.map((l) => l.from), isUnverified, stale: stale && markOf(stale) }]
    }),
  )
}

/** In this order everywhere: `superseded by decision:b`, `unverified`, what changed in the code. */
export const marksOf = ({ state, replacedBy = [], isUnverified, stale }: Holds): string[] =>
  [
    state === 'superseded' && replacedBy.length > 0 ? `superseded by ${replacedBy.join(', ')}` : state,
    isUnverified && 'unverified',
    stale,
  ].filter((mark) => typeof mark === 'string')

/** Beside its fields. */
export const holdsJson = ({ state, replacedBy = [], isUnverified, stale }: Holds): JsonObject => ({
  ...(state && { state }),
  ...(replacedBy.length > 0 && { replacedBy: [...replacedBy] }),
  ...(isUnverified && { unverified: true }),
  ...(stale && { stale }),
})

/** Who said it and when, and what holds of it: `(Ana, 2026-11-21, unverified) [login in src/a.ts changed …]`. */
export function besideOf(e: Entity, holds: Holds, day: string, clean: (text: string, most: number) => string): string {
  const all = provenanceOf(e)
  const last = all.findLast((p) => p.confirms === undefined) ?? all.at(-1) ?? {}
  const from = importedFrom(last.source)
  const file = from !== undefined && /[./]/.test(from) ? from : undefined // else another store of ours
  const who = [file, last.user, last.agent, last.source, last.session].find((w) => typeof w === 'string' && w !== '')
  const [now, stale] = [marksOf({ ...holds, stale: undefined }), holds.stale]
  const by = [clean(typeof who === 'string' ? who : 'somebody', 40), day, ...now.map((mark) => clean(mark, 200))]
  return `(${by.join(', ')})${stale === undefined ? '' : ` [${clean(stale, 200)}: check before you rely on it]`}`
}

const SAYING = ['summary', 'description', 'rationale', 'outcome', 'lesson', 'rightBelief', 'justification', 'body']

/** What it is called and what it says, on a line. */
export function inShort(e: Entity, clean: (text: string, most: number) => string): string {
  const said = SAYING.flatMap((f) => (typeof e.fields[f] === 'string' && e.fields[f] !== e.name ? [e.fields[f]] : []))
  return `${e.kind} "${clean(e.name, 120)}"${said.length > 0 ? `: ${clean(said.join(' · '), 260)}` : ''}`
}

export const dayOf = (e: Entity): string => new Date(saidAt(e)).toISOString().slice(0, 10)
