import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventsOf, falseSurvivors } from '../../src/engine/store/log.ts'
import { runs, SEED } from '../runs.ts'
import { dump, exchange, linesOf, Replica, send, tempDir } from './harness.ts'

const RUNS = runs(4, 12)
const ID = 'decision:often'

const step = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 13 }), fc.nat({ max: 5 }))

/** What one step does; most write the one entity again. */
function take(all: readonly Replica[], [who, what, n]: readonly [number, number, number], round: number): void {
  const me = all[who]!
  const other = all[(who + 1 + (n % 2)) % all.length]!
  me.now += 1000 + n
  const record = (args: object) => me.act([['record-decision', { name: 'often', ...args }]])
  const isLive = me.memory.reader.entity(ID)?.live === true
  if (!isLive && what < 9)
    me.act([me.memory.reader.entity(ID) ? ['restore', { ref: ID }] : ['record-decision', { name: 'often' }]])
  else if (what < 4) record({ rationale: `round ${round}` })
  else if (what < 5) record({ tags: [`t${n}`] })
  else if (what < 6) record({ tags: { remove: [`t${n}`] } })
  else if (what < 7) record({ attrs: { [`k${n}`]: { deep: round } } })
  else if (what < 8) me.act([['delete-decision', { ref: ID }]])
  else if (what < 9) me.act([['share-append', { key: 'list', value: `v${n}` }]])
  else if (what < 12) send(me, other)
  else if (what < 13) {
    const own = linesOf(me).lines.flatMap((text) => {
      const { r, n: seq } = JSON.parse(text) as { r?: string; n?: number }
      return r === undefined ? [] : [`${r}:${seq}`]
    })
    const batch = own[(round * 7 + n) % Math.max(1, own.length)]
    if (batch !== undefined && me.memory.decline([batch]) > 0) me.memory.decline([batch], { admit: true })
  } else if (n === 0) {
    const text = `round ${round - 3}`
    if (holds(me, text)) me.act([['purge', { secret: text, reason: 'test' }]])
  } else if (n === 1) me.memory.compact(me.now - 20_000)
  else if (n === 2) me.memory.rebuild()
  else me.crash()
}

const holds = (r: Replica, text: string) => JSON.stringify(eventsOf(r.memory.db, ID)).includes(text)

test(`[T72] what is kept of an often written entity is what counts of its events (${RUNS} runs)`, {
  tags: ['property'],
}, () => {
  let kept = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 260, maxLength: 320 }), (steps) => {
      const dir = tempDir()
      const all = ['a', 'b', 'c'].map((name, i) => new Replica(dir, name, 100 + i))
      try {
        for (const [round, one] of steps.entries()) {
          take(all, one, round)
          if (round % 40 === 0) for (const r of all) expect(falseSurvivors(r.memory.db)).toEqual([])
        }
        kept += all.filter((r) => r.memory.db.get('SELECT 1 FROM survivors LIMIT 1') !== undefined).length
        exchange(...all)
        for (const r of all) expect(r.memory.faults()).toEqual([])
        expect(dump(all[1]!.memory, false)).toEqual(dump(all[0]!.memory, false))
        expect(dump(all[2]!.memory, false)).toEqual(dump(all[0]!.memory, false))
      } finally {
        for (const r of all) r.memory.close()
        rmSync(dir, { recursive: true, force: true })
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  )
  expect(kept).toBeGreaterThan(0)
})
