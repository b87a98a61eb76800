import { inspect, readInside } from '../../base/files.ts'
import { gitState, hasBranch, isShallow } from '../../base/git.ts'
import { keptIn } from '../../base/lookup.ts'
import { unmerged } from '../../base/run-git.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { markOf, Staleness } from '../../engine/read/stale.ts'
import { type Entity, filesOf, importedFrom, isAgreed, isPage, madeAt, saidAt, saidBy } from '../../model/entity.ts'
import { gistOf } from '../../model/gist.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { oneLine } from '../../model/text.ts'
import { linkedWith, unverifiedAmong, upheldLinks } from './unverified.ts'
import { statesOf } from './validity.ts'

/** What holds of an entity at the moment of telling. */
export interface Holds {
  readonly state?: string | undefined
  /** Ids of what took its place. */
  readonly replacedBy?: readonly string[]
  /** The branch of all that took its place, as long as that is not merged here, where it still holds. */
  readonly replacedOn?: string | undefined
  /** Nobody here stands by it. */
  readonly isUnverified?: boolean
  /** `failed: …` or `corrected: …`, with what says so. */
  readonly disproved?: string | undefined
  /** `in conflict (rationale): …`: fields that were written twice at once, of which one value is shown. */
  readonly conflict?: string | undefined
  /** Another branch, on which it was said, and which is not merged here. */
  readonly branch?: string | undefined
  /** Ids of what it replaced there, and not here. */
  readonly instead?: readonly string[]
  /** Why what it says of the code may no longer hold. */
  readonly stale?: string | undefined
}

/** What belongs to its branch. A rule or a fact holds everywhere (E4). */
const OF_BRANCH = new Set(['decision', 'failed-approach', 'learning', 'event-note', 'result', 'measurement'])
/** What is said on these is said for all. */
const MAIN = new Set(['main', 'master', 'trunk', 'develop'])

/** Tells of an entity the other branch on which it was said, as long as that one is there and not merged. */
export function branchesApart(root: string): (e: Entity) => string | undefined {
  const here = gitState(root)
  let refs: ReadonlySet<string> | undefined
  return (e) => {
    const { branch } = saidBy(e)
    if (!OF_BRANCH.has(e.kind) || typeof branch !== 'string' || branch === here.branch || MAIN.has(branch))
      return undefined
    refs ??= here.commit === undefined || isShallow(root) ? new Set() : unmerged(root)
    const isApart = refs.has(`refs/heads/${branch}`) || (refs.has(`refs/remotes/origin/${branch}`) && !hasBranch(root, branch)) // biome-ignore format: a row
    return isApart ? branch : undefined
  }
}

type BranchOf = (e: Entity) => string | undefined

/** What took the place of something, and where. */
export function replacement(e: Entity, reader: Reader, branchOf: BranchOf): Pick<Holds, 'replacedBy' | 'replacedOn'> {
  const replacedBy = reader.edges('to', [e.id], ['supersedes']).map((l) => l.from)
  const on = reader.entities(replacedBy).map(branchOf)
  return { replacedBy, replacedOn: on.every((branch) => branch !== undefined) ? on[0] : undefined }
}

/** Of what is said on branches apart, what it replaced there and what holds here: nobody has retired it, or replaced it here too. */
export function keptHere(of: readonly Entity[], reader: Reader, branchOf: BranchOf): Entity[] {
  const apart = of.filter((e) => e.kind === 'decision' && branchOf(e) !== undefined).map((e) => e.id)
  const replaced = apart.length === 0 ? [] : reader.edges('from', apart, ['supersedes']).map((l) => l.to)
  return reader
    .entities([...new Set(replaced)])
    .filter((e) => e.live && isAgreed(e) && branchOf(e) === undefined)
    .filter((e) => replacement(e, reader, branchOf).replacedOn !== undefined)
}

/** Links to what came of something. */
export const CAME_OF = ['caused', 'led-to']

const outcomeOf = ({ kind, fields }: Entity): string => (kind === 'result' ? String(fields.outcome) : '')
/** Also "failed at first, now fine". */
export const isMixed = (e: Entity): boolean =>
  /^(?:mixed|fail[^,;:]{0,80}[,;:] (?:but )?(?:now|since then) (?:\w+ )?(?:fine|works?|fixed|good|ok)\b)/i.test(
    outcomeOf(e),
  )
