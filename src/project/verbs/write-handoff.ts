import { isLive, SILENT_MS, stateOf } from '../../engine/claims/lease.ts'
import { compareStamps, type Stamp, seen } from '../../engine/log/cells.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { record } from '../../engine/write/record.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { any, type ReadArgs, ref } from '../../model/args.ts'
import { areApart, type Entity } from '../../model/entity.ts'
import { flag, type Json, text } from '../../model/field.ts'
import { oneLine } from '../../model/text.ts'
import { type Report, shown, validate } from '../../model/validate.ts'
import * as page from '../../work/handoff/page.ts'
import { listChange } from './common.ts'

type Lists = Record<page.HandoffPart, string[]>

const TITLE_MAX = 80
const KIND = 'handoff'
/** A handoff is written again once the use of the context differs by this many percent. */
const FULLER = 10

/** A list of an item each, or a text with a line each. */
const items = (about: string) =>
  reading(any(`${about}: a list of text, or a text with a line each`), (_p, given: Json, field, report) => {
    const said: readonly unknown[] = typeof given === 'string' ? given.split('\n') : Array.isArray(given) ? given : [0]
    if (said.every((item) => typeof item === 'string'))
      return [...new Set(said.map((item) => oneLine(item)).filter(Boolean))]
    return report({ field, message: 'not a list of text', received: shown(given), accepted: 'a list of text' })
  })

/** How full the writer's context is, as its client has told: an agent does not know it. */
function contextKnown(p: Planning, me: string | undefined): string | undefined {
  const used = me === undefined ? undefined : p.view.claims.session(me)?.data.contextUsed
  return typeof used === 'number' ? page.contextText(used) : undefined
}

const CONTEXT = reading(any('how full the context is: 78, or text such as 78%'), (_p, given: Json, field, report) => {
  if (typeof given === 'string' || typeof given === 'number') return page.contextText(given)
  return report({ field, message: 'not a share', received: shown(given), accepted: '78, or text such as 78%' })
})

const ARGS = {
  title: text('what it is called, instead'),
  task: ref("the task it is of (the session's current one)", { kind: 'task' }),
  inProgress: items('what is under way'),
  decisionsMade: items('what was decided'),
  blockers: items('what is in the way'),
  nextSteps: items('what to do next'),
  contextUsed: CONTEXT,
  body: text('Markdown with these as headings; the rest of it is kept'),
  complete: flag('only adds to what the session wrote itself, in place of what the last such call added'),
} as const

/** What the call says: the page in `body`, and over it the arguments that stand beside it. */
function saidBy(args: ReadArgs<typeof ARGS>): { lists: Lists; body: string; contextUsed?: string; title?: string } {
  const read: Partial<page.Handoff> = args.body === undefined ? {} : page.parseHandoff(args.body)
  const lists = page.listsOf((field) => args[field] ?? [...(read[field] ?? [])])
  const contextUsed = args.contextUsed ?? read.contextUsed
  const name = args.title?.trim() || read.title
  return { lists, body: read.body ?? '', contextUsed, title: name ? oneLine(name, TITLE_MAX) : undefined }
}

const writerOf = (e: Entity): string | undefined =>
  typeof e.fields.session === 'string' ? e.fields.session : undefined

/** The ids that a session has had: after `/clear` it goes on under another. */
function idsOf(p: Planning, me: string | undefined): ReadonlySet<string | undefined> {
  const ids = new Set<string | undefined>()
  const { claims } = p.view
  for (let id: unknown = me; typeof id === 'string' && !ids.has(id); id = claims.session(id)?.data.after) ids.add(id)
  return ids
}

/** Whether the session that wrote it lives. Writing it counts as a heartbeat, also of an unknown session. */
function writerLives(p: Planning, e: Entity): boolean {
  const { claims } = p.view
  const session = writerOf(e)
  if (session === undefined) return false
  const written = page.handoffOf(e).written ?? 0
  const row = claims.session(session)
  if (!row) return claims.now - written < SILENT_MS
  return isLive(stateOf({ ...row, seen: Math.max(row.seen, written) }, claims.now, claims.env))
}

/** Whether another replica wrote it last: whether the session lives that did is not known here. */
function isElsewhere(p: Planning, e: Entity): boolean {
  const cells = p.cells(e.id)
  const written = [...seen(cells, 'written'), ...seen(cells, 'title')].map((c) => c.stamp)
  const last = written.reduce<Stamp | undefined>((a, b) => (a && compareStamps(a, b) > 0 ? a : b), undefined)
  return last !== undefined && !p.view.isOwn(last.replica)
}

