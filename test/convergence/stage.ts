/**
 * Stores that meet in every way lines can travel, and after each step the same question: does each say what the lines that it admits
 * say, by the oracle? An operation is one entry of `OPS`.
 */

import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { UserError } from '../../src/base/errors.ts'
import { packMark, printLine } from '../../src/engine/store/line.ts'
import type { RawMark } from '../../src/engine/store/line-parts.ts'
import { allPurges, known, newsAfter } from '../../src/engine/store/log.ts'
import { setMeta } from '../../src/engine/store/meta.ts'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { allRows } from '../../src/engine/store/rows.ts'
import { hashOf as hashOfRaw, type Key, newKey, printed, printedFirst } from './forger.ts'
import { dump, folded, join1, linesOf, open, PROJECT, Replica, read, seeded, tempDir } from './harness.ts'
import { type OracleRow, rowsOf } from './oracle.ts'
import { action, emptyStore } from './scenario.ts'

const HEADER = JSON.stringify({ tidemark: 1, project: PROJECT })
const MINUTE = 60_000
const DAY = 86_400_000

/** A replica, and what of it the lines must explain. */
class Player extends Replica {
  /** Hashes of lines that are kept from it, by a reviewer. */
  readonly kept = new Set<string>()
  /** Which line stood under a number when it was seen last, as whole as it ever had it: a compaction leaves the number alone. */
  readonly seen = new Map<string, { hash: string; text: string; partial: boolean }>()
  saved: { path: string; file: string } | undefined
  /** Where its user's keys lie, if they were lost once. */
  state: string | undefined

  /** Does something with the keys that its machine has. */
  here<T>(body: () => T): T {
    const before = process.env.TIDEMARK_STATE!
    process.env.TIDEMARK_STATE = this.state ?? before
    try {
      return body()
    } finally {
      process.env.TIDEMARK_STATE = before
    }
  }

  /** The texts of the lines that it admits, as it has them: those in its log, and those that it or others folded away. */
  admitted(stage: Stage): string[] {
    const { db } = this.memory
    const there = new Map<string, string>()
    for (const { line } of newsAfter(db, 0)) {
      const [name, text] = [`${line.replica}:${line.seq}`, printLine(line)]
      stage.learn(line.hash, name, text, line.partial)
      const before = this.seen.get(name)
      if (before?.hash !== line.hash || before.partial)
        this.seen.set(name, { hash: line.hash, text, partial: line.partial })
      there.set(name, stage.isDeclined(this, line.hash) ? '' : text)
    }
    for (const [replica, ranges] of known(db))
      for (const [from, to] of ranges)
        for (let seq = from; seq <= to; seq++) {
          const name = `${replica}:${seq}`
          if (!there.has(name)) there.set(name, this.seen.get(name)?.text ?? stage.texts.get(stage.named.get(name)!)!)
        }
    return [...there.values()].filter((text) => text !== '')
  }
}

export class Stage {
  readonly dir = tempDir()
  readonly players: Player[] = []
  /** Every line that was ever in a log, by its hash: as whole as it was ever seen. */
  readonly texts = new Map<string, string>()
  readonly named = new Map<string, string>()
  /** What somebody without a store has written: of 0.1.0, and of now. */
  readonly outside: string[] = []
  /** Identities whose keys were lost: their store has said its lines anew under another. */
  readonly gone = new Set<string>()
  readonly #old = { tag: 'oldone1', n: 0, ctr: 0, hash: '' }
  readonly #stranger: Key & { n: number; ctr: number; hash: string } = { ...STRANGER, n: 0, ctr: 0, hash: '' }

  constructor(count: number, seed: number) {
    for (let i = 0; i < count; i++) this.add(new Player(this.dir, `r${i}`, (seed ^ (i * 0x9e3779b9)) >>> 0, emptyStore()))
  } // biome-ignore format: one row

  add(p: Player): void {
    this.players.push(p)
  }
  at(n: number): Player {
    return this.players[n % this.players.length]!
  }

  learn(hash: string, name: string, text: string, partial: boolean): void {
    if (!partial || !this.texts.has(hash)) this.texts.set(hash, text)
    this.named.set(name, hash)
  }

  /** Whether a person wants that a line counts nowhere in a store: to be said by an operation that declines. */
  isDeclined(_player: Player, _hash: string): boolean {
    return false
  }