export const isFailure = (e: Entity): boolean =>
  e.kind === 'failed-approach' || (/^fail/i.test(outcomeOf(e)) && !isMixed(e))
/** Whether a result says that it worked. */
export const isSuccess = (e: Entity): boolean => /^succe/i.test(outcomeOf(e))

/** Of some entities, those of which a result says that they failed, or a correction that they are wrong; and whether another says that they worked. */
export function disprovedAmong(memory: Memory, reader: Reader, of: readonly Entity[]): Map<string, string> {
  const ids = of.map((e) => e.id)
  const came = linkedWith(memory, reader, 'from', ids, CAME_OF)
  const worked = new Map(came.flatMap((s) => (isSuccess(s.entity) ? [[s.of, s.entity]] : [])))
  const saidOf = ({ of, entity }: (typeof came)[number], how: string): [string, string] => {
    const good = worked.get(of)
    const less = good ? `; but worked: ${oneLine(good.name, 100)}` : ''
    return [of, `${good ? 'mixed, ' : ''}${how}: ${oneLine(entity.name, 100)}${less}`]
  }
  return new Map([
    ...linkedWith(memory, reader, 'to', ids, ['corrects']).map((s) => saidOf(s, 'corrected')),
    ...came
      .filter((s) => isMixed(s.entity))
      .map((s): [string, string] => [s.of, `mixed: ${oneLine(s.entity.name, 100)}`]),
    ...came.filter((s) => isFailure(s.entity)).map((s) => saidOf(s, 'failed')),
  ])
}

export const stalenessOf = (memory: Memory, root: string, reader: Reader): Staleness =>
  new Staleness(memory.db, root, { ...reader, ...upheldLinks(memory, reader) })

/** Of a document, or a piece of one, whether it is there and still says this: its words are looked for, as a page changes elsewhere too. */
function lostPages(root: string): (e: Entity) => string | undefined {
  const pages = new Map<string, { text: string | undefined; lines: ReadonlySet<string> }>()
  const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim()
  return (e) => {
    const source = String(saidBy(e).source)
    const isPiece = e.kind === 'chunk' && source.startsWith('import ')
    if (!isPiece && !isPage(e)) return undefined
    const path = String(e.fields[isPiece ? 'sourceFile' : 'path'])
    const { is } = inspect(root, path)
    if (is === 'nothing' && source.startsWith('import docs ')) return `${path} is gone`
    if (is !== 'file' || !isPiece) return undefined
    const { text, lines } = keptIn(pages, path, () => {
      const read = readInside(root, path)
      const whole = withoutPrivate(`${read ?? ''}`)
      return { text: read && squeezed(whole), lines: new Set(whole.split('\n').map(squeezed)) }
    })
    const says = (line: string) =>
      line.includes('[redacted') || lines.has(squeezed(line)) || text?.includes(squeezed(line)) === true
    return text === undefined || String(e.fields.content).split('\n').every(says)
      ? undefined
      : `${path} no longer says this`
  }
}

/**
 * What holds of several entities, by id. Every channel that tells of one says it by `marksOf`, `besideOf` or `holdsJson`.
 * `past`: of a moment before; the code of now says nothing of it.
 */
export function holdsOf(
  memory: Memory,
  root: string,
  entities: readonly Entity[],
  { reader = memory.reader, now = memory.env.now(), past }: { reader?: Reader; now?: number; past?: unknown } = {},
): Map<string, Holds> {
  const states = statesOf(entities, reader, now)
  const unverified = unverifiedAmong(memory, entities)
  const disproved = disprovedAmong(memory, reader, entities)
  const staleness = past ? undefined : stalenessOf(memory, root, reader)
  const branchOf = past ? () => undefined : branchesApart(root)
  const lostOf = past ? () => undefined : lostPages(root)
  return new Map(
    entities.map((e) => {
      const [state, isUnverified] = [states.get(e), unverified.has(e.id)]
      const stale = isPage(e) ? undefined : staleness?.of(e.id)
      const replaced = state === 'superseded' ? replacement(e, reader, branchOf) : {}
      const instead = keptHere([e], reader, branchOf).map((other) => other.id)
      const beside = { disproved: disproved.get(e.id), branch: branchOf(e), stale: stale ? markOf(stale) : lostOf(e) }
      return [e.id, { state, ...replaced, instead, isUnverified, conflict: conflictOf(e), ...beside }]
    }),
  )
}

