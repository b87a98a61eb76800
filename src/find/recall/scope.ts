import { UserError } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { isOpen, type Place, parentOf, pathTo } from '../../engine/read/work-tree.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import { nearest, orNear } from '../../model/names.ts'
import { isWork, type WorkKind } from '../../model/work-kinds.ts'
import type { RecallConfig } from './config.ts'
import type { Asked } from './options.ts'

/** Where an item was recorded, seen from the current task: the nearest of all places where it was. */
export type Where = keyof RecallConfig['weights']

/** From the nearest on. */
const WHERES = ['task', 'sibling', 'activity', 'goal', 'elsewhere'] as const satisfies readonly Where[]

export interface Proximity {
  readonly proximity: number
  readonly where: Where
  /** The scope, the depth of history or a weight of 0 leaves it out. */
  readonly excluded: boolean
}

const NAMES_TO_SUGGEST_FROM = 500

/** An entity of the work tree by reference, open ones first. @throws UserError with candidates or near matches. */
export function findInTree(reader: Reader, kind: WorkKind, ref: string, otherwise = '(tree) in discover shows them') {
  const found = [...reader.find(ref), ...reader.find(`${kind}:${ref}`)]
  const all = [...new Map(found.flatMap((e) => (e.kind === kind ? [[e.id, e] as const] : []))).values()]
  const open = all.filter(isOpen)
  const [one, other] = open.length > 0 ? open : all
  if (one && !other) return one
  const short = ref.length > 80 ? `${ref.slice(0, 80).toWellFormed()}…` : ref
  if (one) {
    const ids = (open.length > 0 ? open : all).map((e) => e.id)
    throw new UserError('ambiguous', `"${short}" means several ${kind}s`, `say which: ${ids.join(' or ')}`, {
      candidates: ids,
    })
  }
  const is = found[0]
  const known = reader.list(kind, { limit: NAMES_TO_SUGGEST_FROM })
  const ids = new Map(known.toReversed().map((e) => [e.name, e.id]))
  const near = nearest(ref, ids.keys())
  throw new UserError(
    'not-found',
    is ? `${is.id} is a ${is.kind}, not a ${kind}` : `no ${kind} is called "${short}"`,
    orNear(near, otherwise, (n) => `"${n}" (${ids.get(n)})`),
    { near },
  )
}

/** Looks up the parents of the work tree, each once. */
export function parents(reader: Reader): (ref: string, kind: WorkKind) => Entity | undefined {
  const known = new Map<string, Entity | undefined>()
  return (ref, kind) => {
    const key = `${kind} ${ref}`
    if (!known.has(key)) {
      const there = reader.entity(ref)
      const called = there ? [] : reader.find(ref, true).filter((e) => e.kind === kind)
      known.set(key, there?.kind === kind ? there : called.length === 1 ? called[0] : undefined)
    }
    return known.get(key)
  }
}

/** The place of a task that is named; it may be complete. @throws UserError where there is no such task. */
export function placeOfTask(reader: Reader, ref: string): Place {
  const place: { [K in WorkKind]?: string } = {}
  const task = findInTree(reader, 'task', ref)
  for (const id of pathTo(task, parents(reader))) {
    const kind = id === task.id ? 'task' : reader.entity(id)!.kind
    if (isWork(kind)) place[kind] = id
  }
  return place
}

/** Kinds that topics alone lift: what was done and what came of it never counts beyond its task. */
const LIFTED_BY_TOPIC = ['decision', 'learning']

function labelsOf(e: Entity): Set<string> {
  const labels = [e.fields.topics, e.fields.tags].flatMap((v) => (Array.isArray(v) ? v : []))
  return new Set(labels.map((l) => String(l).normalize('NFC').trim().toLowerCase()))
}

/** Whether half of the item's topics are the area's, or half of the area's and at least two are the item's. */
export function sharesTopics(item: ReadonlySet<string>, area: ReadonlySet<string>): boolean {
  let common = 0
  for (const label of item) if (area.has(label)) common++
  return common > 0 && (common * 2 >= item.size || (common >= 2 && common * 2 >= area.size))
}

