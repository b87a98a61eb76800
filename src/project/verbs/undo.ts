import { attempt } from '../../base/errors.ts'
import {
  type Cells, listPart, STATE, type Stamp, type StateValue, seen, setPart, UNDONE,
} from '../../engine/log/cells.ts' // biome-ignore format: a list
import { cellsOf, type Event } from '../../engine/log/events.ts'
import { fold } from '../../engine/log/fold.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import type { LoggedEvent } from '../../engine/store/log.ts'
import { besidesOf, summaryOf, undoOf } from '../../engine/store/summary.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { ref, texts } from '../../model/args.ts'
import { type Entity, KIND_KIND, kindOf, standingOf } from '../../model/entity.ts'
import { flag, text } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { brief, REASON, settleStatus, settleSupersession } from './common.ts'

export const eventsIn = (logged: readonly { readonly event: Event }[]): Event[] => logged.map((e) => e.event)

const key = (replica: string, ctr: number) => `${replica}:${ctr}`

/** Says of what was erased that it is passed over; nor is an erasure undone. */
function isErased(p: Planning, batch: string): boolean {
  const { purges, events } = p.view.batch(batch)!.line
  const isErased = purges.length > 0 || events.some((e) => e.purged)
  if (isErased) p.note(`${shortBatch(batch)} stays: what was erased does not come back`)
  return isErased
}

/** What a batch took back, also by a yes to an undo that waited: to all but that proposal. */
function undoneBy(p: Planning, { batch, event }: LoggedEvent): readonly string[] {
  const there = p.view.batch(batch)
  const agreed = (e: Event): string[] => {
    if (kindOf(e.entity) !== 'proposal' || e.field !== 'standing' || e.value !== 'confirmed') return []
    const [verb, args] = attempt(() => JSON.parse(String(p.entity(e.entity)?.fields.action))) ?? []
    return verb === 'undo' ? [args?.batch ?? args?.batches ?? []].flat().map(p.view.batchNamed) : []
  }
  return there?.undoes ?? (kindOf(event.entity) === 'proposal' ? [] : (there?.line.events.flatMap(agreed) ?? []))
}

/** Batches to leave out: those undone now or before, with the undos that did nothing else. An undone undo leaves out nothing but itself. */
function ignoredBatches(p: Planning, batches: readonly string[], entities: readonly string[]): Set<string> {
  const [gone, out] = [new Set(batches), new Set(batches)]
  for (const e of entities.flatMap((id) => p.view.eventsOf(id)).toReversed()) {
    const undone = gone.has(e.batch) || out.has(e.batch) ? [] : undoneBy(p, e)
    if (undone.length === 0) continue
    const events = eventsIn(p.view.batch(e.batch)!.events).filter((x) => kindOf(x.entity) !== 'proposal')
    if (besidesOf(events, undone, p.view.lineOf).length === 0) out.add(e.batch)
    for (const batch of undone) {
      gone.add(batch)
      out.add(batch)
    }
  }
  return out
}

type Out = (id: string) => ReadonlySet<string>

/** Later batches that build on what was written, by entity: they overwrote it, or edited or linked what it created. */
function dependents(p: Planning, outOf: Out, events: readonly Event[], batches: readonly string[]) {
  const written = new Set(events.map((e) => key(e.stamp.replica, e.stamp.ctr)))
  const created = new Map(
    events
      .filter((e) => e.field === STATE && (e.value as StateValue | undefined)?.s !== 'deleted')
      .map((e) => [e.entity, e.stamp]),
  )
  const all = new Map<string, Set<string>>()
  for (const id of new Set(events.map((e) => e.entity))) {
    const found = new Set<string>()
    const out = outOf(id)
    for (const later of p.view.eventsOf(id)) {
      if (out.has(later.batch) || later.event.field === 'provenance') continue
      if (isLater(later.event.stamp, created.get(id)) || later.event.over.some(([r, c]) => written.has(key(r, c))))
        found.add(later.batch)
    }
    if (created.has(id)) {
      for (const e of usesOfKind(p, id)) if (!out.has(e.batch)) found.add(e.batch)
      for (const l of [...p.links('src', id), ...p.links('dst', id)]) {
        const back = ignoredBatches(p, batches, [l.id]) // a link that was undone and redone is no later one
        for (const e of p.view.eventsOf(l.id))
          if (!out.has(e.batch) && !back.has(e.batch) && isLater(e.event.stamp, created.get(id))) found.add(e.batch)
      }
    }
    if (found.size > 0) all.set(id, found)
  }
  return all
}

