import { expect, test } from 'vitest'
import { Recaller } from '../../src/find/recall/recall.ts'
import { send, withReplicas } from './harness.ts'

const DAY = 86_400_000

test.each([
  ['3 days ahead', 3 * DAY],
  ['10 years ahead', 3_650 * DAY],
])('[Y5] [T83] what a clock %s has stamped is as old as when it came, in every reading', (_name, lead) => {
  withReplicas(['ana', 'ben'], (ana, ben) => {
    ana.now += lead
    ana.act([['record-decision', { name: 'ahead', rationale: 'caches' }]])
    ben.now += DAY
    send(ana, ben)
    const came = ben.now
    ben.now += DAY
    ben.act([['record-decision', { name: 'newer', rationale: 'caches' }]])
    ben.now += DAY
    const { reader } = ben.memory
    // his own clock follows a stamp by five minutes at most
    expect(reader.list('decision').map((e) => [e.name, Math.round((ben.now - e.created) / DAY)])).toEqual([
      ['newer', 1],
      ['ahead', 2],
    ])
    expect(reader.list('decision', { limit: 1 }).map((e) => e.name)).toEqual(['newer'])
    expect(reader.ids('decision', { limit: 1 })).toEqual(['decision:newer'])
    expect(reader.entity('decision:ahead')!.updated).toBe(came)
    expect(reader.byName('ahead')[0]!.created).toBe(came)
    expect(ben.memory.asOf(ben.now).entity('decision:ahead')).toBeDefined()
    expect(ben.memory.asOf(came - 1).entity('decision:ahead')).toBeUndefined()
    expect(ben.memory.newsSince(0).map((n) => n.at)).toEqual([came, came + DAY + 300_000])
    const recaller = new Recaller(ben.memory, undefined)
    recaller.prepareNow()
    const recency = new Map(recaller.askNow('caches').results.map((r) => [r.name, r.parts.recency]))
    expect(recency.get('ahead')!).toBeLessThan(recency.get('newer')!)
    recaller.close()
    // rows are alike, whatever each of them reads
    send(ben, ana)
    expect(ana.memory.reader.entity('decision:newer')).toBeDefined()
    const rows = (r: typeof ana) => r.memory.db.all('SELECT id, created, updated FROM entities ORDER BY id')
    expect(rows(ben)).toEqual(rows(ana))
    // and an erased name stays in no note of it
    ben.act([['purge', { ref: 'decision:ahead', reason: 'a secret' }]])
    expect(JSON.stringify(ben.memory.db.all('SELECT * FROM meta'))).not.toContain('decision:ahead')
  })
})

test('[Y5] a clock two years behind is read as it says, and wins over nothing that came later', () => {
  withReplicas(['ana', 'ben'], (ana, ben) => {
    ben.act([['record-decision', { name: 'shared', rationale: 'of ben' }]])
    ana.now -= 730 * DAY
    ana.act([['record-decision', { name: 'shared', rationale: 'of ana' }]])
    send(ana, ben)
    expect(ben.fields('decision:shared')).toMatchObject({ rationale: 'of ben' })
    expect(ben.memory.reader.conflicts().map((e) => e.id)).toEqual(['decision:shared'])
  })
})
