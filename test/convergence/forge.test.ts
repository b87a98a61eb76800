import { createPrivateKey } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { parseSnapshot } from '../../src/engine/replication/compaction.ts'
import { waitingChanges } from '../../src/engine/replication/waiting.ts'
import { publicKey } from '../../src/engine/store/keys.ts'
import { printLine } from '../../src/engine/store/line.ts'
import { linesAfter } from '../../src/engine/store/log.ts'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { getRow } from '../../src/engine/store/rows.ts'
import { readSegment } from '../../src/travel/sync/segments.ts'
import { checkSnapshot } from '../../src/travel/sync/signatures.ts'
import { runs, SEED } from '../runs.ts'
import { hashOf, type Key, keyOf, newKey, printed } from './forger.ts'
import { dump, folded, join1, linesOf, PROJECT, Replica, read, START, tempDir } from './harness.ts'
import { rowsOf } from './oracle.ts'
import { rowsIn } from './stage.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Raw = any
const HEADER = JSON.stringify({ tidemark: 1, project: PROJECT })
const HOUR = 3_600_000

const dir = tempDir()
let ana: Replica
let member: Key
const stranger = newKey('eve0')
/** The replicas that a store has written as: what they erase is erased, whoever wrote it. */
const namesOf = (r: Replica) => ownIdentities(r.memory.db).map((own) => own.replica)

/** What Ana said, line by line, as it left her. */
let said: string[]

/** A history with every part that a line can have. */
beforeAll(() => {
  ana = new Replica(dir, 'ana')
  const next = (...actions: unknown[]) => {
    ana.now += HOUR
    return ana.act(actions, { user: 'ana', intent: 'to have something' })
  }
  const all = { rationale: 'because', confidence: 0.5, tags: ['s', 't'], evidence: ['e', 'f'], attrs: { k: { l: 1 }, m: 2 } }
  next(['record-decision', { name: 'one', ...all }], ['record-decision', { name: 'two', tags: ['u'] }])
  next(['link-entities', { from: 'decision:one', to: 'decision:two', type: 'supports' }])
  next(['record-decision', { name: 'one', rationale: 'since', tags: { remove: ['s'] }, evidence: { add: ['g'] }, attrs: { m: null } }])
  const { batch } = next(['delete-decision', { ref: 'decision:two', reason: 'no more' }])
  next(['undo', { batch }])
  next(['record-decision', { name: 'three', tags: ['v'] }], ['record-observation', { what: 'stays here' }])
  next(['purge', { ref: 'decision:three', reason: 'had to go' }])
  said = linesOf(ana).lines
  const pem = readFileSync(join(process.env.TIDEMARK_STATE!, 'keys', PROJECT), 'utf8')
  member = keyOf(createPrivateKey(pem), publicKey(PROJECT)!, ana.tag.slice(0, 4))
  expect(member.tag).toBe(ana.tag)
}) // biome-ignore format: a history

afterAll(() => {
  ana.memory.close()
  rmSync(dir, { recursive: true, force: true })
})

let made = 0
function victim(lines: readonly string[]): Replica {
  const ben = new Replica(dir, `ben${made++}`, 7 + made)
  ben.now = START + 100 * HOUR
  ben.memory.applyUpdates(join1(HEADER, lines))
  return ben
}

const texts = (r: Replica) => linesAfter(r.memory.db, 0).map(printLine)
const hashIn = (text: string): string => {
  const { h, o } = JSON.parse(text) as Raw
  return o?.h ?? h
}
const content = (text: string): string => {
  const { h: _h, s: _s, key: _key, o, ...rest } = JSON.parse(text) as Raw
  return o ? content(JSON.stringify(o)) : JSON.stringify(rest)
}

/**
 * Gives a text to a store, and takes it back. `aside`: nothing has changed. `as it says`: the store says what the lines say that are in
 * it, and those are what they were and this text.
 */