/** What was recorded of a kind that the project declared builds on the declaration: without it nobody could list it. */
function usesOfKind(p: Planning, id: string): LoggedEvent[] {
  const name = p.entity(id)?.fields.name
  if (kindOf(id) !== KIND_KIND || typeof name !== 'string') return []
  return p.view.idsOfKind(name).flatMap((used) => (p.entity(used)?.live ? p.view.eventsOf(used) : []))
}

/** What was there before it was recorded anew does not build on it. A replica's counter orders its own writes: its clock may be set back. */
function isLater(stamp: Stamp, created: Stamp | undefined): boolean {
  if (!created) return false
  return stamp.replica === created.replica ? stamp.ctr > created.ctr : stamp.ms >= created.ms
}

/** What is left takes away also what was taken away by that in whose place it was written: a delete, what stood before an undo and its redo. */
function cellsWithout(p: Planning, id: string, out: ReadonlySet<string>): Cells {
  const all = p.view.eventsOf(id)
  const gone = new Map(eventsIn(all.filter((e) => out.has(e.batch))).map((e) => [key(e.stamp.replica, e.stamp.ctr), e]))
  const whole = (over: Event['over']): Event['over'] => {
    const found = new Map(over.map((o) => [key(...o), o]))
    for (const [name] of found) for (const o of gone.get(name)?.over ?? []) found.set(key(...o), o)
    return [...found.values()]
  }
  return cellsOf(eventsIn(all.filter((e) => !out.has(e.batch))).map((e) => ({ ...e, over: whole(e.over) })))
}

/** Puts one entity back to what it would be without the batches, field by field, as ordinary new writes. */
export function revert(p: Planning, id: string, out: ReadonlySet<string>, events: readonly Event[]): void {
  const before = cellsWithout(p, id, out)
  const was = fold(before)
  // what was never recorded does not exist, whatever later batches said of it (they were forced, or it would be refused)
  const recorded = [...before.values()].some((c) => c.field === STATE)
  const now = p.entity(id)?.live === true
  const written = p.draft.events.length
  if (!recorded) {
    clear(p, id)
    if (now || p.draft.events.length > written) p.remove(id, UNDONE)
    return
  }
  for (const field of new Set(events.map((e) => e.field))) {
    if (field === STATE || field === 'provenance') continue
    const mine = events.filter((e) => e.field === field)
    // a wipe (recording anew) says nothing of the field's form: what stood there does
    const form = [...before.values()].find((c) => c.field === field)?.part[0] ?? ''
    const wiped = mine.some(isWipe)
    if (mine.some((e) => e.op === 'set' || e.op === 'clear') || (wiped && form === ''))
      p.set(id, field, was.fields[field])
    else if (mine.some((e) => e.op === 'put' || e.op === 'drop') || (wiped && form === 'p'))
      for (const e of mine) {
        const path = [...(e.path ?? [])]
        const there = [...before.values()].filter((c) => c.field === field && c.path && c.value !== undefined)
        const old = there.filter((c) => related(c.path!, path))
        p.apply(id, [{ field, op: 'merge', drop: [path], put: old.map((c) => [[...c.path!], c.value!]) }])
      }
    else revertItems(p, id, field, mine, (was.fields[field] ?? []) as string[], wiped && form === 'l')
  }
  const state = [...before.values()].find((c) => c.field === STATE)?.value as StateValue | undefined
  const reason = state?.s === 'deleted' ? state.reason : UNDONE
  // what was written now is deleted as well: else it would be an edit that the delete has not seen
  if (!now && !was.live && p.draft.events.length > written) p.remove(id, reason)
  if (!events.some((e) => e.field === STATE)) return
  if (now && !was.live) p.remove(id, reason)
  else if (!now && was.live) p.restore(id)
}

/** Whether all that was done was to agree: what somebody here stood by once is theirs to retire. */
const isYesToOthers = (p: Planning, id: string, events: readonly Event[], out: ReadonlySet<string>): boolean =>
  events.every((e) => e.field === 'provenance' || e.field === 'standing') &&
  events.some(
    (e) => e.field === 'provenance' && (e.value as { confirms?: unknown } | undefined)?.confirms !== undefined,
  ) &&
  p.view.eventsOf(id).some((e) => e.event.stamp.replica !== p.ctx.replica) &&
  standingOf(fold(cellsWithout(p, id, out)).fields) === 'confirmed'

