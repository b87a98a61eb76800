import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { travelsFrom } from '../../src/engine/read/travels.ts'
import { seal } from '../../src/engine/store/line.ts'
import * as log from '../../src/engine/store/log.ts'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { keepShared } from '../../src/engine/store/replica.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { pendingIn } from '../../src/travel/sync/publish.ts'
import { type Clone, decision, knowledge, team, travelling } from './clones.ts'

/** Everything that its segments say, with what documents say in base64. */
function said(c: Clone): string {
  return c.segments
    .flatMap((s) => c.text(s).split('\n').filter(Boolean))
    .flatMap((text) => {
      const { u = {}, snapshot } = JSON.parse(text) as { u?: object; snapshot?: { entities: { state: string }[] } }
      const encoded = [...Object.values(u), ...(snapshot?.entities.map((e) => e.state) ?? [])]
      return [text, ...encoded.map((b64) => Buffer.from(String(b64), 'base64').toString('latin1'))]
    })
    .join('\n')
}

const name = fc.constantFrom('a', 'b', 'c')
const action = fc.oneof(
  fc.record({ n: name, x: fc.constantFrom('p', 'q') }).map(({ n, x }) => decision(`goes-${n}`, { tags: [x] })),
  name.map((n) => ['record-observation', { what: `stays-${n}` }]),
  name.map((n) => ['share-set', { key: `stays-${n}`, value: { stays: `stays-${n}` } }]),
  name.map((n) => ['write-handoff', { nextSteps: [`stays-${n}`] }]),
  fc
    .tuple(name, name)
    .map(([a, b]) => [
      'link-entities',
      { from: `goes-${a}`, to: `goes-${b}`, type: 'relates-to', description: 'goes' },
    ]),
  name.map((n) => ['delete-decision', { ref: `goes-${n}` }]),
)
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.array(action, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('sync' as const, 'compact' as const) },
  ),
  { minLength: 1, maxLength: 12 },
)

test('[K16] [T80] whatever is recorded, nothing of the machine is in a segment, and all that travels arrives', {
  timeout: 120_000,
}, () => {
  const { clone } = team()
  let n = 0
  const seen = new Set<string>()
  fc.assert(
    fc.property(steps, (plan) => {
      const [ana, ben] = [clone(`ana-${n}`), clone(`ben-${n++}`)]
      try {
        for (const step of plan) {
          if (step === 'sync') ana.sync()
          else if (step === 'compact') ana.memory.compact(ana.clock.now - 1_000)
          else {
            try {
              ana.act(step, { session: 's', intent: 'said of the batch' })
            } catch {} // it means what is not there, or is deleted
          }
        }
        ana.act([decision('goes-last')])
        ana.share()
        ben.pull()
        expect(ben.receive()).toMatchObject({ damaged: [], gaps: 0 })
        for (const { kind } of ana.memory.reader.counts()) seen.add(kind)
        expect(said(ana)).not.toContain('stays')
        expect(travelling(ben)).toBe(travelling(ana))
        expect(
          ben.memory.reader
            .counts()
            .map((c) => c.kind)
            .filter((k) => k === 'observation'),
        ).toEqual([])
        expect([ana.memory.faults(), ben.memory.faults()]).toEqual([[], []])
        ana.git('push', '-q', '-f', 'origin', `${ana.git('rev-list', '--max-parents=0', 'HEAD').trim()}:main`)
      } finally {
        ana.memory.close()
        ben.memory.close()
      }
    }),
    { numRuns: 25, seed: 7 },
  )
  expect([...seen].sort()).toEqual(['context', 'decision', 'handoff', 'observation', 'relationship'])
})

test('a link goes where both of its ends go', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('goes'), ['record-observation', { what: 'stays' }]])
  const seen = ana.memory.reader.list('observation')[0]!
  ana.act([['link-entities', { from: 'goes', to: seen.id, type: 'relates-to', description: 'tells-much' }]])
  ana.share()
  expect(said(ana)).not.toMatch(/stays|tells-much|observation/)
  ben.pull()
  ben.receive()
  expect(ben.memory.reader.counts().map((c) => c.kind)).toEqual(['decision'])
  ben.act([decision('goes', { tags: ['of-ben'] })])
  ben.share()
  ana.pull()
  ana.receive()
  expect(travelling(ana)).toBe(travelling(ben))
})

test('every kind says how far it travels, and what is not known stays', () => {
  expect(KINDS.filter((k) => !['machine', 'project', 'user'].includes(k.travels))).toEqual([])
  const { clone } = team()
  const ana = clone('ana')
  const travels = travelsFrom(ana.memory.db, ana.memory.registry())
  expect(KINDS.filter((k) => k.travels !== 'project' && travels(`${k.name}:x`))).toEqual([])
  expect(['never-heard-of:x', 'relationship:x'].filter(travels)).toEqual([])
})

test('[T80] what looks like a secret is held back until it is erased; what follows it goes', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('before')])
  ana.act([decision('key', { description: 'placeholder-one' })])
  // recorded when the gate knew less
  const secret = 'AKIAZ7QX3MPL5R2TNWB4'
  const { db } = ana.memory
  const [line] = log.linesBetween(db, ownIdentities(db)[0]!.replica, 2, 2)
  const events = line!.events.map((e) => (e.field === 'description' ? { ...e, value: secret } : e))
  const { replica, seq, from, at, ctr, author } = line!
  const before = log.hashOf(db, replica, 1)!
  const other = seal({ replica, seq, from, prev: before, at, ctr, author, events })
  db.write(() => db.run('UPDATE log SET hash=? WHERE seq=2', other.hash))
  db.write(() => {
    log.replaceLine(db, other)
    keepShared(db, other)
  })
  ana.act([decision('after')])
  expect(pendingIn(ana.memory, ana.dir)).toMatchObject({
    lines: [{ seq: 1 }, { seq: 3 }],
    held: { batch: expect.stringMatching(/:2$/), entity: 'decision:key' },
  })
  ana.share()
  ben.pull()
  ben.receive()
  expect(ben.memory.reader.list('decision').map((e) => e.name)).toEqual(['after', 'before'])
  ana.act([['purge', { ref: 'key', reason: 'a secret' }]], { by: 'person' })
  ana.share()
  expect(said(ana)).not.toContain(secret)
  ben.pull()
  ben.receive()
  expect(knowledge(ben)).toBe(knowledge(ana))
})

test('[K15] what somebody else erased is erased here, and its author writes it anew', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('gone', { description: 'to be erased for good' })])
  ana.act([decision('stays')])
  ana.share()
  ben.pull()
  ben.receive()
  const told = ben.act([['purge', { ref: 'gone', reason: 'wrong' }]], { by: 'person' })
  expect(told.notes.join()).toContain('another machine wrote it there')
  ben.share()
  ana.pull()
  ana.receive()
  expect(ana.memory.reader.entity('decision:gone')).toBeUndefined()
  ana.share()
  expect(said(ana)).not.toContain('to be erased')
  ben.pull()
  ben.receive()
  const cid = clone('cid')
  cid.receive()
  for (const c of [ben, cid]) expect(knowledge(c)).toBe(knowledge(ana))
})