function offered(to: Replica, text: string, way: 'hub' | 'git' = 'hub'): 'aside' | 'as it says' {
  const before = JSON.stringify(dump(to.memory))
  const there = new Set(texts(to).map(hashIn))
  return to.memory.attempt(() => {
    if (way === 'git') {
      const segment = { replica: to.tag.slice(0, 7), first: 1, last: 1, hash: '', path: '' }
      const handle = /"r":"(\w{1,7})/.exec(text)?.[1] ?? segment.replica
      const { lines } = readSegment({ segment: { ...segment, replica: handle }, texts: [text], isWhole: true })
      to.memory.applyLines({ lines: [...lines], snapshots: [] })
    } else
      try {
        to.memory.applyUpdates(join1(HEADER, [text]))
      } catch (error) {
        if (!(error instanceof UserError)) throw error
      }
    const now = texts(to)
    const isSame = JSON.stringify(dump(to.memory)) === before
    const added = now.filter((t) => !there.has(hashIn(t)) && !JSON.parse(t).k)
    if (isSame && added.length === 0) return 'aside'
    expect(rowsIn(to)).toEqual(rowsIn(rowsOf(now, [], namesOf(to))))
    expect(folded(to.memory)).toEqual(read(to.memory)) // as of now, which is another way to the rows
    for (const t of added) expect(content(t)).toBe(content(text))
    return 'as it says'
  })
}

