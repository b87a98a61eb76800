import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isKeyOf, newTag, publicKey } from '../../src/engine/store/keys.ts'
import { type Line, parseLine, printSigned, seal, textToSign } from '../../src/engine/store/line.ts'
import { signedFirst } from '../../src/engine/store/line-v1.ts'
import { findings, linesAfter } from '../../src/engine/store/log.ts'
import { canonical } from '../../src/model/canonical.ts'
import { sha256 } from '../../src/model/digest.ts'
import { writeSegment } from '../../src/travel/sync/segments.ts'
import { dump } from '../convergence/harness.ts'
import { type Clone, decision, elsewhere, knowledge, team, travelling } from './clones.ts'

const DAY = 86_400_000
const linesOf = (c: Clone, segment: string) => c.text(segment).trimEnd().split('\n').map((text) => parseLine(text)) // biome-ignore format: one thought
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

/** A key that is nobody's here. */
function stranger() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = String(publicKey.export({ format: 'jwk' }).x)
  const signed = (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64url')
  return { key, signed }
}

/** The next line of Ana's replica, as somebody else would write it. */
function forged(ana: Clone, last: Line): Line {
  ana.act([decision('forged')])
  const line = linesAfter(ana.memory.db, 0).at(-1)!
  const next = { replica: line.replica, seq: last.seq + 1, prev: last.hash, at: line.at, ctr: line.ctr }
  return seal({ ...next, author: { user: 'ana' }, events: line.events })
}

const put = (c: Clone, replica: string, seq: number, ...texts: string[]) =>
  writeSegment(c.dir, replica, seq, seq + texts.length - 1, texts)

test('[T82] every line that leaves is signed by its replica, whose name is made of the key', () => {
  const { ana, ben } = met()
  ana.act([decision('second'), ['record-observation', { what: 'stays here' }]])
  ana.act([['purge', { ref: 'decision:first', reason: 'x' }]])
  ana.share()
  ben.share()
  ana.pull()
  ana.receive()
  const key = publicKey(ana.memory.projectId)!
  for (const segment of ana.segments)
    for (const [i, line] of linesOf(ana, segment).entries()) {
      expect(line.signature?.sig).toMatch(/^[\w-]{86}$/)
      expect(line.signature?.key).toBe(i === 0 ? key : undefined)
      expect(isKeyOf(key, line.replica)).toBe(true)
    }
  expect(JSON.parse(knowledge(ben))[0].entities).toEqual(
    JSON.parse(knowledge(ana))[0].entities.filter((e: { kind: string }) => e.kind !== 'observation'),
  )
  expect(told(ben)).toBe('')
})

