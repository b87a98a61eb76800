import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { UserError } from '../../src/base/errors.ts'
import { UNDONE } from '../../src/engine/log/cells.ts'
import type { Event } from '../../src/engine/log/events.ts'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { gaps, known as linesKnown } from '../../src/engine/store/log.ts'
import { dump, exchange, folded, join1, linesOf, open, Replica, read, START, seeded, tempDir } from './harness.ts'
import { Author, type Intent, type Value, World } from './model.ts'

type Action = readonly [verb: string, args: { [key: string]: Value }]

export type Step =
  | { do: 'act'; by: number; actions: Action[] }
  | { do: 'undo'; by: number; batch: number; force: boolean }
  | { do: 'clock'; by: number; ms: number }
  | { do: 'send'; from: number; to: number; pick: number[] }
  | { do: 'crash'; by: number }
  | { do: 'pack'; by: number }
  | { do: 'compact'; by: number; ago: number }

export interface Scenario {
  replicas: number
  seed: number
  steps: Step[]
}

const MINUTE = 60_000
const DAY = 86_400_000

const letter = fc.constantFrom('a', 'b', 'c')
const names = fc.constantFrom('one', 'two')
const leaf = fc.constantFrom<Value>(1, 2, 'x', {}, [1], null)
const attrs = fc.oneof(
  fc.record({ k: fc.oneof(leaf, fc.record({ l: leaf }), fc.record({ l: leaf, m: fc.record({ n: leaf }) })) }),
  fc.record({ k: leaf, o: leaf }),
  fc.constant(null),
)
const some = (item: fc.Arbitrary<string>) => fc.uniqueArray(item, { minLength: 1, maxLength: 2 })
const edit = fc.oneof(
  some(letter),
  fc.record({ add: some(letter) }),
  fc.record({ remove: some(letter) }),
  fc.record({ set: fc.uniqueArray(letter, { maxLength: 3 }) }),
  fc.record({ add: some(letter), remove: some(letter) }),
)
const fieldValues = fc
  .record(
    {
      description: fc.oneof(letter, fc.constant(null)),
      impact: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null)),
      confidence: fc.constantFrom(0.8, 0.9),
      status: fc.constantFrom('active', 'deprecated'),
      validFrom: fc.constantFrom('2026-01-01', '2026-02-01'),
      tags: edit,
      topics: edit,
      evidence: edit,
      locations: edit,
      attrs,
    },
    { requiredKeys: [] },
  )
  .map((f) => f as { [key: string]: Value })

const entity = names.map((n) => `decision:${n}`)
const relation = fc.constantFrom('supports', 'relates-to', 'depends-on')
const other: Record<string, string> = { 'decision:one': 'decision:two', 'decision:two': 'decision:one' }

export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.tuple(names, fieldValues).map(([name, f]) => ['record-decision', { name, ...f }] as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(names, fieldValues)
      .map(([name, f]) => ['record-decision', { name, anew: true, ...f }] as const),
  },
  // few things that meet often: paths above and below each other, the same value again
  {
    weight: 5,
    arbitrary: fc
      .record({ name: fc.constant('one'), attrs })
      .map((args) => ['record-decision', args as { [key: string]: Value }] as const),
  },
  {
    weight: 4,
    arbitrary: fc
      .record(
        { description: fc.constantFrom('a', 'b'), attrs: fc.constantFrom({ k: 1 }, { k: { l: 1 } }) },
        { requiredKeys: [] },
      )
      .map((f) => ['record-decision', { name: 'one', ...f }] as const),
  },
  { weight: 4, arbitrary: entity.map((ref) => ['delete-decision', { ref }] as const) },
  { weight: 2, arbitrary: entity.map((ref) => ['restore', { ref }] as const) },
  { weight: 1, arbitrary: entity.map((ref) => ['retire', { ref, reason: 'no more' }] as const) },
  { weight: 1, arbitrary: fc.tuple(entity, letter).map(([ref, name]) => ['rename', { ref, name }] as const) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(entity, relation, fc.option(fc.constantFrom(0.3, 0.4), { nil: undefined }))
      .map(
        ([from, type, confidence]) =>
          ['link-entities', { from, to: other[from]!, type, ...(confidence ? { confidence } : {}) }] as const,
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(entity, relation)
      .map(([from, type]) => ['unlink-entities', { from, to: other[from]!, type }] as const),
  },
  { weight: 1, arbitrary: entity.map((old) => ['supersede', { old, new: other[old]! }] as const) },
  {
    weight: 1,
    arbitrary: entity.map((from) => ['unlink-entities', { from, to: other[from]!, type: 'supersedes' }] as const),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(entity, letter).map(([ref, evidence]) => ['add-evidence', { ref, evidence }] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(entity, fc.constantFrom(0.8, 0.9))
      .map(([ref, confidence]) => ['update-confidence', { ref, confidence }] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('why?', 'how?'), fc.option(letter, { nil: undefined }))
      .map(([question, answer]) => ['record-question', { question, ...(answer ? { answer } : {}) }] as const),
  },
)

const who = fc.nat({ max: 3 })
const jump = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom(MINUTE, 4 * MINUTE, -4 * MINUTE) },
  { weight: 1, arbitrary: fc.constantFrom(DAY, -DAY, 3 * DAY, -3 * DAY) },
)