/** Says that the words before these batches are back, and when they were said. */
function signRestored(p: Planning, id: string, out: ReadonlySet<string>): void {
  const left = p.view.eventsOf(id).filter((e) => !out.has(e.batch) && e.event.field !== 'provenance')
  const said = Math.max(0, ...left.map((e) => e.event.stamp.ms))
  p.sign(id, said > 0 ? { restores: new Date(said).toISOString() } : {})
}

/** Takes away everything an entity says but who said it. */
function clear(p: Planning, id: string): void {
  for (const [field, form] of new Map([...p.cells(id).values()].map((c) => [c.field, c.part[0] ?? '']))) {
    if (field === STATE || field === 'provenance') continue
    if (form === 'p') p.apply(id, [{ field, op: 'merge', put: [], drop: [[]] }])
    else if (form === 's' || form === 'l')
      p.apply(id, [{ field, op: 'edit', list: form === 'l', add: [], remove: [], replace: true }])
    else p.set(id, field, undefined)
  }
}

const isWipe = (e: Event) => e.op === 'remove' && e.value === undefined

function revertItems(
  p: Planning,
  id: string,
  field: string,
  mine: readonly Event[],
  was: readonly string[],
  wipedList: boolean,
): void {
  const list = wipedList || mine.some((e) => e.list)
  const items = [...new Set(mine.flatMap((e) => (typeof e.value === 'string' ? [e.value] : [])))]
  const there = (item: string) => seen(p.cells(id), field, (list ? listPart : setPart)(item)).length > 0
  const add = was.filter((v) => items.includes(v) && !there(v))
  const remove = items.filter((v) => !was.includes(v))
  const current = (p.entity(id)?.fields[field] ?? []) as string[]
  const inOrder = [...current.filter((v) => !remove.includes(v)), ...add]
  // after a wipe, or where its place in the list would be another, what stood there is said again as a whole
  const whole = mine.some(isWipe) || (list && inOrder.join('\0') !== was.join('\0'))
  p.apply(id, [{ field, op: 'edit', list, add: whole ? [...was] : add, remove: whole ? [] : remove, replace: whole }])
}

const related = (a: readonly string[], b: readonly string[]) =>
  a.slice(0, b.length).every((k, i) => k === b[i]) || b.slice(0, a.length).every((k, i) => k === a[i])

export const undo = defineVerb({
  name: 'undo',
  about:
    'takes a batch back in one new batch; redo takes that back. "last" is the last batch of the acting session, of nobody else, that still stands: said twice, it goes two steps back. With allOf, everything that a session wrote, but for what was changed or linked since. An agent takes back its own work; what others wrote waits for a person',
  args: {
    batch: text('its id, or "last" (last)'),
    allOf: text('a session: all of its batches, instead of one'),
    batches: texts('several batches at once'),
    force: flag('although later batches build on it'),
  },
  example: { batch: 'last' },
  plan(p, { batch: given, allOf, batches, force }, report) {
    const all = batches?.map((b) => p.view.batchNamed(b)) ?? (allOf === undefined ? undefined : batchesOf(p, allOf))
    if (given !== undefined && all !== undefined)
      return report({
        field: 'allOf',
        message: 'a batch and a whole session at once',
        accepted: 'either batch or allOf',
      })
    const named = all === undefined ? 'batch' : 'allOf'
    const take = (batches: readonly string[], say = report) => takeBack(p, batches, { does: 'undo', named, force }, say)
    if (given !== undefined && given !== 'last') return take([p.view.batchNamed(given)])
    let passed: ReturnType<typeof take>
    // what said again what stood there is taken back with that
    const again: string[] = []
    for (const batch of all === undefined ? lastOwn(p, 'undo') : []) {
      const written = p.draft.events.length
      if (isErased(p, batch)) continue
      const notes = p.draft.notes.length
      const done = take([...again, batch], passed === undefined ? report : () => undefined)
      if (!done || p.draft.events.length > written) return done ?? passed
      if (p.draft.notes.length > notes) passed = done
      else again.push(batch)
    }
    return passed ?? take((all ?? []).filter((batch) => !isErased(p, batch)))
  },
})

