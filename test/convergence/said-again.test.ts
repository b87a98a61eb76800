import { expect, test } from 'vitest'
import { exchange, withReplicas } from './harness.ts'

const HOUR = 3_600_000
const say = (confidence: number) => [['record-principle', { name: 'plan-then-apply', confidence }]]
const id = 'principle:plan-then-apply'

test('[C3] [R2] who says again what they said counts as of that time, with a trace', () =>
  withReplicas(['a', 'b'], (a, b) => {
    a.act(say(0.8))
    exchange(a, b)
    b.now += HOUR
    b.act(say(0.9))
    a.now += 2 * HOUR
    // as it was here: B's word has not come yet
    expect(a.act(say(0.8)).batch).not.toBeNull()
    exchange(a, b)
    for (const r of [a, b]) {
      expect(r.fields(id).confidence).toBe(0.8)
      const said = r.memory.history(id).filter((x) => x.event.field === 'confidence')
      expect(said.map((x) => x.event.value)).toEqual([0.8, 0.9, 0.8])
      expect(r.memory.reader.conflicts().map((e) => e.id)).toEqual([id])
    }
    // the same call once more is a retry
    expect(a.act(say(0.8)).notes.join()).not.toContain('nothing changed') // it settles the conflict
    expect(a.act(say(0.8)).notes.join()).toContain('nothing changed')
  }))