const steps: fc.WeightedArbitrary<Step>[] = [
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      by: who,
      actions: fc.array(action, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('undo' as const),
      by: who,
      batch: fc.nat({ max: 20 }),
      force: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('clock' as const), by: who, ms: jump }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: who,
      to: who,
      pick: fc.oneof(fc.constant<number[]>([]), fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 12 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), by: who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pack' as const), by: who }) },
]

const compaction: fc.WeightedArbitrary<Step> = {
  weight: 2,
  arbitrary: fc.record({
    do: fc.constant('compact' as const),
    by: who,
    ago: fc.constantFrom(-DAY, -MINUTE, 0, 1, MINUTE, DAY),
  }),
}

const scenarioOf = (kinds: readonly fc.WeightedArbitrary<Step>[]): fc.Arbitrary<Scenario> =>
  fc.record({
    replicas: fc.integer({ min: 2, max: 4 }),
    seed: fc.nat({ max: 0xffffffff }),
    steps: fc.array(fc.oneof(...kinds), { minLength: 2, maxLength: 30, size: 'max' }),
  })

export const scenario = scenarioOf(steps)
export const scenarioWithCompaction = scenarioOf([...steps, compaction])

let template: string | undefined
let templateDir = ''

/** An empty store to copy: cheaper than making one, and a copy takes an identity of its own (K12). */
export function emptyStore(): string {
  if (template) return template
  templateDir = tempDir()
  const path = join(templateDir, 'made.db')
  open(path, { now: () => START, random: seeded(1), log: () => {} }).close()
  template = join(templateDir, 'empty.db')
  copyFileSync(path, template)
  return template
}

/** The next file of tests in this process makes its own. */
export function dropTemplate(): void {
  template = undefined
  if (templateDir !== '') rmSync(templateDir, { recursive: true, force: true })
}

class Mismatch extends Error {}

function must(ok: boolean, what: string, ...values: unknown[]): asserts ok {
  if (!ok) throw new Mismatch(`${what}\n${values.map((v) => JSON.stringify(v, undefined, 1)).join('\n--- but ---\n')}`)
}