  /** What leaves a replica, but for lines that are kept from another one. */
  leaving(from: Player, to: Player): { snapshots: string[]; lines: string[] } {
    const { lines } = from.here(() => {
      if (from.state) from.memory.signAnew() // as before every sync
      return linesOf(from)
    })
    const isFree = (text: string) => !to.kept.has(nameIn(text))
    return {
      snapshots: lines.filter((l) => l.startsWith('{"snapshot"')),
      lines: lines.filter((l) => !l.startsWith('{"snapshot"') && isFree(l)),
    }
  }

  give(to: Player, texts: readonly string[]): number {
    const { applied, forked } = to.here(() => to.memory.applyUpdates(join1(HEADER, texts)))
    return applied + (forked ? 1 : 0)
  }

  /** A line of 0.1.0, which nobody's store has written: with updates that say something else, and a summary that lies. */
  sayOld(now: number, events: readonly Loose[]): void {
    const own = this.#old
    const e = events.map(({ entity, ...said }) => ({
      e: entity,
      ...this.#said(said as Pick<Loose, 'over'>, own.tag),
      c: ++own.ctr,
      w: 'a lie',
    }))
    const raw = { v: 1, r: own.tag, n: ++own.n, p: own.hash, at: now, by: { user: 'ana' }, sum: 'lies', u: { 'decision:one': 'AAA=' }, e } // biome-ignore format: one row
    const { text, hash } = printedFirst(raw)
    own.hash = hash
    this.outside.push(text)
  }

