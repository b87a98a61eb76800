import { describe, expect, test } from 'vitest'
import { allRows } from '../../src/engine/store/rows.ts'
import { cyclesIn } from '../../src/find/graph/cycles.ts'
import { trace } from '../../src/find/graph/trace.ts'
import { dump, exchange, folded, linesOf, type Replica, read, START, send, withReplicas } from './harness.ts'

const same = (...replicas: Replica[]) => {
  const [first, ...others] = replicas.map((r) => dump(r.memory))
  for (const o of others) expect(o).toEqual(first)
  for (const r of replicas) expect(folded(r.memory)).toEqual(read(r.memory))
}

test('[C1] the same name recorded offline by two is one entity with the union of what they said', () => {
  withReplicas(['a', 'b'], (a, b) => {
    a.act([['record-principle', { name: 'plan-first', evidence: ['x'], tags: ['t1'], confidence: 0.8 }]])
    b.now += 5
    b.act([['record-principle', { name: 'Plan First', evidence: ['y'], tags: ['t2'], description: 'why' }]])
    exchange(a, b)
    same(a, b)
    const rows = allRows(a.memory.db)
    expect(rows.length).toBe(1)
    const f = a.fields('principle:plan-first')
    expect([...(f.evidence as string[])].sort()).toEqual(['x', 'y'])
    expect(f.tags).toEqual(['t1', 't2'])
    expect(f).toMatchObject({ confidence: 0.8, description: 'why' })
    expect((f.provenance as { session: string }[]).map((p) => p.session)).toEqual(['session-a', 'session-b'])
  })
})

describe('[C2] [K3] the later of two concurrent confidences wins on both', () => {
  const cases = [false, true].flatMap((swapIds) => [false, true].map((bFirst) => ({ swapIds, bFirst })))
  test.each(cases)('whatever the ids (%o)', ({ swapIds, bFirst }) => {
    const seeds = swapIds ? [2, 1] : [1, 2]
    withReplicas(
      ['a', 'b'],
      (a, b) => {
        a.act([['record-principle', { name: 'p' }]])
        send(a, b)
        a.now = START + 1000
        b.now = START + 2000
        a.act([['update-confidence', { ref: 'principle:p', confidence: 0.8 }]])
        b.act([['update-confidence', { ref: 'principle:p', confidence: 0.9 }]])
        if (bFirst) send(b, a)
        else send(a, b)
        exchange(a, b)
        same(a, b)
        for (const r of [a, b]) {
          expect(r.fields('principle:p').confidence).toBe(0.9)
          expect(r.memory.reader.conflicts().map((e) => [e.id, e.conflicts[0]?.values.map((v) => v.value)])).toEqual([
            ['principle:p', [0.9, 0.8]],
          ])
        }
        a.now += 5000
        a.act([['update-confidence', { ref: 'principle:p', confidence: 0.7 }]])
        exchange(a, b)
        for (const r of [a, b]) expect(r.memory.reader.conflicts()).toEqual([])
        same(a, b)
      },
      seeds,
    )
  })

  test('the same value said by both is no conflict', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-principle', { name: 'p' }]])
      send(a, b)
      for (const r of [a, b]) r.act([['update-confidence', { ref: 'principle:p', confidence: 0.8 }]])
      exchange(a, b)
      same(a, b)
      expect(a.memory.reader.conflicts()).toEqual([])
    })
  })
})