const ODD: unknown[] = [
  ...[null, true, 0, 1, -1, 7, 1.5, 1e308, -0, 2 ** 53, '', 'x', 'decision:one', 'decision:', ':', '@', '$', '\ud800', '\0', '__proto__'],
  ...[[], {}, [[]], [1, 2], ['x', 1], [0, 1], { s: 'deleted', at: 1, seen: {} }, { s: 'restored', at: 9e15 }, JSON.parse('{"__proto__":1}')],
  ...['add', 'remove', 'clear', 'put', 'drop', 'tags', 'rationale', 'x'.repeat(43), 'x'.repeat(70_000), JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`)],
] // biome-ignore format: a list

const OPS = ['set', 'clear', 'add', 'remove', 'put', 'drop', 1]

/** Every way to change one thing in a value, at every path of it. */
function* changed(v: Raw): Generator<Raw> {
  yield* ODD
  if (typeof v === 'number') yield* [v + 1, v - 1, `${v}`]
  else if (typeof v === 'string') yield* [`${v}x`, v.slice(1), ` ${v}`, v.toUpperCase()]
  else if (Array.isArray(v)) {
    for (const [i, item] of v.entries()) {
      for (const other of changed(item)) yield v.toSpliced(i, 1, other)
      yield v.toSpliced(i, 1)
      yield v.toSpliced(i, 0, item)
      if (i > 0) yield [...v.slice(0, i - 1), item, v[i - 1], ...v.slice(i + 1)]
    }
    yield [...v, 'more']
    yield [...v, { f: 'rationale', v: 'evil' }]
    yield [...v, ['decision:one', { f: 'rationale', v: 'evil', x: [1, 2, 3, 4, 5, 6, 7, 8, 9] }]]
  } else if (v !== null && typeof v === 'object') {
    for (const key of Object.keys(v)) {
      const { [key]: own, ...rest } = v
      yield rest
      for (const other of changed(own)) yield { ...v, [key]: other }
      yield { ...rest, [key]: own }
    }
    for (const key of ['more', 'f', 'o', 'v', 't', 'p', 'l', 'x', 'z', 'd', 'c', 'w', 'sub', 'k', 'u', 'e', 'n', 'constructor'])
      if (!(key in v)) for (const other of key === 'o' ? OPS : [1, 'x', [1], ['a'], 'd'.repeat(43), { intent: 'x' }]) yield { ...v, [key]: other }
    yield JSON.parse(JSON.stringify(v).replace('{', '{"__proto__":{"f":"name"},'))
  }
} // biome-ignore format: a list of changes

/** Some of them: with few runs every n-th, at another place each time. */
function* some<T>(all: Iterable<T>, every: number): Generator<T> {
  let n = SEED % every
  for (const one of all) if (n++ % every === 0) yield one
}
const EVERY = Math.max(1, Math.round(60 / runs(2, 60)))

const forgeries = (text: string) => {
  const { h: _h, s: _s, key: _key, ...raw } = JSON.parse(text) as Raw
  return some(changed(raw), EVERY)
}

const hashed = (raw: Raw, by?: Key): string => {
  try {
    return printed(raw, by)
  } catch {
    return JSON.stringify({ ...raw, h: 'no hash can be made of it' })
  }
}

describe.each([0, 1, 2, 3, 4, 5, 6])('[Y1] [Y3] [T82] line %i, with anything in it changed and every hash made anew', (at) => {
  test('with the member’s own key it is put aside, or applied as it says', () => {
    const ben = victim(said.slice(0, at))
    const told = { aside: 0, 'as it says': 0 }
    for (const raw of forgeries(said[at]!)) {
      if (raw === null || typeof raw !== 'object') continue
      const text = hashed(raw, member)
      try {
        told[offered(ben, text, told.aside % 2 === 0 ? 'hub' : 'git')]++
      } catch (error) {
        throw new Error(`this line was not applied as it says: ${text.slice(0, 3_000)}`, { cause: error })
      }
    }
    process.stderr.write(`[Y3] line ${at}: ${JSON.stringify(told)}, TIDEMARK_SEED=${SEED}\n`)
    expect(told.aside).toBeGreaterThan(3)
    ben.memory.close()
  })

  test('without it, it is put aside', () => {
    const ben = victim(said.slice(0, at))
    const { s, key } = JSON.parse(said[at]!) as Raw
    for (const raw of forgeries(said[at]!)) {
      if (raw === null || typeof raw !== 'object' || !isDeepStrictEqual(raw.r, ana.tag)) continue
      for (const text of [hashed(raw), hashed(raw, stranger), hashed(raw, { ...stranger, key }), JSON.stringify({ ...raw, s, key })]) {
        // what has the hash of what Ana signed says the same
        if (text.includes(s) && isDeepStrictEqual(hashed(raw, member), said[at])) continue
        const got = offered(ben, text)
        if (got === 'as it says') expect(hashOf(raw)).toBe(hashOf(JSON.parse(said[at]!)))
      }
    }
    ben.memory.close()
  })
}) // biome-ignore format: a table

/** A line of Ana's, the next one, with these events. */
const next = (events: Raw[], more: object = {}): Raw => {
  const { r, n, c } = JSON.parse(said.at(-1)!) as Raw
  return { v: 2, r, n: n + 1, p: hashOf(JSON.parse(said.at(-1)!)).slice(0, 22), c: c + 100, at: START + 50 * HOUR, by: { user: 'ana' }, e: events, ...more }
} // biome-ignore format: one row
/** Under which counter Ana wrote something. */
const counterOf = (entity: string, field: string, value?: unknown) =>
  linesAfter(ana.memory.db, 0)
    .flatMap((l) => l.events)
    .findLast((e) => e.entity === entity && e.field === field && (value === undefined || e.value === value))!.stamp.ctr

describe('[Y3] [K10] who writes by hand, with a key of their own', () => {
  const both = (body: (ben: Replica, take: (raw: Raw, by?: Key | 'nobody') => number) => void) => {
    const ben = victim(said)
    const take = (raw: Raw, by: Key | 'nobody' = member) =>
      ben.memory.applyUpdates(join1(HEADER, [by === 'nobody' ? printed(raw) : printed(raw, by)])).applied
    body(ben, take)
    expect(rowsIn(ben)).toEqual(rowsIn(rowsOf(texts(ben), [], namesOf(ben))))
    expect(folded(ben.memory)).toEqual(read(ben.memory))
    ben.memory.close()
  }
  const fields = (r: Replica, at?: number) =>
    (at === undefined ? r.memory.reader : r.memory.asOf(at)).entity('decision:one')!.fields

  test('takes nothing of another field away, nor of another entity', () =>
    both((ben, take) => {
      const [before, two] = [fields(ben), ben.fields('decision:two')]
      const text = counterOf('decision:one', 'rationale')
      const others = [text, counterOf('decision:one', 'name'), counterOf('decision:one', 'attrs'), counterOf('decision:two', 'tags')]
      expect(take(next([['decision:one', { f: 'tags', o: 'add', v: 'harmless', x: others }, { f: 'tags', o: 'remove', v: 'x', x: others }]]))).toBe(1)
      for (const now of [fields(ben), fields(ben, ben.now)]) {
        expect(now).toMatchObject({ rationale: before.rationale, name: before.name, attrs: before.attrs })
        expect(now.tags).toEqual(['harmless', 't'])
      }
      expect(ben.fields('decision:two')).toEqual(two)
    })) // biome-ignore format: a list

  test('has two writes under one name, which read alike whichever came first', () => {
    const [one, other] = ['one', 'other'].map((v, i) => next([['decision:one', { f: 'rationale', v }]], { n: 10 + 2 * i, p: 'x'.repeat(22) })) // biome-ignore format: one row
    const rows = [[one, other], [other, one]].map((order) => {
      let got: unknown
      both((ben, take) => {
        for (const raw of order) expect(take(raw)).toBe(1)
        got = rowsIn(ben)
        ben.memory.rebuild()
        expect(rowsIn(ben)).toEqual(got)
      })
      return got
    })
    expect(rows[0]).toEqual(rows[1])
  }) // biome-ignore format: a list

  test('says that the line follows another one than it does: both go under names of their own, and each says what it says', () =>
    both((ben, take) => {
      expect(take(next([['decision:one', { f: 'rationale', v: 'evil', x: [counterOf('decision:one', 'rationale')] }]], { p: 'x'.repeat(22) }))).toBe(1) // biome-ignore format: one row
      expect(fields(ben).tags).toEqual(['t'])
    }))

  test('says again what Ana said, under another name as if she had forked: nothing that she took back comes back', () =>
    both((ben, take) => {
      const before = rowsIn(ben)
      for (const text of said) {
        const o = JSON.parse(text) as Raw
        for (const more of [{}, { p: 'x'.repeat(22), n: 9 }]) {
          const raw = { v: 2, r: 'evil123', n: 1, c: o.c, at: o.at, by: {}, e: [], o: { ...o, h: hashOf(o), key: member.key }, ...more } // biome-ignore format: one row
          expect(take(raw, 'nobody')).toBe(0)
        }
      }
      expect(rowsIn(ben)).toEqual(before)
    }))

  test('puts a changed line among sound ones: the others do not speak for it', () => {
    for (const [i, text] of said.entries()) {
      if (!text.includes('because') && !text.includes('since') && !text.includes('supports')) continue
      const bad = text.replace(/because|since|supports/, 'for money')
      const ben = victim([])
      const { refused } = ben.memory.applyUpdates(join1(HEADER, said.with(i, bad)))
      expect(refused.map((r) => r.line)).toEqual([`${ana.tag}:${i + 1}`])
      expect(JSON.stringify(rowsIn(ben))).not.toContain('for money')
      ben.memory.close()
    }
  })

  test('says something where nobody reads: it is put aside', () =>
    both((ben) => {
      const raw = next([['decision:one', { f: 'rationale', v: 'harmless' }]])
      const mark = { r: ana.tag, n: 1, h: 'h', e: 'decision:one', c: [] }
      const o = JSON.parse(said[0]!) as Raw
      const all = [
        ...[{ ...raw, more: 1 }, { ...raw, for: { intent: 'x', more: 1 } }, { ...raw, x: [{ ...mark, more: 1 }] }, { ...raw, sub: 'd'.repeat(43) }],
        next([['decision:one', { f: 'rationale', v: 'harmless', more: 1 }]]),
        next([['decision:one', { f: '$', o: 'clear' }]]),
        { ...raw, o: { ...o, h: hashOf(o) } },
        { ...raw, e: [], o: { ...o, h: hashOf(o), at: 5 } },
        { ...raw, e: [], o: { ...o, h: 'x'.repeat(43) } },
      ]
      for (const one of all) for (const text of [printed(one, member), printed(one)]) expect(offered(ben, text)).toBe('aside')
      expect(offered(ben, printed({ ...raw, x: [mark] }, member))).toBe('as it says')
    })) // biome-ignore format: a list

  test('says under Ana’s name, as a branch of its own, what she never said: it is put aside', () => {
    const ben = victim(said)
    const eve = (n: number, events: Raw[]) =>
      printed({ v: 2, r: stranger.tag, n, c: n, at: START + 50 * HOUR, by: { user: 'eve' }, e: events }, stranger)
    for (const name of ['e', 'f'])
      ben.memory.applyUpdates(join1(HEADER, [eve(1, [['decision:e', { f: 'name', v: name }]])]))
    const mine = JSON.parse(eve(9, [['decision:one', { f: 'rationale', v: 'EVIL' }]]))
    const { r, n, c } = JSON.parse(said.at(-1)!)
    const p = hashOf(JSON.parse(said.at(-1)!)).slice(0, 22)
    const o = { ...mine, h: hashOf(mine) }
    expect(offered(ben, printed({ v: 2, r, n: n + 1, p, c: c + 100, at: mine.at, by: {}, e: [], o }))).toBe('aside')
    ben.memory.close()
  })

  test('writes under the name of somebody else', () =>
    both((ben, take) => {
      const before = rowsIn(ben)
      const raw = next([['decision:one', { f: 'rationale', v: 'evil' }]])
      expect([take(raw, stranger), take(raw, { ...stranger, key: member.key })]).toEqual([0, 0])
      expect(rowsIn(ben)).toEqual(before)
      expect(take({ ...raw, r: stranger.tag }, stranger)).toBe(1) // and this is theirs
    }))

  test('repeats in this project what was said in another one: it says what it said, under the name of that project’s key', () =>
    both((_, take) => {
      const { privateKey } = { privateKey: newKey('ana1') }
      const there = next([['decision:one', { f: 'rationale', v: 'of there' }]], { r: privateKey.tag, n: 1, p: undefined, c: 1 })
      expect(take(there, privateKey)).toBe(1)
    })) // biome-ignore format: one thought
})

describe('[Y3] [K17] a line counts only as Tidemark writes it: who reads the text reads what is applied', () => {
  const raw = () => next([['decision:one', { f: 'rationale', v: 'harmless' }]])
  test.each<readonly [string, (text: string) => string]>([
    ['one key twice', (t) => t.replace('"v":"harmless"', '"v":"evil","v":"harmless"')],
    ['one key twice, and the other one counts', (t) => t.replace('"v":"harmless"', '"v":"harmless","v":"evil"')],
    ['a key twice in the header', (t) => t.replace('"by":{', '"by":{"user":"ben","user":"ana"},"by":{')],
    ['spaces', (t) => t.replaceAll(',', ' , ')],
    ['a text in escapes', (t) => t.replace('harmless', '\\u0068armless')],
    ['a key in escapes', (t) => t.replace('"rationale"', '"\\u0072ationale"')],
    ['a slash in escapes', (t) => t.replace('harmless', 'harm\\/less')],
    ['numbers in other words', (t) => t.replace(/"n":(\d+)/, '"n":$1.0')],
    ['a number with an exponent', (t) => t.replace(/"c":(\d+)/, '"c":$1e0')],
    ['half a character', (t) => t.replace('harmless', '\\ud800')],
    ['a NUL', (t) => t.replace('harmless', 'harm\\u0000less')],
    ['more behind it', (t) => `${t} {}`],
    ['a mark of byte order', (t) => `\ufeff${t}`],
  ])('%s', (_, change) => {
    const ben = victim(said)
    const said1 = (text: string) => {
      const evil = JSON.parse(text) as Raw // signed as a reader of JSON understands it
      return `${text.slice(0, -1)},"s":"${member.sign(`tidemark line ${hashOf(evil)}`)}","key":"${member.key}"}`
    }
    const { s: _s, key: _key, ...plain } = JSON.parse(printed(raw(), member)) as Raw
    const text = change(JSON.stringify(plain))
    let forged = text
    try {
      forged = said1(text)
    } catch {}
    expect(offered(ben, said1(JSON.stringify(plain)))).toBe('as it says')
    for (const way of ['hub', 'git'] as const) expect(offered(ben, forged, way)).toBe('aside')
    ben.memory.close()
  })
})

describe('[K14] a folded state that claims to cover lines that it does not', () => {
  /** Of Ana's lines, with her key or another one: nothing of them is left. */
  const claiming = (by: Key, more: object = {}) => {
    const last = said.at(-1)!
    const covered = [{ replica: ana.tag, first: 1, last: said.length, hash: hashOf(JSON.parse(last)), digest: 'x'.repeat(43), from: 1, to: 99 }] // biome-ignore format: one row
    const snapshot = { v: 2, covered, horizon: 1, entities: [], events: [], purged: [], forked: [], ...more }
    return JSON.stringify({ snapshot, by: { key: by.key, sig: by.sign(JSON.stringify(snapshot)) } })
  }

  test('of another replica is put aside, through git and a hub', () => {
    const ben = victim(said.slice(0, 3))
    for (const by of [stranger, { ...stranger, key: member.key }])
      expect(() => checkSnapshot(ben.memory, parseSnapshot(claiming(by))!)).toThrow(/does not bear the signature/)
    ben.memory.close()
  })

  test('changes nothing for those who have the lines', () => {
    const ben = victim(said)
    const before = rowsIn(ben)
    ben.memory.applyUpdates(join1(HEADER, [claiming(member)]))
    expect(rowsIn(ben)).toEqual(before)
    ben.memory.close()
  })

  // who misses a line cannot check its digest: git and a hub take it of the signer's own lines alone, the library believes it
  test('of a stranger takes away nothing that was written here', () => {
    const ben = victim(said) // with Ana's key
    const before = here(ben)
    const { covered } = JSON.parse(claiming(member)).snapshot
    const other = { ...covered[0], replica: stranger.tag }
    ben.memory.applyUpdates(join1(HEADER, [claiming(stranger, { covered: [...covered, other] })]))
    expect(getRow(ben.memory.db, 'decision:one')?.live ?? 0).toBe(0)
    expect(here(ben)).toEqual(before)
    expect(waitingChanges(ben.memory.db).all.map((w) => [w.entity.id, w.wants])).toContainEqual([
      'decision:one',
      'wants to delete it',
    ])
    ben.memory.close()
  })
})

const here = (r: Replica) => getRow(r.memory.db.here, 'decision:one')?.body