const liftedTo = (reader: Reader, id: string | undefined): ReadonlySet<string> =>
  new Set(id === undefined ? [] : reader.edges('to', [id], ['lifted-to']).map((l) => l.from))

/** Ids of the work tree that an item's provenance names, the deepest of each entry. */
export const recordedIn = (e: Entity): string[] =>
  provenanceOf(e)
    .map((p) => p.task ?? p.activity ?? p.goal)
    .filter((id) => typeof id === 'string')

/** How near an item is to the current task, and whether the scope excludes it. @throws UserError */
export function makeProximity(
  reader: Reader,
  place: Place,
  asked: Pick<Asked, 'scope' | 'goals' | 'historySince'>,
  config: Pick<RecallConfig, 'weights'>,
): (e: Entity) => Proximity {
  const { scope, historySince } = asked
  const { weights } = config
  if (scope === 'micro' && place.task === undefined)
    throw new UserError(
      'no-current',
      'this scope is the current task alone, and the session has none',
      'start one (start-task), name one as "task", or leave the scope out',
    )
  const selected = new Set(asked.goals.map((ref) => findInTree(reader, 'goal', ref).id))
  const find = parents(reader)
  const places = new Map<string, Place>()
  const placed = (id: string, known?: Entity): Place =>
    keptIn(places, id, () => {
      const e = known ?? reader.entity(id)
      const found: { [K in WorkKind]?: string } = {}
      for (let at = e; at && isWork(at.kind); at = parentOf(at, find)) found[at.kind] = at.id
      if (!e && id === place.task) found.task = id // as of a moment before it was recorded
      return found
    })

  const whereOf = (p: Place): Where => {
    if (p.task !== undefined && p.task === place.task) return 'task'
    if (p.activity !== undefined && p.activity === place.activity) return p.task === undefined ? 'activity' : 'sibling'
    return p.goal !== undefined && p.goal === place.goal ? 'goal' : 'elsewhere'
  }

  const lifted = (['activity', 'goal'] as const).map((where) => {
    const area = place[where] === undefined ? undefined : reader.entity(place[where])
    return { where, by: liftedTo(reader, place[where]), labels: area ? labelsOf(area) : new Set<string>() }
  })
  const topical = lifted.some(({ labels }) => labels.size > 0)
  const liftedToSelected = [...selected].map((id) => liftedTo(reader, id))
  // where nobody stands anywhere, and where all goals count alike, nothing is nearer than anything else
  const isUniform = scope === 'macro' || place.task === undefined

  return (e) => {
    // one of the work tree is where it stands, whoever recorded it and at what
    const at = isWork(e.kind) ? [placed(e.id, e)] : recordedIn(e).map((id) => placed(id))
    const wheres = at.map(whereOf)
    const labels = topical && LIFTED_BY_TOPIC.includes(e.kind) ? labelsOf(e) : undefined
    for (const { where, by, labels: area } of lifted)
      if (by.has(e.id) || (labels && sharesTopics(labels, area))) wheres.push(where)
    const nearer = (a: Where, b: Where) => weights[b] - weights[a] || WHERES.indexOf(a) - WHERES.indexOf(b)
    let where = wheres.sort(nearer)[0] ?? 'elsewhere'
    const inTask = wheres.includes('task')
    if (scope === 'micro' && inTask) where = 'task'
    const inScope =
      scope === 'micro'
        ? inTask
        : scope !== 'selected' ||
          at.some((p) => p.goal !== undefined && selected.has(p.goal)) ||
          liftedToSelected.some((l) => l.has(e.id))
    const tooOld = historySince !== undefined && !inTask && e.updated < historySince
    const proximity = isUniform ? 1 : weights[where]
    return { proximity, where, excluded: !inScope || tooOld || proximity === 0 }
  }
}