describe('[C3] [K6] additions win, deletes win over edits, restore brings all back', () => {
  test('remove a tag ‖ add it again', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-principle', { name: 'p', tags: ['t', 'u'] }]])
      send(a, b)
      a.act([['record-principle', { name: 'p', tags: { remove: ['t'] } }]])
      b.act([['record-principle', { name: 'p', tags: ['t'] }]])
      exchange(a, b)
      same(a, b)
      expect(a.fields('principle:p').tags).toEqual(['t', 'u'])
    })
  })

  test('two added it, one remover had seen only one of them', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      a.act([['record-principle', { name: 'p', tags: ['t'] }]])
      send(a, c)
      b.act([['record-principle', { name: 'p', tags: ['t'] }]])
      c.act([['record-principle', { name: 'p', tags: { remove: ['t'] } }]])
      expect(c.fields('principle:p').tags ?? []).toEqual([])
      exchange(a, b, c)
      same(a, b, c)
      expect(a.fields('principle:p').tags).toEqual(['t'])
    })
  })

  test('delete ‖ edit', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-principle', { name: 'p', description: 'old' }]])
      send(a, b)
      a.act([['delete-principle', { name: 'p' }]])
      b.now += 10
      b.act([['record-principle', { name: 'p', description: 'new' }]])
      exchange(a, b)
      same(a, b)
      for (const r of [a, b]) {
        expect(r.memory.reader.list('principle')).toEqual([])
        expect(r.memory.history('principle:p').map((e) => e.event.value)).toContain('new')
        expect(r.memory.reader.conflicts().map((e) => e.id)).toEqual(['principle:p'])
        expect(() => r.act([['record-principle', { name: 'p', confidence: 0.5 }]])).toThrow(/restore/)
      }
      b.act([['restore', { ref: 'principle:p' }]])
      exchange(a, b)
      same(a, b)
      expect(a.fields('principle:p').description).toBe('new')
      expect(a.memory.reader.conflicts()).toEqual([])
    })
  })

  test('a record that had not seen the entity brings it back with what it says alone', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-principle', { name: 'p', description: 'old', tags: ['t'] }]])
      a.act([['delete-principle', { name: 'p' }]])
      b.act([['record-principle', { name: 'p', confidence: 0.5 }]])
      exchange(a, b)
      same(a, b)
      const { provenance: _, ...f } = a.fields('principle:p')
      expect(f).toEqual({ name: 'p', confidence: 0.5 })
      expect(a.memory.reader.conflicts().map((e) => e.id)).toEqual(['principle:p'])
    })
  })
})

describe('[C4] found by the property test', () => {
  test('a value that a delete hides is written when it is said again', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-decision', { name: 'd', confidence: 0.9, attrs: { k: 1 }, description: 'x' }]])
      a.act([['delete-decision', { name: 'd' }]])
      b.act([['record-decision', { name: 'd' }]])
      send(a, b)
      expect(b.fields('decision:d').confidence).toBeUndefined()
      b.act([['record-decision', { name: 'd', confidence: 0.9, attrs: { k: 1 }, description: 'x' }]])
      expect(b.fields('decision:d')).toMatchObject({ confidence: 0.9, attrs: { k: 1 }, description: 'x' })
      exchange(a, b)
      same(a, b)
    })
  })

  test('what replaces a list takes the items away that a delete hides, too', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-decision', { name: 'd', tags: ['old'] }]])
      a.act([['delete-decision', { name: 'd' }]])
      b.act([['record-decision', { name: 'd', tags: ['new'] }]])
      exchange(a, b)
      b.act([['record-decision', { name: 'd', tags: { set: ['newer'] } }]])
      b.act([['delete-decision', { name: 'd' }]])
      b.act([['restore', { ref: 'decision:d' }]])
      exchange(a, b)
      same(a, b)
      expect(a.fields('decision:d').tags).toEqual(['newer'])
    })
  })

  test('undo of a record anew brings back every form of field that it wiped', () => {
    withReplicas(['a', 'b'], (a, b) => {
      const said = { description: 'x', confidence: 0.8, tags: ['t'], evidence: ['e', 'f'], attrs: { k: { l: 1 } } }
      a.act([['record-decision', { name: 'd', ...said }]])
      a.act([['delete-decision', { name: 'd' }]])
      const { batch } = a.act([
        ['record-decision', { name: 'd', anew: true, tags: ['u'], evidence: ['g'], attrs: { m: 1 } }],
      ])
      a.act([['undo', { batch }]])
      expect(a.memory.reader.entity('decision:d')?.live).toBe(false)
      a.act([['restore', { ref: 'decision:d' }]])
      expect(a.fields('decision:d')).toMatchObject(said)
      expect(a.fields('decision:d').attrs).toEqual(said.attrs)
      exchange(a, b)
      same(a, b)
    })
  })

  test.each([
    [1, 2],
    [2, 1],
  ])('a field declared with two types at once reads alike everywhere (ids %i, %i)', (...seeds) => {
    withReplicas(
      ['a', 'b'],
      (a, b) => {
        a.act([['define-kind', { name: 'thing', fields: { name: 'text', x: 'text' } }]])
        a.act([['record-thing', { name: 't', x: 'one' }]])
        b.now += 100
        b.act([['define-kind', { name: 'thing', fields: { name: 'text', x: 'set' } }]])
        b.act([['record-thing', { name: 't', x: ['two'] }]])
        exchange(a, b)
        same(a, b)
        expect(a.fields('thing:t').x).toEqual(['two'])
        for (const r of [a, b]) {
          const before = dump(r.memory)
          r.memory.rebuild()
          expect(dump(r.memory)).toEqual(before)
        }
      },
      seeds,
    )
  })

  test('a kind defined elsewhere names what was recorded with it, whichever line comes first', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      a.act([['define-kind', { name: 'endpoint', key: ['route'], fields: { verb: 'text', route: 'text' } }]])
      send(a, b)
      b.act([['record-endpoint', { route: '/x', verb: 'GET' }]])
      const { header, lines } = linesOf(b)
      for (const line of [...lines].reverse()) c.memory.applyUpdates(new TextEncoder().encode(`${header}\n${line}\n`))
      exchange(a, b, c)
      same(a, b, c)
      expect(c.memory.reader.list('endpoint').map((e) => e.name)).toEqual(['/x'])
    })
  })
})