const byWritten = (a: Entity, b: Entity): number => (page.handoffOf(b).written ?? 0) - (page.handoffOf(a).written ?? 0)

interface Place {
  title: string
  /** The one whose place it takes. */
  there?: Entity
  /** Others that it takes the place of too. */
  over: Entity[]
}

/** The handoff to replace: of the task, else of the session; never one of another live session or replica. */
function placeFor(
  p: Planning,
  me: string | undefined,
  title: string | undefined,
  task: Entity | undefined,
  completing: boolean,
): Place {
  const current = p.ofKind(KIND).filter((e) => page.isCurrentHandoff(e, (id) => p.entity(id)))
  const ids = idsOf(p, me)
  const isMine = (e: Entity) => ids.has(writerOf(e))
  const isOthers = (e: Entity) =>
    isElsewhere(p, e) ? me === undefined || !isMine(e) : me !== undefined && !isMine(e) && writerLives(p, e)
  const at = (name: string) => p.resolve(name, 'title', undefined, { kind: KIND })
  const named = (name: string): Place => {
    const there = at(name)
    if (!there || !isOthers(there)) return { title: name, ...(there ? { there } : {}), over: [] }
    const who = me ?? p.ctx.provenance.user ?? 'here'
    const called = `${oneLine(name, TITLE_MAX)} (${who})`
    const taken = at(called)
    const title = taken && isOthers(taken) ? `${oneLine(name, TITLE_MAX)} (${who}, ${p.ctx.replica})` : called
    const mine = at(title)
    const why = isElsewhere(p, there)
      ? `the handoff "${there.name}" was written in another replica`
      : `session ${writerOf(there)} is live and has the handoff "${there.name}"`
    p.note(`${why}: this one is called "${title}"`)
    return { title, ...(mine ? { there: mine } : {}), over: [] }
  }
  if (title !== undefined) return named(title)
  if (task) {
    const free = current.filter((e) => e.fields.task === task.id && !isOthers(e))
    const there = free.find(isMine) ?? free[0]
    if (there) return { title: there.name, there, over: free.filter((e) => e !== there) }
    const name = oneLine(task.name, TITLE_MAX)
    const taken = p.resolve(name, 'title', undefined, { kind: KIND })
    return named(taken && taken.fields.task !== task.id ? `${name} (${task.id.slice(-6)})` : name)
  }
  const row = me === undefined ? undefined : p.view.claims.session(me)
  const called = typeof row?.data.title === 'string' ? `"${row.data.title}"` : me
  const name = called === undefined ? 'current' : `session ${oneLine(called, TITLE_MAX)}`
  const started = row?.started
  const before = current.filter(
    (e) =>
      started !== undefined &&
      e.fields.task === undefined &&
      !isMine(e) &&
      !isOthers(e) &&
      // another app of the repository is left elsewhere
      !areApart(p.view.claims.session(writerOf(e) ?? '')?.folder, row?.folder) &&
      (page.handoffOf(e).written ?? 0) <= started,
  )
  const mine = me === undefined ? [] : current.filter((e) => e.fields.task === undefined && isMine(e))
  // what the agent wrote under a title of its own is completed too: two would hide its next steps
  const there = mine.find((e) => e.name.startsWith('session ')) ?? (completing ? mine.sort(byWritten)[0] : undefined)
  if (there) return { title: there.name, there, over: before }
  // two sessions may begin with the same words
  const taken = at(name)
  const place = named(!me || !taken || isMine(taken) ? name : `${name} (${me.slice(-8)})`)
  return { ...place, over: before.filter((e) => e !== place.there) }
}

const hasOwn = (e: Entity): boolean => {
  const own = ownOf(e)
  return own.body !== '' || page.HANDOFF_PARTS.some(({ field }) => own.lists[field].length > 0)
}

/** What is kept of the one that is there: what this session wrote, or an earlier one on the same task. */
const ownPart = (there: Entity | undefined, mine: ReadonlySet<string | undefined>, task: Entity | undefined) =>
  there && (mine.has(writerOf(there)) || (task && there.fields.task === task.id)) ? ownOf(there) : undefined

/** What somebody wrote of it: all but what was composed. */
function ownOf(there: Entity): { lists: Lists; body: string } {
  const composed = new Set((there.fields.composed as string[] | undefined) ?? [])
  const said = page.handoffOf(there)
  return { lists: page.listsOf((field) => said[field].filter((item) => !composed.has(item))), body: said.body ?? '' }
}

