import { generateKeyPairSync, sign } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canonical } from '../../src/model/canonical.ts'
import { sha256 } from '../../src/model/digest.ts'
import { type Line, parseLine, printReadable, seal, signedPart } from '../../src/store/line.ts'
import { findings, linesAfter } from '../../src/store/log.ts'
import { segmentsIn, writeSegment } from '../../src/sync/segments.ts'
import { printSigned } from '../../src/sync/signatures.ts'
import { type Clone, decision, knowledge, team } from './clones.ts'

const DAY = 86_400_000
const linesOf = (c: Clone, segment: string) => c.text(segment).trimEnd().split('\n').map(parseLine) // biome-ignore format: one thought
const told = (c: Clone) => findings(c.memory.db).map((f) => f.text).join('\n') // biome-ignore format: one thought
const has = (c: Clone, name: string) => c.memory.reader.entity(`decision:${name}`) !== undefined

/** Ana has shared one decision; Ben has read it. */
function met() {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('first')])
  ana.share()
  ben.pull()
  ben.receive()
  expect(has(ben, 'first')).toBe(true)
  const [last] = linesOf(ana, ana.segments.at(-1)!).slice(-1)
  return { ana, ben, last: last! }
}

/** The next line of Ana's replica, as somebody else would write it. */
function forged(ana: Clone, last: Line): Line {
  ana.act([decision('forged')])
  const line = linesAfter(ana.memory.db, 0).at(-1)!
  return seal({ ...line, author: { user: 'ana' }, prev: last.hash, seq: last.seq + 1 })
}

const put = (c: Clone, line: Line) => writeSegment(c.dir, line.replica, line.seq, line.seq, [printReadable(line)])

test('[T82] what leaves is signed by its replica, and a signature changes nothing that is known', () => {
  const { ana, ben } = met()
  ana.act([decision('second'), ['record-observation', { what: 'stays here' }]])
  ana.act([['purge', { ref: 'decision:first', reason: 'x' }]])
  ana.share()
  ben.share()
  ana.pull()
  ana.receive()
  for (const segment of ana.segments) {
    const last = linesOf(ana, segment).at(-1)!
    expect(last.author).toMatchObject({
      key: expect.stringMatching(/^[\w-]{43}$/),
      sig: expect.stringMatching(/^[\w-]{86}$/),
    })
  }
  expect(JSON.parse(knowledge(ben))[0].entities).toEqual(
    JSON.parse(knowledge(ana))[0].entities.filter((e: { kind: string }) => e.kind !== 'observation'),
  )
  expect(told(ben)).toBe('')
})

test('[T82] a line that another than its replica wrote is put aside and told, and those after it are read', () => {
  const { ana, ben, last } = met()
  const line = forged(ana, last)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = String(publicKey.export({ format: 'jwk' }).x)
  const announced = { ...line, author: { ...line.author, key }, substitute: true }
  const sig = sign(null, Buffer.from(signedPart(announced)), privateKey).toString('base64url')
  const stolen = { ...line, author: { ...line.author, key: last.author.key!, sig: last.author.sig! }, substitute: true }
  for (const [written, why] of [
    [line, 'is unsigned, and that replica signs'],
    [{ ...announced, author: { ...announced.author, sig } }, 'is signed with another key'],
    [stolen, 'does not bear the signature'],
  ] as const) {
    const { path } = put(ben, written)
    expect(ben.receive().damaged).toMatchObject([{ path, why: expect.stringContaining(why) }])
    expect(has(ben, 'forged')).toBe(false)
    expect(told(ben)).toContain(`replica ${line.replica} ${why}`)
    rmSync(join(ben.dir, path))
  }
  ana.share()
  ben.pull()
  ben.receive()
  expect(has(ben, 'forged')).toBe(true) // now it is Ana who says it
})

test('[T82] the last batch of a segment signs those before it: none of them can be exchanged', () => {
  const { clone } = team()
  const [ana, ben, eve] = [clone('ana'), clone('ben'), clone('eve')]
  for (const name of ['one', 'two', 'three']) ana.act([decision(name)])
  ana.share()
  const lines = linesOf(ana, ana.segments[0]!)
  expect(lines.map((l) => l.author.sig !== undefined)).toEqual([false, false, true])
  eve.pull()
  eve.receive() // has seen Ana's key
  const other = seal({ ...lines[1]!, summary: 'other words' })
  const { path } = writeSegment(ben.dir, lines[0]!.replica, 1, 3, [lines[0]!, other, lines[2]!].map(printReadable))
  writeSegment(eve.dir, lines[0]!.replica, 4, 4, [
    printReadable(seal({ ...lines[2]!, author: {}, seq: 4, prev: lines[2]!.hash })),
  ])
  expect(eve.receive().damaged).toMatchObject([{ why: expect.stringContaining('is unsigned') }])
  expect(ben.receive().applied).toBeLessThan(3)
  rmSync(join(ben.dir, path))
  ben.pull()
  ben.receive()
  expect(['one', 'two', 'three'].map((name) => has(ben, name))).toEqual([true, true, true])
})

test('[T82] what was written before there were signatures is read as unsigned', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('old')])
  const [line] = linesAfter(ana.memory.db, 0)
  put(ana, line!)
  ana.act([decision('new')])
  ana.share()
  ben.pull()
  ben.receive()
  expect([has(ben, 'old'), has(ben, 'new')]).toEqual([true, true])
  expect(segmentsIn(ben.dir).length).toBeGreaterThan(0)
  expect(told(ben)).toBe('')
})

test('[T83] a batch dated more than a day ahead is put aside and told, and taken when that moment has come', () => {
  const { ana, ben } = met()
  ana.clock.now += 3 * DAY
  ana.act([decision('tomorrow')])
  ana.share()
  ben.pull()
  ben.receive()
  expect(has(ben, 'tomorrow')).toBe(false)
  expect(told(ben)).toMatch(/is dated 2026-11-24T.*more than a day ahead/)
  ben.clock.now += 3 * DAY
  ben.receive()
  expect(has(ben, 'tomorrow')).toBe(true)
})

test('[T82] of signed lines that follow each other the last speaks for those before, unless one says something else than its hash', () => {
  const { ana, ben, last } = met()
  ana.act([decision('second')])
  ana.act([decision('third')])
  const lines = linesAfter(ana.memory.db, 0).filter((l) => l.seq > last.seq)
  const texts = lines.map((l) => printSigned(ana.memory, l))
  const { sub: _sub, h, ...said } = JSON.parse(texts[0]!)
  const changed = { ...said, sum: 'something else' }
  const bad = JSON.stringify({ ...changed, sub: sha256(canonical(changed)), h })
  const write = (...all: string[]) => writeSegment(ben.dir, last.replica, lines[0]!.seq, lines.at(-1)!.seq, all).path
  const path = write(bad, texts[1]!)
  expect(ben.receive().damaged).toMatchObject([{ path, why: expect.stringContaining('does not bear the signature') }])
  expect(has(ben, 'second')).toBe(false)
  rmSync(join(ben.dir, path))
  write(...texts)
  expect(ben.receive().damaged).toEqual([])
  for (const name of ['second', 'third']) expect(has(ben, name)).toBe(true)
  // a line whose signature was checked is kept as its replica keeps it
  const kept = linesAfter(ben.memory.db, 0).filter((l) => l.replica === last.replica && l.seq > last.seq)
  expect(kept.map((l) => printReadable(l))).toEqual(lines.map((l) => printReadable(l)))
})