describe('[C4] [K13] clocks', () => {
  test('a far stamp from elsewhere does not drag the clock by more than five minutes', () => {
    withReplicas(['a', 'far'], (a, far) => {
      far.now = START + 300 * 86_400_000
      far.act([['record-principle', { name: 'p', confidence: 0.1 }]])
      send(far, a)
      expect(a.memory.db.all("SELECT key FROM findings WHERE key LIKE 'clock:%'").length).toBe(1)
      for (let i = 0; i < 20; i++) {
        a.act([['record-principle', { name: `q${i}` }]])
        const { at } = a.memory.newsSince(a.memory.cursor - 1)[0]!
        expect(at).toBeLessThanOrEqual(START + 5 * 60_000)
        expect(at).toBeGreaterThanOrEqual(START)
      }
      // what was seen is overwritten all the same
      a.act([['update-confidence', { ref: 'principle:p', confidence: 0.2 }]])
      exchange(a, far)
      same(a, far)
      expect(far.fields('principle:p').confidence).toBe(0.2)
    })
  })

  test('a clock that is set back never puts a later write behind an earlier one', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['record-principle', { name: 'p', confidence: 0.1 }]])
      for (const [i, jump] of [86_400_000, -3 * 86_400_000, 1, -60_000, 7 * 86_400_000, -86_400_000].entries()) {
        a.now += jump
        a.act([['record-principle', { name: 'p', confidence: (i + 2) / 10, evidence: [`e${i}`] }]])
        expect(a.fields('principle:p').confidence).toBe((i + 2) / 10)
      }
      exchange(a, b)
      same(a, b)
      expect(b.fields('principle:p').evidence).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5'])
      expect(b.memory.reader.conflicts()).toEqual([])
    })
  })
})

test('[C4] another process that defines a kind is heard at once, its verbs included', () => {
  withReplicas(['a'], (a) => {
    const other = new (a.memory.constructor as typeof import('../../src/engine/memory.ts').Memory)({
      path: a.path,
      projectId: a.memory.projectId,
      kinds: a.memory.registry().kinds(),
      relations: a.memory.registry().relations(),
      verbs: [...a.memory.verbs.values()],
      env: a.env,
    })
    expect(a.memory.registry().kind('gadget')).toBeUndefined()
    other.act([['define-kind', { name: 'gadget', fields: { name: 'text' } }]])
    expect(a.memory.registry().kind('gadget')?.plural).toBe('gadgets')
    a.act([['record-gadget', { name: 'g' }]])
    expect(other.reader.list('gadget').length).toBe(1)
    other.act([['define-kind', { name: 'gadget', fields: { size: 'number' } }]])
    a.act([['record-gadget', { name: 'g', size: 3 }]])
    expect(other.reader.entity('gadget:g')?.fields.size).toBe(3)
    a.act([['define-relation', { name: 'owned-by', inverse: 'owns' }]])
    expect(other.registry().relation('owned-by')?.inverse).toBe('owns')
    other.close()
  })
})