/** In this order everywhere: `superseded by decision:b`, `unverified`, `failed: …`, `in conflict …`, `on branch b`, what changed in the code. */
export const marksOf = ({ state, replacedBy = [], replacedOn, instead = [], ...holds }: Holds): string[] =>
  [
    state === 'superseded' && replacedBy.length > 0
      ? `superseded ${replacedOn ? `on branch ${replacedOn} ` : ''}by ${replacedBy.join(', ')}`
      : state,
    holds.isUnverified && 'unverified',
    holds.disproved,
    holds.conflict,
    holds.branch && `on branch ${holds.branch}, which is not merged here`,
    instead.length > 0 && `here ${instead.join(', ')} holds`,
    holds.stale,
  ].filter((mark) => typeof mark === 'string')

/** Beside its fields. */
export const holdsJson = ({ replacedBy = [], replacedOn, isUnverified, ...h }: Holds): JsonObject =>
  defined({
    ...{ state: h.state, disproved: h.disproved, conflict: h.conflict, branch: h.branch, stale: h.stale },
    replacedBy: replacedBy.length > 0 ? [...replacedBy] : undefined,
    replacedOn,
    unverified: isUnverified || undefined,
  }) as JsonObject

function conflictOf({ conflicts }: Entity): string | undefined {
  const fields = new Set(conflicts.map((c) => (c.field === '$' ? 'existence' : c.field)))
  return fields.size === 0 ? undefined : `in conflict (${[...fields].join(', ')}): see tidemark conflicts`
}

/** A client by one name, whether its hooks wrote or its server: `claude-code` is `claude`. */
export const agentNamed = (agent: string): string => agent.replace(/(?:-code|(?:-cli)?-mcp-client)$/, '')

/** Who said it and when, and what holds of it: `(Ana, 2026-11-21, unverified) [login in src/a.ts changed …]`. */
export function besideOf(e: Entity, holds: Holds, day: string, clean: (text: string, most: number) => string): string {
  const last = saidBy(e)
  const [from] = importedFrom(last.source) === undefined ? [] : filesOf(e)
  const file = from !== undefined && /[./]/.test(from) ? from : undefined // else another store of ours
  // an agent's own words, not those that a person typed in a prompt or on the command line: with evidence it reasons in its own
  const isTyped = (e.kind === 'fact' && last.said !== undefined) || last.source === 'prompt' || last.agent === 'cli'
  const agent = typeof last.agent === 'string' ? agentNamed(last.agent) : undefined
  const user = !isTyped && agent && last.user ? `${agent} for ${last.user}` : last.user
  const who = [file, user, agent, last.source, last.session].find((w) => typeof w === 'string' && w !== '')
  const [now, stale] = [marksOf({ ...holds, stale: undefined }), holds.stale]
  const by = [
    clean(typeof who === 'string' ? who : 'somebody', who === file ? 120 : 60),
    day,
    ...now.map((mark) => clean(mark, 200)),
  ]
  return `(${by.join(', ')})${stale === undefined ? '' : ` [${clean(stale, 200)}: check first]`}`
}

const SAYING = ['summary', 'description', 'rationale', 'outcome', 'lesson', 'rightBelief', 'justification', 'body']

/** What it is called and what it says, on a line. */
export function inShort(e: Entity, clean: (text: string, most: number) => string): string {
  const said = sayingOf(e)
  const short = said.includes('\n') || said.length > 260 ? gistOf(said, 260) : said
  return `${e.kind} "${clean(e.name, 120)}"${said === '' ? '' : `: ${clean(short, 262)}`}`
}

/** What it says besides its name. */
export const sayingOf = ({ fields, name }: Entity): string =>
  SAYING.flatMap((f) => (typeof fields[f] === 'string' && fields[f] !== name ? [fields[f]] : [])).join(' · ')

/** The day when it was said last; of what was replaced or retired the day when it was made, as that changed it too. */
export const dayOf = (e: Entity, { state }: Holds = {}): string =>
  new Date(state === undefined ? saidAt(e) : madeAt(e)).toISOString().slice(0, 10)
