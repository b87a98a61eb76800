import { expect, test } from 'vitest'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { conflicts } from '../../src/surfaces/tools/conflicts.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { compactSegments } from '../../src/travel/sync/publish.ts'
import { decision, elsewhere, knowledge, team } from './clones.ts'

test('[K16] [K17] one records, commits and pushes; the other pulls and knows it, unverified', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('use-x')])
  ana.share()
  ben.pull()
  elsewhere(ben, () => expect(ben.receive()).toMatchObject({ applied: 1, damaged: [], left: 0 }))
  expect(ben.memory.reader.entity('decision:use-x')?.fields).toMatchObject({ rationale: 'because' })
  expect([...vouchedFor(ben.memory, ['decision:use-x'])]).toEqual([])
  expect(knowledge(ben)).toBe(knowledge(ana))
})

test.each(['merge', 'rebase'] as const)(
  '[C1] [C4] both work offline and push: nothing conflicts, both know all (%s)',
  (how) => {
    const { clone } = team()
    const [ana, ben] = [clone('ana'), clone('ben')]
    for (const round of [1, 2, 3]) {
      ana.act([decision('shared', { tags: [`ana-${round}`] }), decision(`of-ana-${round}`)])
      ben.act([decision('shared', { tags: [`ben-${round}`] }), decision(`of-ben-${round}`)])
      ana.share(how)
      ben.share(how)
    }
    ana.pull(how)
    ana.receive()
    expect(knowledge(ana)).toBe(knowledge(ben))
    expect(ana.memory.reader.entity('decision:shared')?.fields.tags).toHaveLength(6)
    expect(ana.segments).toEqual(ben.segments)
  },
)

test('[C2] a conflict names the people who said what', async () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('store')])
  ana.share()
  ben.pull()
  ben.receive()
  for (const [c, rationale] of [[ana, 'simple'], [ben, 'fast']] as const) c.act([decision('store', { rationale })]) // biome-ignore format: a list
  ana.share()
  ben.share()
  ana.pull()
  ana.receive()
  for (const { memory, dir } of [ana, ben]) {
    const told = (await conflicts.run({ memory, project: findProject(dir) }, {})) as Output
    expect(told.text).toMatch(/ · rationale\n {2}"simple" at \S+Z by ana\n {2}"fast" at \S+Z by ben$/)
    expect(told.json).toMatchObject([
      {
        values: [
          { value: 'simple', user: 'ana' },
          { value: 'fast', user: 'ben' },
        ],
      },
    ])
  }
})

test('[K8] a cycle that two links closed when they met is listed with what takes it away', async () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('x'), decision('y')])
  ana.share()
  ben.pull()
  ben.receive()
  ana.act([['link-entities', { from: 'x', to: 'y', type: 'depends-on' }]])
  ben.act([['link-entities', { from: 'y', to: 'x', type: 'depends-on' }]])
  ana.share()
  ben.share()
  const told = (await conflicts.run({ memory: ben.memory, project: findProject(ben.dir) }, {})) as Output
  expect(told.text).toBe('x → y → x · a cycle of depends-on\n  unlink-entities takes one of them away')
  expect(told.json).toMatchObject([{ field: 'depends-on', cycle: ['decision:x', 'decision:y'] }])
})

test('[K16] what was not committed yet becomes one file; what was stays as it is', () => {
  const { clone } = team()
  const ana = clone('ana')
  for (let n = 0; n < 5; n++) {
    ana.act([decision(`d-${n}`)])
    ana.sync()
    expect(ana.segments).toHaveLength(1)
  }
  expect(ana.sync()).toMatchObject({ written: [], removed: [] })
  ana.share()
  const [first] = ana.segments
  ana.act([decision('later')])
  ana.share()
  expect(ana.segments).toEqual([first, expect.stringContaining('/6-6-')])
})

test('[K16] own segments become one on request, and nothing is lost or said twice', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ben.act([decision('of-ben')])
  ben.share()
  for (let n = 0; n < 5; n++) {
    ana.act([decision(`d-${n}`)])
    ana.share()
  }
  const [theirs] = ben.segments
  compactSegments(ana.memory, ana.dir)
  expect(ana.segments).toHaveLength(2)
  expect(ana.segments).toContain(theirs)
  expect(ana.sync()).toMatchObject({ written: [], removed: [] })
  ana.share()
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 5, damaged: [] })
  expect(compactSegments(ana.memory, ana.dir)).toEqual({ written: [], removed: [] })
  const cid = clone('cid')
  cid.receive()
  for (const c of [ben, cid]) expect(knowledge(c)).toBe(knowledge(ana))
})