/** Runs a scenario through real stores and holds every rule against it. */
export function run(
  { replicas: count, seed, steps }: Scenario,
  inspect?: (world: World, replicas: readonly Replica[]) => void,
): void {
  const dir = tempDir()
  const replicas = Array.from(
    { length: count },
    (_, i) => new Replica(dir, `r${i}`, (seed ^ (i * 0x9e3779b9)) >>> 0, emptyStore()),
  )
  const world = new World()
  const batches: string[] = []
  const at = (n: number) => replicas[n % count]!
  try {
    for (const s of steps) {
      if (s.do === 'clock') at(s.by).now += s.ms
      else if (s.do === 'crash') at(s.by).crash()
      else if (s.do === 'pack') at(s.by).pack()
      else if (s.do === 'compact') at(s.by).memory.compact(at(s.by).now - s.ago)
      else if (s.do === 'send') deliver(at(s.from), at(s.to), s.pick)
      else if (s.do === 'undo') undo(world, at(s.by), batches, s.batch, s.force)
      else act(world, at(s.by), s.actions, batches)
    }
    exchange(...replicas)
    check(world, replicas)
    inspect?.(world, replicas)
  } finally {
    for (const r of replicas) r.memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Lines one by one, in the order picked: with gaps, repetitions and turned round. Nothing picked: all, at once. */
function deliver(from: Replica, to: Replica, pick: readonly number[]): void {
  if (from === to) return
  const { header, lines } = linesOf(from)
  if (lines.length === 0) return
  if (pick.length === 0) to.memory.applyUpdates(join1(header, lines))
  else for (const n of pick) to.memory.applyUpdates(join1(header, [lines[n % lines.length]!]))
}

const firstOf = (events: readonly Event[]): number => Math.min(...events.map((e) => e.stamp.ctr))

function act(world: World, r: Replica, actions: readonly Action[], batches: string[]): void {
  const known = linesKnown(r.memory.db)
  const cursor = r.memory.cursor
  // the stores have one key, but a folded state shows nobody's
  const links = r.memory.reader.ids('relationship')
  const vouched = vouchedFor(r.memory, links)
  const ofOthers = new Set(links.filter((id) => !vouched.has(id)))
  const isUndone = (id: string) =>
    (r.memory.history(id).findLast((e) => e.event.field === '$')?.event.value as { reason?: unknown })?.reason ===
    UNDONE
  const bringsBack = actions.some(([verb, args]) => verb === 'restore' && isUndone(String(args.ref)))
  let result: ReturnType<Replica['act']> | undefined
  try {
    result = r.act(actions)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    // a refusal needs a reason that the rules know of
    const author = new Author(world, { replica: '', seq: 0, ms: 0, ctr: 0, known })
    must(
      (bringsBack && error.message.includes('nothing is left of')) ||
        (actions.length > 1
          ? actions.some((a) => a[0] === 'delete-decision' || mayBeRefused(author, a))
          : mayBeRefused(author, actions[0]!)),
      `refused without a reason: ${error.message}`,
      actions,
    )
    return
  }
  const news = r.memory.newsSince(cursor)
  const line = news[0]
  const [replica = '', seq = '0'] = result.batch?.split(':') ?? []
  const ctr = firstOf((line?.events ?? []).map((e) => e.event))
  const author = new Author(world, { replica, seq: Number(seq), ms: line?.at ?? 0, ctr, known: new Map(known) })
  const events = (line?.events ?? []).map((e) => e.event)
  // what brings back what an undo took writes as the undo does
  if (bringsBack) takeOver(author, events)
  else
    actions.forEach((a, i) => {
      const { id, link } = result.results[i]!
      understand(author, a, String(link ?? id), { session: `session-${r.name}` }, ofOthers)
    })
  must((line === undefined) === (result.batch === null), 'a batch without a line, or a line without a batch', result)
  settle(author, events, actions)
  world.writes.push(...author.writes)
  if (result.batch) batches.push(result.batch)
}

/** What the model says was written must be what was written; the counters of the stamps are taken over. */
function settle(author: Author, events: readonly Event[], actions: unknown): void {
  const left = [...events]
  for (const w of author.writes) {
    const n = left.findIndex(
      (e) =>
        e.entity === w.entity &&
        e.field === w.field &&
        isDeepStrictEqual(intentOf(e).intent, intentOnly(w)) &&
        e.pos === (w.op === 'add' && w.list ? w.pos : undefined),
    )
    must(n >= 0, 'this should have been written and was not', intentOnly(w), events, actions)
    w.stamp.ctr = left[n]!.stamp.ctr
    left.splice(n, 1)
  }
  must(left.length === 0, 'this was written and should not have been', left, actions)
}

const intentOnly = (w: Intent & { pos?: unknown }): unknown => {
  const { stamp, seq, i, known, stood, pos, at, ...intent } = w as never as Record<string, unknown>
  return intent
}

function intentOf(e: Event): { intent: Intent; pos?: number; at?: number } {
  const base = { entity: e.entity, field: e.field }
  const value = e.value as Value
  if (e.field === '$') {
    const s = e.value as unknown as { s: 'created' | 'deleted' | 'restored'; at: number }
    return { intent: { ...base, field: '$', op: s.s }, at: s.at }
  }
  switch (e.op) {
    case 'set':
      return { intent: { ...base, op: 'set', value } }
    case 'clear':
      return { intent: { ...base, op: 'clear' } }
    case 'add':
      return {
        intent: { ...base, op: 'add', value, list: e.list === true },
        ...(e.pos === undefined ? {} : { pos: e.pos }),
      }
    case 'remove':
      return { intent: e.value === undefined ? { ...base, op: 'wipe' } : { ...base, op: 'remove', value } }
    case 'put':
      return { intent: { ...base, op: 'put', path: [...e.path!], value } }
    case 'drop':
      return { intent: { ...base, op: 'drop', path: [...e.path!] } }
  }
}

/** What an undo writes is its own business; that it comes out alike everywhere is not. */
function undo(world: World, r: Replica, batches: readonly string[], n: number, force: boolean): void {
  const batch = batches[n % Math.max(1, batches.length)]
  if (batch === undefined) return
  const known = linesKnown(r.memory.db)
  const cursor = r.memory.cursor
  try {
    r.act([['undo', { batch, force }]])
  } catch (error) {
    if (error instanceof UserError) return
    throw error
  }
  const [line] = r.memory.newsSince(cursor)
  if (!line) return
  const [replica = '', seq = '0'] = line.batch.split(':')
  const author = new Author(world, {
    replica,
    seq: Number(seq),
    ms: line.at,
    ctr: firstOf(line.events.map((e) => e.event)),
    known,
  })
  takeOver(
    author,
    line.events.map((e) => e.event),
  )
  world.writes.push(...author.writes)
}

function takeOver(author: Author, events: readonly Event[]): void {
  for (const event of events) {
    const { intent, ...extra } = intentOf(event)
    author.take(intent, extra)
    author.writes.at(-1)!.stamp.ctr = event.stamp.ctr
  }
}

const nameOf = (id: string) => id.slice(id.indexOf(':') + 1)

/** Whether the rules give any reason to refuse: the target is missing, or deleted, or a name or a cycle is in the way. */
function mayBeRefused(author: Author, [verb, args]: Action): boolean {
  if (verb === 'rename' || verb === 'supersede' || verb === 'unlink-entities') return true
  if (verb === 'link-entities' && args.type === 'depends-on') return true
  if (verb === 'record-question') return author.anyDead('question:')
  const refs = [args.ref, args.from, args.to].filter((x) => typeof x === 'string')
  if (verb === 'record-decision') {
    const e = author.see(`decision:${args.name as string}`)
    return e.exists && !e.live && args.anew !== true
  }
  return refs.some((ref) => {
    const e = author.see(ref)
    return !e.exists || (!e.live && verb !== 'restore')
  })
}

const LISTS = ['evidence', 'locations']
const SETS = ['tags', 'topics']

/** What an action means, as writes. */
function understand(
  author: Author,
  [verb, args]: Action,
  id: string,
  me: { [key: string]: Value },
  ofOthers: ReadonlySet<string>,
): void {
  const changes = (target: string, given: { [key: string]: Value }, isSaid = false): boolean => {
    let changed = false
    for (const [field, value] of Object.entries(given)) {
      if (field === 'attrs') changed = author.merge(target, field, value as { [k: string]: Value } | null) || changed
      else if (LISTS.includes(field) || SETS.includes(field)) {
        const e = Array.isArray(value) ? { add: value as string[] } : (value as { [k: string]: string[] })
        changed = author.edit(target, field, LISTS.includes(field), e) || changed
      } else changed = author.set(target, field, value === null ? undefined : value, isSaid) || changed
    }
    return changed
  }
  const link = (target: string, given: { [key: string]: Value }) => {
    const before = author.see(target)
    if (before.exists && !before.live) author.wipe(target)
    if (!before.live) author.create(target)
    // the word of others becomes ours
    else if (ofOthers.has(target) && given.type !== 'supersedes') author.set(target, 'type', undefined)
    if (changes(target, given) || !before.live) author.sign(target, me)
  }
  switch (verb) {
    case 'record-decision':
    case 'record-question': {
      const { anew, ...given } = args
      const before = author.see(id)
      const undone = Object.keys(before.fields).every((f) => f === 'provenance')
      must(before.live || !before.exists || anew === true || undone, 'recorded on a deleted entity', id)
      if (before.exists && !before.live) author.wipe(id)
      if (!before.live) author.create(id)
      // what it is called is changed by rename alone
      const key = verb === 'record-question' ? 'question' : 'name'
      if (before.live && before.standing.some((w) => w.field === key)) delete given[key]
      const isChange = changes(id, given, true) || !before.live
      if (isChange || verb === 'record-question') author.sign(id, me, isChange)
      return
    }
    case 'delete-decision':
      must(author.see(id).live, 'deleted what was not there', id)
      author.delete(id)
      return
    case 'restore': {
      const before = author.see(id)
      const gone = author.replacing(id).filter((l) => !author.see(String(l.fields.from)).live)
      for (const link of gone) {
        author.delete(link.id)
        author.unsupersede(id)
      }
      if (!before.live) author.restore(id)
      if (!before.live && author.see(id).fields.status === 'superseded') author.unsupersede(id)
      const retired = before.fields.retired !== undefined
      if (retired) author.set(id, 'retired', undefined)
      if (!before.live || retired) author.sign(id, { ...me, ends: false })
      return
    }
    case 'retire':
      if (author.set(id, 'retired', args.reason)) author.sign(id, { ...me, ends: true })
      return
    case 'rename':
      if (author.set(id, 'name', args.name)) author.sign(id, me)
      return
    case 'link-entities': {
      const swapped = args.type === 'relates-to' && nameOf(String(args.to)) < nameOf(String(args.from))
      link(id, {
        from: swapped ? args.to! : args.from!,
        to: swapped ? args.from! : args.to!,
        type: args.type!,
        ...(args.confidence === undefined ? {} : { confidence: args.confidence }),
      })
      return
    }
    case 'unlink-entities':
      must(author.see(id).live, 'took away a link that was not there', id)
      author.delete(id)
      if (args.type === 'supersedes') author.unsupersede(String(args.to))
      return
    case 'supersede': {
      link(id, { from: args.new!, to: args.old!, type: 'supersedes' })
      author.sign(id, me)
      author.set(String(args.old), 'status', 'superseded')
      author.sign(String(args.old), { ...me, ends: true })
      return
    }
    case 'add-evidence':
      author.edit(id, 'evidence', true, { add: [String(args.evidence)] })
      author.sign(id, me)
      return
    case 'update-confidence':
      if (author.set(id, 'confidence', args.confidence)) author.sign(id, me)
      return
  }
  throw new Error(`the model does not know ${verb}`)
}

/** Everything the rules promise of replicas that have told each other everything. */
function check(world: World, replicas: readonly Replica[]): void {
  const [first, ...others] = replicas
  const truth = dump(first!.memory)
  for (const r of others) {
    const theirs = dump(r.memory)
    must(JSON.stringify(theirs) === JSON.stringify(truth), `${r.name} differs from ${first!.name}`, theirs, truth)
  }
  const rows = new Map(truth.entities.map((e) => [(e as { id: string }).id, e as Record<string, unknown>]))
  must(
    isDeepStrictEqual([...rows.keys()].sort(), world.entities()),
    'other entities',
    [...rows.keys()],
    world.entities(),
  )
  for (const id of world.entities()) {
    const seen = world.see(id)
    const key = id.startsWith('question:') ? 'question' : id.startsWith('relationship:') ? 'type' : 'name'
    const name = String(seen.fields[key] ?? '')
    const expected = {
      id,
      kind: id.slice(0, id.indexOf(':')),
      name,
      name_key: name,
      live: seen.live ? 1 : 0,
      standing: 'confirmed',
      retired: seen.fields.retired === undefined ? 0 : 1,
      created: seen.created,
      updated: seen.updated,
      body: seen.fields,
      conflicts: seen.conflicts.length > 0 ? seen.conflicts : null,
    }
    const { version: _, body, conflicts, ...row } = rows.get(id)! as { [key: string]: string }
    const got = { ...row, body: JSON.parse(body!), conflicts: conflicts === null ? null : JSON.parse(conflicts!) }
    must(isDeepStrictEqual({ ...got }, expected), `the model says otherwise of ${id}`, got, expected)
  }
  for (const r of replicas) {
    const byEvents = folded(r.memory)
    const byRows = read(r.memory)
    must(isDeepStrictEqual(byEvents, byRows), `events and rows of ${r.name} differ`, byEvents, byRows)
    const before = JSON.stringify(dump(r.memory))
    const wait = r.memory.db.get<{ n: number }>('SELECT count(*) AS n FROM parked')!.n
    must(wait === 0, 'lines still wait', wait)
    must(gaps(r.memory.db).length === 0, 'lines are missing', gaps(r.memory.db))
    const found = r.memory.db.all<{ key: string }>("SELECT key FROM findings WHERE key LIKE 'fork%'")
    must(found.length === 0, 'a fork where there was none', found)
    r.memory.rebuild()
    must(JSON.stringify(dump(r.memory)) === before, `rebuilt, ${r.name} is different`, dump(r.memory), before)
  }
}