  /** A line of now by somebody with a key, who need not keep to what Tidemark writes. */
  sayStrange(now: number, events: readonly Loose[]): void {
    const own = this.#stranger
    const e = [...events].map(({ entity, o, ...said }) => [entity, { ...this.#said({ ...(said as Pick<Loose, 'over'>), ...(o === 'set' ? {} : { o }) }, own.tag)}]) // biome-ignore format: one row
    const raw = { v: 2, r: own.tag, n: ++own.n, ...(own.hash ? { p: own.hash.slice(0, 22) } : {}), c: own.ctr + 1, at: now, by: { user: 'eve' }, e } // biome-ignore format: one row
    own.ctr += events.length
    const text = printed(JSON.parse(JSON.stringify(raw)), own)
    own.hash = hashIn(text)
    this.outside.push(text)
  }

  #said({ over, ...said }: Pick<Loose, 'over'>, tag: string): object {
    const all = [...this.texts.values(), ...this.outside].flatMap(writesIn)
    const x = over.flatMap((n) => (all.length === 0 ? [] : [all[n % all.length]!]))
    return { ...said, ...(x.length > 0 ? { x: x.map(([r, c]) => (r === tag ? c : [r, c])) } : {}) }
  }

  /** Everybody tells everybody until nothing is new, but for what is kept from them. */
  exchange(): void {
    for (let round = 0; round < 20; round++) {
      let applied = 0
      for (const to of this.players) {
        applied += this.give(to, this.outside.filter((t) => !to.kept.has(nameIn(t)))) // biome-ignore format: one row
        for (const from of this.players) {
          if (from === to) continue
          const { snapshots, lines } = this.leaving(from, to)
          applied += this.give(to, [...snapshots, ...lines])
        }
      }
      if (applied === 0) return
    }
    throw new Error('the exchange does not come to rest')
  }

  /** The replicas that a store has written as. */
  own(p: Player): string[] {
    return ownIdentities(p.memory.db).map((o) => o.replica)
  }

  /** Marks that a store has, and that a line somewhere says: a folded state brings them too. */
  marksIn(p: Player): { by: string; mark: RawMark }[] {
    const name = (m: RawMark) => `${m.r}:${m.n}:${m.e}`
    const there = new Set(allPurges(p.memory.db).map((m) => name(packMark(m))))
    const saidIn = (text: string) => {
      const { r, o, x = [] } = JSON.parse(text) as { r: string; o?: { r: string; x?: RawMark[] }; x?: RawMark[] }
      return (o ? (o.x ?? []) : x).map((mark) => ({ by: o?.r ?? r, mark }))
    }
    return [...this.texts.values()].flatMap(saidIn).filter(({ mark }) => there.has(name(mark)))
  }

  /** The rows of a store are those of the lines that it admits. */
  check(p: Player, when: string): void {
    const expected = rowsOf(p.admitted(this), this.marksIn(p), this.own(p))
    const got = new Map(allRows(p.memory.db).map((r) => [r.id, rowAs(r as never)]))
    if (isDeepStrictEqual(got, new Map([...expected].map(([id, row]) => [id, plain(row)])))) return
    const ids = new Set([...got.keys(), ...expected.keys()])
    const other = [...ids].filter((id) => !isDeepStrictEqual(got.get(id), expected.has(id) ? plain(expected.get(id)!) : 0))
    const say = (m: ReadonlyMap<string, unknown>) => JSON.stringify(other.map((id) => [id, m.get(id)]), undefined, 1)
    throw new Error(`${p.name} ${when}: its rows are\n${say(got)}\nand its lines say\n${say(expected)}`)
  } // biome-ignore format: messages

  close(): void {
    for (const p of this.players) p.memory.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

const STRANGER = newKey('eve0')

/** An event as somebody without a store says it; `over`: which of all writes it names. */
interface Loose {
  readonly entity: string
  readonly over: readonly number[]
  readonly [part: string]: unknown
}

const nameIn = (text: string): string => {
  const { r, n } = JSON.parse(text) as { r: string; n: number }
  return `${r}:${n}`
}
const hashIn = (text: string): string => hashOfRaw(JSON.parse(text))

/** Every write of a line, as an `over` names it. */
function writesIn(text: string): [string, number][] {
  const l = JSON.parse(text)
  if (l.o) return []
  if (l.v === 1) return l.e.map((e: { c: number }) => [l.r, e.c])
  let c = l.c
  return l.e.flatMap((run: unknown[]) => run.slice(1).flatMap((e) => (typeof e === 'object' ? [[l.r, c++]] : [])))
}

const rowAs = (r: { [key: string]: unknown }): OracleRow => ({
  live: r.live === 1,
  created: Number(r.created),
  updated: Number(r.updated),
  version: Number(r.version),
  fields: JSON.parse(String(r.body)),
  conflicts: r.conflicts === null ? [] : JSON.parse(String(r.conflicts)),
})
/** The rows of a store, or of the oracle, to be compared. */
export const rowsIn = (of: Replica | ReadonlyMap<string, OracleRow>): [string, OracleRow][] =>
  of instanceof Replica ? allRows(of.memory.db).map((r) => [r.id, rowAs(r as never)]) : [...of].map(([id, row]) => [id, plain(row)]) // biome-ignore format: one row

/** As it stands in JSON. */
const plain = (row: OracleRow): OracleRow => ({ ...JSON.parse(JSON.stringify(row)), created: row.created })

const who = fc.nat({ max: 5 })
const jump = fc.constantFrom(0, 1, 2, 3, MINUTE, 4 * MINUTE, -4 * MINUTE, DAY, -DAY, 3 * DAY, -3 * DAY, 3_650 * DAY)
const which = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 12 })
const value = fc.constantFrom<unknown>('a', 'b', 1, null, { k: 1 }, [1])
const item = fc.constantFrom('a', 'b')
const loose: fc.Arbitrary<Loose> = fc
  .tuple(
    fc.constantFrom('decision:one', 'decision:two', 'thing:x'),
    fc.oneof(
      fc.record({ f: fc.constantFrom('description', 'tags'), o: fc.constant('set'), v: value }),
      fc.record({ f: fc.constantFrom('description', 'impact'), o: fc.constant('clear') }),
      fc.record({ f: fc.constantFrom('tags', 'topics', 'provenance'), o: fc.constant('add'), v: item.map((user) => ({ user })) }), // biome-ignore format: one row
      fc.record({ f: fc.constantFrom('tags', 'topics'), o: fc.constantFrom('add', 'remove'), v: item }),
      fc.record({ f: fc.constantFrom('evidence', 'tags'), o: fc.constant('add'), v: item, l: fc.constant(1), p: fc.nat({ max: 2 }) }), // biome-ignore format: one row
      fc.record({ f: fc.constant('attrs'), o: fc.constantFrom('put', 'drop'), t: fc.array(item, { maxLength: 3 }), v: value }), // biome-ignore format: one row
      fc.record({ f: fc.constant('$'), o: fc.constant('set'), v: fc.record({ s: fc.constantFrom('created', 'restored'), at: fc.nat({ max: 9 }) }) }), // biome-ignore format: one row
      fc.record({ f: fc.constant('$'), o: fc.constant('set'), v: fc.record({ s: fc.constant('deleted'), at: fc.nat({ max: 9 }), seen: fc.dictionary(fc.constantFrom('oldone1', STRANGER.tag), fc.nat({ max: 20 })) }) }), // biome-ignore format: one row
    ),
    fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
  )
  .map(([entity, said, over]) => ({ entity, ...said, over }))
const several = fc.array(loose, { minLength: 1, maxLength: 4 })

interface Op<T> {
  readonly weight: number
  readonly with: fc.Arbitrary<T>
  /** Which store is to be looked at after it. */
  does(stage: Stage, step: T): Player | undefined
}
const op = <T>(weight: number, given: { [K in keyof T]: fc.Arbitrary<T[K]> }, does: (stage: Stage, step: T) => Player | undefined): Op<never> => ({ weight, with: fc.record(given), does }) as never // biome-ignore format: one row

/** Everything that can happen. Another one is an entry more. */
export const OPS = {
  act: op(10, { by: who, actions: fc.array(action, { minLength: 1, maxLength: 3 }) }, (s, { by, actions }) => {
    return acts(s.at(by), actions)
  }),
  /** All that one has, in its order. */
  send: op(4, { from: who, to: who }, (s, { from, to }) => {
    if (s.at(from) === s.at(to)) return undefined
    const { snapshots, lines } = s.leaving(s.at(from), s.at(to))
    s.give(s.at(to), [...snapshots, ...lines])
    return s.at(to)
  }),
  /** Some lines, each alone: lost, repeated, turned round, one of later picked out. */
  pick: op(6, { from: who, to: who, which }, (s, { from, to, which }) => {
    const { lines } = s.leaving(s.at(from), s.at(to))
    if (s.at(from) === s.at(to) || lines.length === 0) return undefined
    for (const n of which) s.give(s.at(to), [lines[n % lines.length]!])
    return s.at(to)
  }),
  /** A reviewer keeps lines that follow each other from somebody, for good. */
  drop: op(1, { from: who, to: who, at: fc.nat({ max: 20 }), some: fc.integer({ min: 1, max: 3 }) }, (s, { from, to, at, some }) => {
    const { lines } = s.leaving(s.at(from), s.at(to))
    const [first] = s.at(from) === s.at(to) || lines.length === 0 ? [] : [nameIn(lines[at % lines.length]!)]
    const [replica, n] = first?.split(':') ?? []
    for (let i = 0; replica && i < some; i++) s.at(to).kept.add(`${replica}:${Number(n) + i}`)
    return undefined
  }), // biome-ignore format: one head
  clock: op(3, { by: who, ms: jump }, (s, { by, ms }) => {
    s.at(by).now = Math.max(0, s.at(by).now + ms)
    return undefined
  }),
  crash: op(1, { by: who }, (s, { by }) => {
    s.at(by).crash()
    return s.at(by)
  }),
  pack: op(1, { by: who }, (s, { by }) => {
    s.at(by).pack()
    return s.at(by)
  }),
  rebuild: op(1, { by: who }, (s, { by }) => {
    s.at(by).memory.rebuild()
    return s.at(by)
  }),
  old: op(3, { now: jump, events: several }, (s, { now, events }) => {
    s.sayOld(Math.max(0, s.at(0).now + now), events)
    return undefined
  }),
  strange: op(3, { now: jump, events: several }, (s, { now, events }) => {
    s.sayStrange(Math.max(0, s.at(0).now + now), events)
    return undefined
  }),
  hear: op(4, { to: who, which }, (s, { to, which }) => {
    if (s.outside.length === 0) return undefined
    for (const n of which) {
      const text = s.outside[n % s.outside.length]!
      if (!s.at(to).kept.has(nameIn(text))) s.give(s.at(to), [text])
    }
    return s.at(to)
  }),
  compact: op(2, { by: who, ago: fc.constantFrom(-DAY, -MINUTE, 0, 1, MINUTE, DAY) }, (s, { by, ago }) => {
    s.at(by).memory.compact(s.at(by).now - ago)
    return s.at(by)
  }),
  purge: op(1, { by: who, ref: fc.constantFrom('decision:one', 'decision:two') }, (s, { by, ref }) => {
    return acts(s.at(by), [['purge', { ref, reason: 'had to go' }]])
  }),
  tell: op(2, { by: who }, (s, { by }) => {
    return acts(s.at(by), [['record-decision', { name: 'one', description: 'hidden text', tags: ['hidden text'] }]])
  }),
  erase: op(1, { by: who }, (s, { by }) => {
    return acts(s.at(by), [['purge', { secret: 'hidden text', reason: 'had to go' }]])
  }),
  /** A copy of the file is put aside, and later put in its place: the store writes on as if nothing had happened. */
  save: op(1, { by: who }, (s, { by }) => {
    const p = s.at(by)
    p.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    p.saved = { path: p.path, file: join(s.dir, `${p.name}.saved`) }
    copyFileSync(p.path, p.saved.file)
    return undefined
  }),
  back: op(1, { by: who }, (s, { by }) => {
    const p = s.at(by)
    if (!p.saved) return undefined
    p.memory.close()
    for (const end of ['-wal', '-shm', '.bell']) if (existsSync(p.path + end)) rmSync(p.path + end)
    copyFileSync(p.saved.file, p.path)
    p.memory = open(p.path, { ...p.env, random: seeded(by + 77) })
    return p
  }),
  /** The user's keys are gone: what never left is said again under another identity. */
  keys: op(1, { by: who }, (s, { by }) => {
    const p = s.at(by)
    for (const replica of s.own(p)) s.gone.add(replica)
    p.state = mkdtempSync(join(s.dir, 'state-'))
    p.here(() => p.memory.signAnew())
    return p
  }),
  /** Somebody copies a whole machine: two stores write under one identity. */
  twin: op(1, { by: who }, (s, { by }) => {
    if (s.players.length >= 5) return undefined
    const from = s.at(by)
    from.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const name = `r${s.players.length}`
    const p = new Player(s.dir, name, 9000 + s.players.length, from.path)
    p.now = from.now
    for (const [at, line] of from.seen) p.seen.set(at, line)
    p.state = from.state
    p.memory.db.write(() => setMeta(p.memory.db, 'inode', String(statSync(p.path).ino)))
    s.add(p)
    return p
  }),
}
export type OpName = keyof typeof OPS

function acts(p: Player, actions: readonly unknown[]): Player {
  try {
    p.here(() => p.act(actions))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
  return p
}

export type Step = readonly [OpName, never]
export interface Play {
  readonly replicas: number
  readonly seed: number
  readonly steps: readonly Step[]
}

export const plays = (names: readonly OpName[]): fc.Arbitrary<Play> =>
  fc.record({
    replicas: fc.integer({ min: 2, max: 4 }),
    seed: fc.nat({ max: 0xffffffff }),
    steps: fc.array(
      fc.oneof(...names.map((name) => ({ weight: OPS[name].weight, arbitrary: OPS[name].with.map((given): Step => [name, given]) }))),
      { minLength: 2, maxLength: 30, size: 'max' },
    ),
  }) // biome-ignore format: one thought

/** Plays it through, with real stores. */
export function play({ replicas, seed, steps }: Play, stage = new Stage(replicas, seed)): void {
  try {
    for (const [i, [name, given]] of steps.entries()) {
      const touched = OPS[name].does(stage, given)
      if (touched) stage.check(touched, `after step ${i} (${name})`)
    }
    stage.exchange()
    const alike = new Map<string, string>()
    let everybody: string[] | undefined
    for (const p of stage.players) {
      stage.check(p, 'at the end')
      const now = JSON.stringify(dump(p.memory))
      if (!isDeepStrictEqual(folded(p.memory), read(p.memory))) throw new Error(`events and rows of ${p.name} differ`)
      p.crash()
      p.memory.rebuild()
      if (JSON.stringify(dump(p.memory)) !== now) throw new Error(`rebuilt, ${p.name} is different`)
      // nobody is mute for those from whom nothing is kept. An erasure of what others wrote counts where it was decided alone
      const lines = [...p.admitted(stage)]
      // what an identity that is gone wrote and its store has erased is sent to nobody any more
      const isErasing = stage.players.some((other) => stage.marksIn(other).length > 0)
      const isKnown = (name: string) => !isErasing || !stage.gone.has(name.split(':')[0]!)
      // and what it asked to have erased is sent on by nobody who has it
      const isWithheld = isErasing && stage.gone.size > 0
      const names = lines.map(nameIn).filter(isKnown).sort()
      everybody ??= p.kept.size === 0 ? names : undefined
      if (p.kept.size === 0 && !isDeepStrictEqual(names, everybody))
        throw new Error(`${p.name} admits ${names}, another ${everybody}`)
      const marks = stage.marksIn(p).map((m) => JSON.stringify(m))
      const deciding = marks.length === 0 ? [] : stage.own(p).map((name) => name.slice(4))
      const admitted = JSON.stringify(
        [p.kept.size > 0 || isWithheld ? lines.sort() : 'all', new Set(marks.sort()), new Set(deciding.sort())].map(
          (x) => (x instanceof Set ? [...x] : x),
        ),
      )
      if ((alike.get(admitted) ?? now) !== now)
        throw new Error(`${p.name} differs from one with the same lines:\n${now}\n${alike.get(admitted)}`)
      alike.set(admitted, now)
    }
  } finally {
    stage.close()
  }
}
