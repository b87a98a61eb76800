import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { momentOf } from '../../src/engine/log/clock.ts'
import type { ListOptions, Reader } from '../../src/engine/read/reader.ts'
import { getMeta } from '../../src/engine/store/meta.ts'
import { type Entity, nameKey } from '../../src/model/entity.ts'
import { runs, SEED } from '../runs.ts'
import { comparable, foldAll, type Replica } from './harness.ts'
import { fold, type World } from './model.ts'
import { dropTemplate, run, type Step, scenario, scenarioWithCompaction } from './scenario.ts'

const RUNS = runs(20, 300)

afterAll(dropTemplate)

const KINDS = ['decision', 'question', 'relationship']
const same = (what: string, got: unknown, wanted: unknown): void => {
  if (!isDeepStrictEqual(got, wanted))
    throw new Error(
      `${what}\n${JSON.stringify(got, undefined, 1)}\n--- but ---\n${JSON.stringify(wanted, undefined, 1)}`,
    )
}
const id = (e: { id: string }) => e.id
const sorted = <T>(all: Iterable<T>) => [...all].sort()
const newestFirst = (a: Entity, b: Entity) => b.created - a.created || (a.id < b.id ? -1 : 1)

/** Every question of a reader, asked of a plain list of all that there was. */
function compare(reader: Reader, all: ReadonlyMap<string, Entity>): void {
  const live = [...all.values()].filter((e) => e.live).sort(newestFirst)
  const agreed = (e: Entity) => (e.fields.standing ?? 'confirmed') === 'confirmed' && e.fields.retired === undefined
  const links = live.filter((e) => e.kind === 'relationship' && e.fields.standing !== 'rejected')
  const isLive = (ref: unknown) => all.get(String(ref))?.live === true
  const replaced = (e: Entity) =>
    e.fields.status === undefined &&
    links.some((l) => l.fields.type === 'supersedes' && l.fields.to === e.id && agreed(l))
  const shown = (e: Entity, o: ListOptions) =>
    o.standing
      ? (e.fields.standing ?? 'confirmed') === o.standing
      : o.all || (e.fields.retired === undefined && e.fields.standing !== 'rejected' && !replaced(e))
  same('what there is', sorted(reader.allIds()), sorted(all.keys()))
  for (const [ref, e] of all) same('an entity', comparable(reader.entity(ref)!), comparable(e))
  for (const kind of KINDS)
    for (const o of [{}, { all: true }, { standing: 'proposed' }, { limit: 1 }] as ListOptions[]) {
      const wanted = live.filter((e) => e.kind === kind && shown(e, o)).slice(0, o.limit)
      same(`the list of ${kind} with ${JSON.stringify(o)}`, reader.list(kind, o).map(id), wanted.map(id))
      same('its ids', reader.ids(kind, o), wanted.map(id))
    }
  for (const ref of all.keys())
    for (const [end, other] of [['from', 'to'], ['to', 'from']] as const) {
      const there = links.filter((l) => l.fields[end] === ref && isLive(l.fields[other]))
      same(`links ${end} ${ref}`, sorted(reader.links(end, ref).map(id)), sorted(there.map(id)))
      same('edges', sorted(reader.edges(end, [ref]).map(id)), sorted(there.filter(agreed).map(id)))
    }
  for (const name of ['one', 'two', 'a', 'b', 'c']) {
    const called = [...all.values()].filter((e) => nameKey(e.name) === name).map(id)
    same('by name', sorted(reader.byName(name).map(id)), sorted(called))
  }
  same('conflicts', sorted(reader.conflicts().map(id)), sorted([...all.values()].filter((e) => e.conflicts.length > 0).map(id)))
  same('counts', reader.counts().reduce((n, c) => n + c.n, 0), live.length)
} // biome-ignore format: as it reads

function past(world: World, replicas: readonly Replica[], byTheRules: boolean): void {
  const memory = replicas[0]!.memory
  const horizon = Number(getMeta(memory.db, 'horizon') ?? 0)
  // a batch that a wrong clock dates later than it came counts as of when it came
  const received = new Map(
    memory.db
      .all<{ replica: string; seq: number; received: number }>('SELECT replica, seq, received FROM log')
      .map((r) => [`${r.replica}:${r.seq}`, r.received]),
  )
  const momentIn = ({ stamp, seq }: World['writes'][number]) =>
    momentOf(stamp.ms, received.get(`${stamp.replica}:${seq}`) ?? stamp.ms)
  const moments = new Set(world.writes.flatMap((w) => [w.stamp.ms, w.stamp.ms - 1, momentIn(w), momentIn(w) - 1]))
  for (const at of moments) {
    if (at < horizon) continue
    const reader = memory.asOf(at)
    compare(reader, foldAll(memory, at))
    if (!byTheRules) continue
    const writes = Map.groupBy(world.writes.filter((w) => momentIn(w) <= at), (w) => w.entity) // biome-ignore format: one thought
    for (const [ref, own] of writes) {
      // who had seen what a clock ahead dates later than this took its place too: of that the events say only what they name
      const later = world.writes.filter((w) => w.entity === ref && momentIn(w) > at)
      const hasSeen = (w: World['writes'][number], v: World['writes'][number]) =>
        w.known.get(v.stamp.replica)?.some(([from, to]) => from <= v.seq && v.seq <= to) === true
      if (own.some((w) => later.some((v) => hasSeen(w, v)))) continue
      const { live, created, fields } = fold(own)
      const e = reader.entity(ref)!
      same(
        `${ref} by the rules`,
        { live: e.live, created: e.created, fields: { ...e.fields } },
        { live, created, fields },
      )
    }
  }
}

test(`[C4] [D9] as of any moment every question is answered as the history up to it says (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  process.stderr.write(`[D9] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  fc.assert(
    fc.property(scenario, (s) => run(s, (world, replicas) => past(world, replicas, true))),
    { numRuns: RUNS, seed: SEED, endOnFailure: false },
  )
})

test(`[C6] [D9] compactions change nothing of it (${Math.ceil(RUNS / 2)} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  fc.assert(
    fc.property(scenarioWithCompaction, (s) => run(s, (world, replicas) => past(world, replicas, false))),
    { numRuns: Math.ceil(RUNS / 2), seed: SEED },
  )
})

test('[C4] [D9] what was removed stays so where a clock a day ahead had written it once more in between', () => {
  const send = (from: number, to: number): Step => ({ do: 'send', from, to, pick: [] })
  const tags = (by: number, edit: { add?: string[]; remove?: string[] }): Step => ({
    do: 'act',
    by,
    actions: [['record-decision', { name: 'one', tags: edit }]],
  })
  const steps: Step[] = [
    tags(0, { add: ['a'] }),
    send(0, 1),
    { do: 'clock', by: 1, ms: 86_400_000 },
    tags(1, { remove: ['a'] }),
    tags(1, { add: ['a'] }),
    send(1, 0),
    tags(0, { remove: ['a'] }),
  ]
  run({ replicas: 2, seed: 1, steps }, (world, replicas) => past(world, replicas, true))
})