/** What a session left in other files is kept beside the next one's work for so long. */
const LEFT_MS = 3 * 86_400_000
/** The files of items such as "Edited a.ts +3 -1, b.ts". */
const filesIn = (items: readonly string[]): Set<string> =>
  new Set(
    items
      .filter((item) => item.startsWith('Edited '))
      .flatMap((item) => item.slice(7).split(', '))
      .map((file) => file.replace(/ \+\d+ -\d+$/, '')),
  )

const percent = (used: unknown): number => (typeof used === 'string' ? Number(/^(\d+)%$/.exec(used)?.[1] ?? 0) : 0)

export const writeHandoff = defineVerb({
  name: 'write-handoff',
  about:
    'says where the work stands for whoever goes on with it: one handoff per task, else per session; the new one replaces what was there',
  args: ARGS,
  example: { inProgress: ['auth middleware, step 3 of 7'], nextSteps: ['fix the JWKS cache', 'run the tests'] },
  plan(p, args, report) {
    let refused = false
    const complain: Report = (problem) => {
      refused = true
      report(problem)
    }
    const { complete: completing = false, task: given } = args
    const { lists, body, title, ...said } = saidBy(args)
    const me = typeof p.ctx.provenance.session === 'string' ? p.ctx.provenance.session : undefined
    const contextUsed = said.contextUsed ?? contextKnown(p, me)
    const standing = p.place().task
    const task = given ?? (title === undefined && standing !== undefined ? p.entity(standing) : undefined)
    if (body === '' && page.HANDOFF_PARTS.every(({ field }) => lists[field].length === 0))
      return report({
        field: '',
        message: 'the handoff says nothing',
        accepted: 'inProgress, decisionsMade, blockers, nextSteps or body',
      })

    const place = placeFor(p, me, title, task, completing)
    const own = completing ? ownPart(place.there, idsOf(p, me), task) : undefined
    const composed = completing
      ? page.HANDOFF_PARTS.flatMap(({ field }) => lists[field].filter((item) => !own?.lists[field].includes(item)))
      : []
    const whole = page.HANDOFF_PARTS.map(
      ({ field }) => [field, [...(own?.lists[field] ?? []), ...lists[field]]] as const,
    )
    const kind = p.registry().kind(KIND)!
    const scalar = {
      contextUsed: contextUsed ?? null,
      body: own?.body || body || null,
      ...(task ? { task: task.id } : {}),
      ...(me === undefined ? {} : { session: me }),
    }
    const changes = [
      ...validate(kind, { ...scalar, ...Object.fromEntries(whole) }, complain).filter((c) => c.op !== 'edit'),
      ...whole.map(([field, items]) => listChange(field, items, true)),
      listChange('composed', composed, true),
    ]
    if (refused) return undefined
    const made = record(p, kind, place.there ? { ref: place.there.id } : { title: place.title, anew: true }, complain)
    if (!made) return undefined
    const { id } = made as { id: string }
    const isFuller =
      contextUsed !== undefined && Math.abs(percent(contextUsed) - percent(p.entity(id)!.fields.contextUsed)) >= FULLER
    const { context = [], said: others = [] } = Object.groupBy(changes, (c) =>
      c.field === 'contextUsed' ? 'context' : 'said',
    )
    // one that was composed and says the same again is as old as it was, unless the context has become much fuller
    if (p.apply(id, others) || isFuller || !completing) {
      p.apply(id, context)
      p.set(id, 'written', new Date(p.ctx.ms).toISOString())
      p.set(id, 'retired', undefined)
      p.apply(id, [{ field: 'provenance', op: 'edit', list: false, add: [], remove: [], replace: true }])
      p.sign(id)
    }
    const edited = filesIn(lists.inProgress)
    const goesOn = (e: Entity) => {
      const { inProgress, written = 0 } = page.handoffOf(e)
      const files = [...filesIn(inProgress)]
      return files.length === 0 || files.some((f) => edited.has(f)) || p.ctx.ms - written > LEFT_MS
    }
    const over = place.over.filter((e) => !completing || (!hasOwn(e) && goesOn(e)))
    for (const old of over)
      if (p.set(old.id, 'retired', `replaced by the handoff "${place.title}"`)) p.sign(old.id, { ends: true })
    const cut = Object.values(page.fitHandoff(page.handoffOf(p.entity(id)!)).left).reduce((sum, n) => sum + n, 0)
    if (cut > 0) p.note(`${cut} lines are left out where it is read: a handoff has ${page.HANDOFF_LINES} lines`)
    return { ...made, ...(over.length > 0 ? { replaced: over.map((e) => e.id) } : {}) }
  },
})
