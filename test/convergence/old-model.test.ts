import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import type * as Y from 'yjs'
import { cellKey } from '../../src/engine/log/cells.ts'
import { foldOf } from '../../src/engine/log/context-value.ts'
import type { Line } from '../../src/engine/store/line.ts'
import { linesAfter } from '../../src/engine/store/log.ts'
import { allRows } from '../../src/engine/store/rows.ts'
import { runs, SEED } from '../runs.ts'
import type { Replica } from './harness.ts'
import type { Known, World } from './model.ts'
import { oldCells, oldDoc, writeOld } from './old-document.ts'
import { dropTemplate, run, scenario } from './scenario.ts'

const RUNS = runs(80, 400)
/** Who sends, sends all: nobody knows of a line without those before it. */
const gapless = scenario.map((s) => ({ ...s, steps: s.steps.map((step) => (step.do === 'send' ? { ...step, pick: [] } : step)) })) // biome-ignore format: one row

afterAll(dropTemplate)

test(`[K10] on histories without gaps the documents of 0.1.0 say what the events say (${RUNS} histories)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 1_000,
}, () => {
  let compared = 0
  const agrees = (world: World, [r]: readonly Replica[]) => {
    const docs = documents(world, r!)
    for (const row of allRows(r!.memory.db)) {
      const cells = new Map(oldCells(docs.get(row.id) ?? oldDoc()).map((c) => [cellKey(c), c]))
      const { live, created, fields, conflicts } = foldOf(row.id, cells)
      const old = JSON.stringify([live ? 1 : 0, created, fields, conflicts])
      const now = JSON.stringify([row.live, row.created, JSON.parse(row.body), JSON.parse(row.conflicts ?? '[]')])
      if (old !== now) throw new Error(`${row.id}: the documents say\n${old}\nand the events\n${now}`)
      compared++
    }
  }
  fc.assert(fc.property(gapless, (s) => run(s, agrees)), { numRuns: RUNS, seed: SEED }) // biome-ignore format: one row
  process.stderr.write(`[K10] old and new model: ${RUNS} histories, ${compared} entities, TIDEMARK_SEED=${SEED}\n`)
})

/** The document of each entity, as 0.1.0 made it: each line wrote into what its author knew of, in the order of its replica. */
function documents(world: World, r: Replica): Map<string, Y.Doc> {
  const knownTo = new Map<string, Known>(world.writes.map((w) => [`${w.stamp.replica}:${w.seq}`, w.known]))
  const all: { replica: string; seq: number; entity: string; update: Uint8Array }[] = []
  // whoever knew of more wrote later
  const reach = (l: Line) => [...knownTo.get(`${l.replica}:${l.seq}`)!.values()].flat().reduce((n, [from, to]) => n + to - from + 1, 0) // biome-ignore format: one row
  for (const line of linesAfter(r.memory.db, 0).sort((a, b) => reach(a) - reach(b))) {
    const { replica, seq, events } = line
    const known = knownTo.get(`${replica}:${seq}`)!
    const knew = all.filter((u) => known.get(u.replica)?.some(([from, to]) => from <= u.seq && u.seq <= to))
    for (const [entity, own] of Map.groupBy(events, (e) => e.entity)) {
      const doc = oldDoc(knew.filter((u) => u.entity === entity).map((u) => u.update))
      all.push({ replica, seq, entity, update: writeOld(doc, own, replica) })
    }
  }
  const byEntity = Map.groupBy(all, (u) => u.entity)
  return new Map([...byEntity].map(([id, own]) => [id, oldDoc(own.map((u) => u.update))]))
}