function takeBack(
  p: Planning,
  batches: readonly string[],
  { does, named, force }: { does: 'undo' | 'redo'; named: string; force?: boolean | undefined },
  report: Report,
) {
  const found = batches.flatMap((b) => p.view.batch(b) ?? [])
  if (found.length < batches.length || found.length === 0) {
    const missing = batches.find((b) => !p.view.batch(b))
    return report({
      field: named,
      message: missing === undefined ? `there is nothing to ${does}` : `no batch "${missing.slice(0, 80)}"`,
      accepted: p.view.recentBatches(5).join(', ') || 'nothing yet',
      hint:
        does === 'redo'
          ? 'an undo can be redone until something else is written; `tidemark undo` with its batch brings it back then too'
          : [...p.draft.notes, '`tidemark history` and the reply of act name batches'].join('; '),
    })
  }
  // what was written with an undo stays when that is taken back by a redo
  const wrote = (undoes: readonly string[]) =>
    new Set(undoes.flatMap((b) => p.view.lineOf(b)?.events.map((e) => e.entity) ?? []))
  const events = found.flatMap((b) => {
    const own = wrote(does === 'redo' ? (b.undoes ?? []) : [])
    return eventsIn(b.events).filter((e) => own.size === 0 || own.has(e.entity))
  })
  if (events.some((e) => e.purged))
    return report({ field: 'batch', message: 'its content was erased', hint: 'what was erased does not come back' })
  const byEntity = Map.groupBy(events, (e) => e.entity)
  const isProposal = (id: string) => kindOf(id) === 'proposal'
  const outs = [false, true].map((is) => ignoredBatches(p, batches, [...byEntity.keys()].filter((id) => isProposal(id) === is))) // biome-ignore format: a row
  const outOf = (id: string) => outs[Number(isProposal(id))]!
  const left = force ? new Map<string, Set<string>>() : dependents(p, outOf, events, batches)
  const did = (b: string) => `${shortBatch(b)} (${p.view.whatDid(b) ?? 'folded away since'})`
  if (left.size > 0 && (named === 'batch' || left.size === byEntity.size))
    return report({
      field: named,
      message: `later batches build on it: ${[...new Set([...left.values()].flatMap((b) => [...b].map(did)))].join(', ')}`,
      received: batches.join(', '),
      hint: 'undo those first, or give "force": true to take it back all the same',
    })
  const entities = [...byEntity.keys()].filter((id) => !left.has(id))
  const names = new Map([...byEntity.keys()].map((id) => [id, p.entity(id)?.name]))
  const before = p.draft.events.length
  for (const id of entities.toReversed()) {
    const [written, out] = [p.draft.events.length, outOf(id)]
    if (p.view.turnsDown(byEntity.get(id)!))
      p.note(`${id}: a no to what others want stands; to agree after all, make the change yourself`)
    else if (isYesToOthers(p, id, byEntity.get(id)!, out))
      p.note(`${id}: a yes to what others said stands; retire takes it out, unlink-entities takes a replacement back`)
    else revert(p, id, out, byEntity.get(id)!)
    if (p.draft.events.length > written && p.entity(id)?.live) signRestored(p, id, out)
  }
  const [they, go] = left.size === 1 ? ['it is', 'it goes'] : ['they are', 'they go']
  if (left.size > 0)
    p.note(`${[...left.keys()].join(', ')}: changed or linked since, and left as ${they}; with force ${go} as well`)
  if (p.draft.events.length > before) for (const b of batches) p.undoes(b)
  return {
    id: batches[0]!,
    undone: summaryOf(
      { events: p.draft.events.slice(before), purges: [], forks: [], author: { undoes: [...batches] } },
      (id) => names.get(id) || p.entity(id)?.name,
      p.view.lineOf,
    ),
    batches: batches.length,
    entities,
  }
}

export const redo = defineVerb({
  name: 'redo',
  about:
    'brings back what the last undo of the acting session took away, in one new batch; said twice, the undo before it as well. Once the session has written something else, nothing is left to redo',
  args: {},
  example: {},
  plan: (p, _args, report) =>
    takeBack(p, [...lastOwn(p, 'redo')].slice(0, 1), { does: 'redo', named: 'batch' }, report),
})

/**
 * The batches of the acting session, or of no session, that still stand, also redos, the last one first; for a redo the undos,
 * unless something else was written since. What `init` wrote is undone by its id alone.
 */