test('[Y1] [T82] a line that another than its replica wrote is put aside and told, also by those who meet it first', () => {
  const { ana, ben, last } = met()
  const line = forged(ana, last)
  const { key, signed } = stranger()
  const own = publicKey(ana.memory.projectId)!
  const forgeries = new Map([
    [printSigned(line, { key: '', sig: '' }), 'is unsigned'],
    [printSigned(line, { key, sig: signed(textToSign(line)) }), 'is signed with another key than its replica has'],
    [printSigned(line, { key: own, sig: last.signature!.sig }), 'does not bear the signature'],
    [printSigned(line, { key: own, sig: signed(textToSign(line)) }), 'does not bear the signature'],
  ])
  for (const [text, why] of forgeries) {
    const { path } = put(ben, line.replica, line.seq, text)
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

test('[Y3] [T82] no line of a segment can be exchanged or changed, wherever it stands in it', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  for (const name of ['one', 'two', 'three']) ana.act([decision(name)])
  ana.share()
  const texts = ana.text(ana.segments[0]!).trimEnd().split('\n')
  const { replica } = parseLine(texts[0]!)
  for (const [i, name] of ['one', 'two', 'three'].entries()) {
    const bad = texts.map((text, at) => (at === i ? text.replace('because', 'for money') : text))
    const { path } = put(ben, replica, 1, ...bad)
    expect(ben.receive().damaged).toMatchObject([{ path, why: expect.stringContaining('does not bear the signature') }])
    expect(ben.memory.reader.entity(`decision:${name}`)?.fields.rationale).not.toBe('for money')
    rmSync(join(ben.dir, path))
  }
  ben.pull()
  expect(ben.receive().damaged).toEqual([])
  for (const name of ['one', 'two', 'three']) expect(ben.memory.reader.entity(`decision:${name}`)?.fields.rationale).toBe('because') // biome-ignore format: one row
})

test('[K10] [T82] a line stands by itself: each can be taken alone, in any order, and handed on by whoever has it', () => {
  const { clone } = team()
  const [ana, ben, cid] = [clone('ana'), clone('ben'), clone('cid')]
  for (const name of ['one', 'two', 'three']) ana.act([decision(name, { tags: [name] })])
  ana.sync()
  const texts = ana.text(ana.segments[0]!).trimEnd().split('\n')
  const { replica, signature } = parseLine(texts[0]!)
  const alone = (text: string) => JSON.stringify({ ...JSON.parse(text), key: signature!.key })
  put(ben, replica, 3, alone(texts[2]!))
  expect(ben.receive()).toMatchObject({ applied: 1, gaps: 1, damaged: [] })
  expect([has(ben, 'three'), has(ben, 'one')]).toEqual([true, false])
  cid.memory.applyUpdates(ben.memory.updatesSince().bytes) // without Ana
  expect(has(cid, 'three')).toBe(true)
  put(ben, replica, 1, alone(texts[0]!))
  expect(ben.receive()).toMatchObject({ applied: 1, gaps: 1 })
  put(ben, replica, 2, alone(texts[1]!))
  expect(ben.receive()).toMatchObject({ applied: 1, gaps: 0 })
  cid.memory.applyUpdates(ben.memory.updatesSince().bytes)
  for (const c of [ben, cid]) expect(knowledge(c)).toBe(knowledge(ana))
})

test('[Y5] [T83] a wrong clock mutes nobody: its batches count at once, as of when they came, and so do those after them', () => {
  const { ana, ben } = met()
  for (const [name, jump] of [['in-three-days', 3 * DAY], ['in-ten-years', 3_650 * DAY], ['right-again', -3_653 * DAY]] as const) {
    ana.clock.now += jump
    ana.act([decision(name)])
    ana.share()
    ben.clock.now = Math.max(ben.clock.now, ana.clock.now < ben.clock.now + DAY ? ana.clock.now : 0) + 1_000
    ben.pull()
    ben.receive()
    expect(has(ben, name)).toBe(true)
  } // biome-ignore format: a table
  const now = ben.clock.now + 600_000
  expect(ben.memory.asOf(now).list('decision').map((e) => e.name)).toEqual(expect.arrayContaining(['in-ten-years', 'right-again'])) // biome-ignore format: one row
  expect(told(ben)).toMatch(/the clock of ana is wrong, or the one here: .* dated batch 3 2036-/)
})

/** A line as 0.1.0 wrote it. */
function first(replica: string, seq: number, prev: string, name: string): Line {
  const e = [{ e: `decision:${name}`, f: '$', o: 'set', c: 2 * seq, v: { s: 'created', at: 1 } }, { e: `decision:${name}`, f: 'name', o: 'set', c: 2 * seq + 1, v: name }] // biome-ignore format: one row
  const line = {
    v: 1,
    r: replica,
    n: seq,
    p: prev,
    at: Date.UTC(2026, 10, 20),
    by: { user: 'old' },
    sum: name,
    u: {},
    e,
  }
  return parseLine(JSON.stringify({ ...line, h: sha256(canonical(line)) }))
}

test('[T82] of lines of 0.1.0 the last of a file speaks for those before it, and a key is taken at its first use', () => {
  const { ben } = met()
  const { key, signed } = stranger()
  const other = stranger()
  const one = first('zz1', 1, '', 'old-one')
  const lines = [one, first('zz1', 2, one.hash, 'old-two')]
  const plain = (l: Line) => JSON.stringify(l.raw)
  put(ben, 'zz1', 1, plain(lines[0]!), signedFirst(lines[1]!, key, signed))
  expect(ben.receive()).toMatchObject({ applied: 2, damaged: [] })
  const third = first('zz1', 3, lines[1]!.hash, 'old-three')
  for (const [text, why] of [
    [plain(third), 'is unsigned, and that replica signs'],
    [signedFirst(third, other.key, other.signed), 'is signed with another key'],
    [signedFirst(third, key, other.signed), 'does not bear the signature'],
  ] as const) {
    const { path } = put(ben, 'zz1', 3, text)
    expect(ben.receive().damaged).toMatchObject([{ path, why: expect.stringContaining(why) }])
    rmSync(join(ben.dir, path))
  }
  put(ben, 'zz1', 3, signedFirst(third, key, signed))
  expect(ben.receive()).toMatchObject({ applied: 1, damaged: [] })
  expect(['old-one', 'old-two', 'old-three'].map((name) => has(ben, name))).toEqual([true, true, true])
})

test('[T82] a segment that was cut off gives its sound lines', () => {
  const { ana, ben } = met()
  for (const name of ['two', 'three']) ana.act([decision(name)])
  ana.share()
  ben.pull()
  const last = join(ben.dir, '.tidemark/log', ben.segments.at(-1)!)
  const text = readFileSync(last, 'utf8')
  writeFileSync(last, text.slice(0, -200))
  expect(ben.receive().damaged).toMatchObject([{ why: expect.stringContaining('cut off') }])
  expect([has(ben, 'two'), has(ben, 'three')]).toEqual([true, false])
})

test('[Y1] [T82] what had not left is signed anew on a machine without its key: purged parts, deletes and undos included', () => {
  const { ana, ben } = met()
  ana.act([decision('gone', { rationale: 'the secret plan' }), decision('kept', { tags: ['a', 'b'] })])
  ana.act([['record-observation', { what: 'stays here' }]])
  ana.act([decision('kept', { tags: ['b'] }), decision('first', { rationale: 'better' })])
  ana.act([['purge', { ref: 'decision:gone', reason: 'x' }]], { by: 'person' })
  ana.act([decision('mistaken')])
  ana.act([['undo', {}]])
  ana.act([['delete-decision', { name: 'kept' }], decision('last')])
  const rows = () => dump(ana.memory).entities
  const before = rows()
  elsewhere(ana, () => ana.share())
  expect(rows()).toEqual(before)
  ben.pull()
  expect(ben.receive()).toMatchObject({ damaged: [], gaps: 0 })
  expect(travelling(ben)).toBe(travelling(ana))
  expect(told(ana)).toContain('is not on this machine: what it had not shared is shared as')
  // back where the first key is: nothing is said twice, and both go on
  expect(ana.publish().lines).toEqual([])
  ana.act([decision('at home')])
  ana.share()
  ben.act([decision('of ben')])
  ben.share()
  ana.pull()
  ana.receive()
  expect(travelling(ben)).toBe(travelling(ana))
})

test('[T82] names of replicas with the same key differ, and belong to it', () => {
  const { key } = stranger()
  const tags = [1, 2, 3].map((n) => newTag(Uint8Array.from([n, 7, 7, 7]), key))
  expect(new Set(tags).size).toBe(3)
  for (const tag of tags)
    expect([tag.length, isKeyOf(key, tag), isKeyOf(stranger().key, tag)]).toEqual([16, true, false])
})