test('[K7] what crossed over says what is in normal form, and no other value gets in', () => {
  withReplicas(['a', 'b'], (a, b) => {
    const attrs = JSON.parse('{"z": -0, "a": {"y": 1, "b": "e\u0301"}}')
    a.act([['record-decision', { name: 'cafe\u0301', confidence: -0, attrs }]])
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', new Date(0), JSON.parse('{"__proto__": 1}')])
      expect(() => a.act([['record-decision', { name: 'd', attrs: { value } }]])).toThrow()
    exchange(a, b)
    same(a, b)
    const { id } = b.memory.reader.list('decision')[0]!
    const { name, confidence, attrs: read } = b.fields(id)
    expect(name).toBe('caf\u00e9')
    expect(Object.is(confidence, 0)).toBe(true)
    expect(JSON.stringify(read)).toBe('{"a":{"b":"\u00e9","y":1},"z":0}')
  })
})

describe('[K8] what convergence cannot promise', () => {
  const principles = ['p', 'q'].map((name) => ['record-principle', { name }])
  const rests = (from: string, to: string) => [['link-entities', { from, to, type: 'depends-on' }]]

  test('two links can close a cycle when they meet: both stay, on every replica, are listed, and what walks them ends', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act(principles)
      send(a, b)
      a.act(rests('p', 'q'))
      b.act(rests('q', 'p'))
      exchange(a, b)
      same(a, b)
      for (const { memory } of [a, b]) {
        expect(memory.reader.links('from', 'principle:p').map((l) => l.to)).toEqual(['principle:q'])
        expect(memory.reader.links('from', 'principle:q').map((l) => l.to)).toEqual(['principle:p'])
        expect(cyclesIn(memory.reader)).toEqual([{ relation: 'depends-on', ids: ['principle:p', 'principle:q'] }])
        expect(trace(memory.reader, 'principle:p').reached.map((r) => r.id)).toEqual(['principle:q'])
      }
      a.act([['unlink-entities', { from: 'p', to: 'q', type: 'depends-on' }]])
      expect(cyclesIn(a.memory.reader)).toEqual([])
    })
  })

  test('a link to what was deleted meanwhile is hidden, and back with it', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act(principles)
      send(a, b)
      a.act([['delete-principle', { name: 'q' }]])
      b.act(rests('p', 'q'))
      exchange(a, b)
      same(a, b)
      expect(a.memory.reader.links('from', 'principle:p')).toEqual([])
      a.act([['restore', { ref: 'principle:q' }]])
      expect(a.memory.reader.links('from', 'principle:p').map((l) => l.to)).toEqual(['principle:q'])
    })
  })

  test('expectedVersion holds for the store that it is said in: two that saw the same version both write', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act(principles)
      send(a, b)
      const { version } = a.memory.reader.entity('principle:p')!
      for (const [r, description] of [[a, 'x'], [b, 'y']] as const) r.act([['record-principle', { name: 'p', description, expectedVersion: version }]]) // biome-ignore format: a list
      exchange(a, b)
      same(a, b)
      expect(a.memory.reader.conflicts().map((e) => e.id)).toEqual(['principle:p'])
    })
  })
})

test('[K9] two who name the same get the same id, also where the name does not fit; a rename keeps it', () => {
  withReplicas(['a', 'b'], (a, b) => {
    const names = ['Plan First', 'C++', 'C#', '中文', '!!!', 'x'.repeat(80), `${'x'.repeat(80)}y`]
    for (const r of [a, b]) r.act(names.map((name) => ['record-principle', { name }]))
    const link = (from: string, to: string) => [['link-entities', { from, to, type: 'similar-to' }]]
    a.act(link('principle:plan-first', 'C++'))
    b.act(link('C++', 'principle:plan-first'))
    const ids = (r: Replica) => r.memory.reader.list('principle').map((e) => e.id).sort() // biome-ignore format: one line
    expect(ids(a)).toEqual(ids(b))
    exchange(a, b)
    same(a, b)
    expect(ids(a)).toHaveLength(names.length)
    for (const id of ids(a)) expect(id).toMatch(/^principle:(?:plan-first|[\x21-\x7e]*-[0-9a-f]{12}|[0-9a-f]{12})$/)
    expect(allRows(a.memory.db)).toHaveLength(names.length + 1)
    a.act([['rename', { ref: 'principle:plan-first', name: 'Think first' }]])
    expect(a.fields('principle:plan-first').name).toBe('Think first')
  })
})