function* lastOwn(p: Planning, does: 'undo' | 'redo'): Generator<string> {
  const { session } = p.ctx.provenance
  const gone = new Set<string>()
  const recent = p.view.recentBatches(MAX_BATCHES, { session: typeof session === 'string' ? session : null })
  // it waits for a yes: said again, the undo is proposed again
  const isPutUp = (e: Event) =>
    e.field === 'action' &&
    String(e.value).startsWith('["undo"') &&
    recent.some((b) => String(e.value).includes(`"${b}"`))
  for (const b of recent) {
    const batch = p.view.isOwn(b.split(':')[0]!) ? p.view.batch(b) : undefined
    if (batch === undefined || batch.agent === 'init' || gone.has(b)) continue
    const undoes = batch.undoes ?? []
    for (const undone of undoes) gone.add(undone)
    const isUndo = undoes.length > 0 && undoOf(undoes, p.view.lineOf).does === 'took back'
    const putUp = new Set(batch.line.events.filter(isPutUp).map((e) => e.entity))
    const isOnlyPutUp = putUp.size > 0 && batch.line.events.every((e) => putUp.has(e.entity))
    const isMixed = isUndo && besidesOf(eventsIn(batch.events), undoes, p.view.lineOf).length > 0
    if ((isUndo === (does === 'redo') || isMixed) && !isOnlyPutUp) yield b
    if (undoes.length === 0 && does === 'redo') return
  }
}

/** A session that wrote more than this is taken back in several steps. */
const MAX_BATCHES = 500

/** What a session wrote up to a moment, the last batch first. */
export const batchesOf = (p: Planning, session: string, until = Number.POSITIVE_INFINITY): string[] =>
  p.view.recentBatches(MAX_BATCHES, { session }).filter((b) => p.view.batch(b)!.line.at <= until)

export const restore = defineVerb({
  name: 'restore',
  about:
    'brings back what was deleted, retired or taken back, whole; with `to`, gives something the values again that it had at a moment',
  args: {
    ref: ref('what was taken out, or is to be as it was', { required: true, deleted: true, also: ['id'] }),
    to: text('a day (its end), a moment, or words such as "3 days ago"'),
    reason: REASON,
  },
  example: { ref: 'use-json-files', reason: 'still needed for the export' },
  plan(p, { ref: target, to, reason }, report) {
    if (to !== undefined) return restoreTo(p, target, to, report)
    // what took its place is gone: nothing stands in its way but the link
    const links = p.replacing(target.id).filter((l) => p.entity(l.id)?.live && !p.entity(l.src)?.live)
    if (target.live && target.fields.retired === undefined && links.length === 0)
      p.note(`${target.id} was neither deleted nor retired`)
    for (const { id } of links) {
      p.remove(id, reason)
      settleSupersession(p, id)
    }
    const events = p.view.eventsOf(target.id)
    const gone = events.findLast((e) => e.event.field === STATE)
    if (!target.live && gone && (gone.event.value as { reason?: string }).reason === UNDONE)
      revert(p, target.id, new Set([gone.batch]), eventsIn(events))
    if (!p.entity(target.id)!.live) p.restore(target.id)
    if (Object.keys(p.entity(target.id)!.fields).every((field) => field === 'provenance'))
      return report({ field: 'ref', message: `nothing is left of what ${target.id} said`, hint: 'record it again' })
    if (p.entity(target.id)!.fields.retired !== undefined) p.set(target.id, 'retired', undefined)
    if (!target.live || target.fields.retired !== undefined) p.sign(target.id, { ends: false })
    if (!target.live && p.entity(target.id)!.fields.status === 'superseded') settleStatus(p, target.id)
    settleSupersession(p, target.id)
    return brief(p.entity(target.id)!)
  },
})

/** Writes again what it said then. Nothing of what came after is rewritten: this is one more batch, and can be undone. */
function restoreTo(p: Planning, target: Entity, to: string, report: Report) {
  const at = attempt(() => momentSaid(to, p.ctx.ms, 'as-of'))
  if (at === undefined)
    return report({
      field: 'to',
      message: 'not a time',
      received: to.slice(0, 80),
      accepted: 'a day, a moment, or words such as "3 days ago"',
    })
  const events = p.view.eventsOf(target.id)
  const later = events.filter((e) => e.event.stamp.ms > at)
  if (later.length === events.length)
    return report({
      field: 'to',
      message: `${target.id} was not recorded yet`,
      received: to.slice(0, 80),
      hint: '`tidemark history` tells when it was',
    })
  const before = p.draft.events.length
  const out = new Set(later.map((e) => e.batch))
  revert(p, target.id, out, eventsIn(later))
  if (p.draft.events.length === before) p.note(`${target.id} says what it said then`)
  else signRestored(p, target.id, out)
  if (p.links('dst', target.id).some((l) => l.rel === 'supersedes'))
    p.note(`something still supersedes ${target.id}: unlink-entities takes that back`)
  return brief(p.entity(target.id)!)
}
