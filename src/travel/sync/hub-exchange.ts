import { attempt, messageOf, UserError } from '../../base/errors.ts'
import { MAX_LEAD_MS } from '../../engine/log/clock.ts'
import type { Memory } from '../../engine/memory.ts'
import { travelsFrom } from '../../engine/read/travels.ts'
import { parseSnapshot, type SignedSnapshot } from '../../engine/replication/compaction.ts'
import { stored } from '../../engine/store/db.ts'
import { isAsked } from '../../engine/store/held.ts'
import { handleOf, isKeyed } from '../../engine/store/keys.ts'
import { isStandIn, type Line, parseLine } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { EXCHANGE, getMeta, setMeta } from '../../engine/store/meta.ts'
import { isOwnReplica, keepLeft } from '../../engine/store/own-lines.ts'
import { addRange, inRanges, missingIn, type Range } from '../../engine/store/ranges.ts'
import { isOfStore } from '../../engine/store/store-error.ts'
import { summaryOf } from '../../engine/store/summary.ts'
import type { Joined } from '../../engine/store/user-state.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import { isProjectId } from '../../model/names.ts'
import type { JsonObject } from '../../model/object.ts'
import { HubLink } from './hub-link.ts'
import { type Frame, keyOf, MOST_FRAME, PAGE_BYTES, PAGE_UPDATES, replicaOfKey } from './hub-protocol.ts'
import { type Held, unsent } from './publish.ts'
import { byHalves, count, isWanted, linesAtOnce, type Received } from './receive.ts'
import { isSnapshot } from './segments.ts'
import { sharedPart } from './share.ts'
import { checkFirstLines, checkSnapshot } from './signatures.ts'

/** How far the exchange with a hub has come; kept in the store, so that it goes back with the store. */
interface Progress {
  log: string
  /** Up to where it was read, and what stands there. */
  n: number
  mark?: string
  /** Where the last update stands that was acknowledged, and what it was. */
  top?: Json
  /** Which lines of each replica it has. Of 0.1.0 up to which own one was pushed. */
  sent: { [replica: string]: readonly Range[] | number }
  /** What was erased of own lines when they were pushed. */
  erased?: string
  /** The first update that could not be read, how many there were, and what this Tidemark knew then. */
  odd?: { from: number; knows: number; count?: number; first?: string }
  names?: { [user: string]: string }
}

const PROGRESS = EXCHANGE.hub
const PUSH_LINES = 5_000
const KNOWS = 2
const MOST_ASKED = 200

export interface Exchanged extends Pick<Received, 'applied' | 'back' | 'gaps'> {
  odd: { n: number; why: string }[]
  pushed: string[]
  staying: number
  held?: Held
  /** Why the hub took something not. */
  refused?: string
  /** How far the clock here is ahead of the hub's, in ms, if that is too far. */
  ahead?: number
}

/** One store's exchange with its hub: takes in what comes as long as it is open, and pushes what is new when asked. */
export class HubExchange {
  readonly out: Exchanged = { applied: 0, back: 0, gaps: 0, odd: [], pushed: [], staying: 0 }
  readonly #memory: Memory
  readonly link: HubLink
  #log = ''
  #n = 0
  /** Up to where pages have come in, taken in or not. */
  #got = 0
  #caughtUp: { n: number; done(): void } | undefined
  #pages: Frame[] = []
  #atOnce = 0
  /** The hub takes lines of others, gives single ones, and asks around for them. */
  #relays = false
  readonly #asked = new Set<string>()
  #failed: ((error: unknown) => void) | undefined
  member = ''
  role = ''

  /** `said` hears of claims and sessions elsewhere. */
  constructor(memory: Memory, joined: Joined, said?: (head: JsonObject) => void, gone?: (error: UserError) => void) {
    this.#memory = memory
    this.link = new HubLink(joined, memory.projectId, {
      frame: (frame) => {
        const { head } = frame
        if (head.t === 'welcome') this.#welcome(head)
        else if (head.t === 'updates') this.#take(frame)
        else if (head.t === 'wanted' && Array.isArray(head.keys)) void this.#giveWanted(head.keys).catch(() => {})
        else
          try {
            said?.(head)
          } catch (error) {
            memory.env.log(`tidemark: the hub: ${(error as Error).message}`) // it is not to end this process
          }
      },
      gone: (error) => {
        this.#failed?.(error)
        gone?.(error)
      },
    })
  }

  #progress(): Progress {
    const known = stored<Progress | null>(getMeta(this.#memory.db, PROGRESS) ?? 'null')
    return known && (this.#log === '' || known.log === this.#log) ? known : { log: this.#log, n: 0, sent: {} }
  }

  #keep(change: (p: Progress) => { [K in keyof Progress]?: Progress[K] | undefined }): void {
    this.#memory.db.write(() => {
      const before = this.#progress()
      setMeta(this.#memory.db, PROGRESS, JSON.stringify({ ...before, ...change(before) }))
    })
  }

  async start(): Promise<void> {
    const known = this.#progress()
    this.#atOnce = linesAtOnce(this.#memory.db)
    const again = known.odd && known.odd.knows < KNOWS
    const since = (this.#got = again ? 0 : known.n)
    const { head } = await this.link.hello(since, again ? undefined : known.mark, known.top)
    await this.#upTo(Number(head) || 0)
    await this.#askMissing()
  }

  #welcome(said: JsonObject): void {
    const known = this.#progress()
    this.#log = String(said.log)
    this.member = String(said.member)
    this.role = String(said.role)
    // another log, or this one from a backup: everything is said again, and what is there already stays as it is
    const isOther = said.reset === true || known.log !== this.#log
    if (isOther) this.#keep(() => ({ log: this.#log, n: 0, mark: undefined, top: undefined, sent: {}, erased: '' }))
    else if (known.odd && known.odd.knows < KNOWS) this.#keep((p) => ({ ...p, odd: undefined }))
    this.#n = isOther ? 0 : known.n
    if (said.reset === true) this.#got = 0
    this.#relays = said.relays === true
    const ahead = typeof said.now === 'number' ? this.#memory.env.now() - said.now : 0
    if (Math.abs(ahead) > MAX_LEAD_MS) this.out.ahead = ahead
  }

  #upTo(n: number): Promise<void> {
    if (this.#n >= n) return Promise.resolve()
    return new Promise((done, failed) => {
      this.#caughtUp = { n, done }
      this.#failed = failed
      if (this.link.error) failed(this.link.error) // it may be lost in the moment of the welcome
    })
  }

  readonly [Symbol.dispose] = (): void => this.link.close()

  #take(page: Frame): void {
    const { head } = page
    // on a network of any kind: what comes twice is there, and before what is missing nothing is taken
    if (this.#log === '' || Number(head.after ?? this.#got) < this.#got) return
    if (Number(head.after ?? this.#got) > this.#got) return void this.link.fail('an update was lost on the way')
    this.#got = Number(head.last)
    this.#pages.push(page)
    const isLast = !this.#caughtUp || Number(head.last) >= this.#caughtUp.n
    while (this.#pages.length > 0 && this.#takePages(isLast)) {}
  }

  #takePages(isLast: boolean): boolean {
    if (!isLast && this.#pages.reduce((n, p) => n + p.updates.length, 0) < this.#atOnce) return false
    let n = 0
    const full = this.#pages.findIndex((p) => (n += p.updates.length) >= this.#atOnce)
    const pages = this.#pages.splice(0, full < 0 ? this.#pages.length : full + 1)
    const { head } = pages.at(-1)!
    try {
      const found = pages.flatMap(({ head: { items }, updates }) => {
        const known = Array.isArray(items) ? items : []
        return updates.map((text, i) => this.#read(text, known[i]))
      })
      byHalves(found, (some) => this.#apply(some))
      const last = typeof head.last === 'number' && head.last > this.#n ? head.last : this.#n
      const odd = found.flatMap(({ n, why, member, of }) => (why === undefined ? [] : [{ n, why, member, of }]))
      this.out.odd = [...this.out.odd, ...odd].slice(-100)
      const { env, db } = this.#memory
      this.#keep((p) => {
        const left = this.#left(p, odd)
        // one line, however many there are
        if (left.odd) log.finding(db, `hub:${this.#log}`, env.now(), saidLeft(left.odd, this.#memory.projectId))
        const names = this.#names(p, found)
        const lines = found.flatMap((f) => (f.line && f.why === undefined ? [f.line] : []))
        return {
          n: last,
          sent: withLines(p.sent, lines),
          ...(typeof head.mark === 'string' ? { mark: head.mark } : {}),
          ...(names ? { names } : {}),
          ...left,
        }
      })
      this.#n = last
      if (this.#caughtUp && this.#n >= this.#caughtUp.n) {
        this.#caughtUp.done()
        this.#caughtUp = undefined
      } else if (!this.#caughtUp) void this.#askMissing().catch(() => {})
      return true
    } catch (error) {
      this.#failed?.(error)
      this.link.fail((error as Error).message)
      return false
    }
  }

  /** What is known of updates that were left out, with some more of them. */
  #left({ odd }: Progress, more: readonly Pick<Read, 'n' | 'why' | 'member' | 'of'>[]): Pick<Progress, 'odd'> {
    const [one] = more
    if (!one) return {}
    const first = odd?.first ?? `update ${one.n}, of replica ${one.of ?? 'unknown'} by ${one.member}: ${one.why}`
    const from = Math.min(odd?.from ?? one.n, one.n)
    return { odd: { from, knows: KNOWS, count: (odd?.count ?? 0) + more.length, first } }
  }

  #apply(found: readonly Read[]): boolean {
    const lines = found.flatMap((f) => f.line ?? [])
    const snapshots = found.flatMap((f) => f.snapshot ?? [])
    if (lines.length + snapshots.length === 0) return true
    try {
      checkFirstLines(this.#memory, lines)
      for (const s of snapshots) checkSnapshot(this.#memory, s)
      const taken = this.#memory.applyLines({ lines, snapshots })
      count(this.out, taken)
      for (const { line, why } of taken.refused) {
        const of = found.find((f) => f.line && `${f.line.replica}:${f.line.seq}` === line)
        if (of) of.why = why
      }
      return true
    } catch (error) {
      if (isOfStore(error)) throw error
      if (found.length === 1) found[0]!.why = messageOf(error)
      return false
    }
  }

  /** Reads an update of others. The hub says under which replica it was pushed: nobody writes under that of another. */
  #read(text: string, item: unknown): Read {
    const [n, key, member] = Array.isArray(item) ? item : []
    const replica = replicaOfKey(key)
    const read: Read = { n: Number(n) || 0, member: String(member), of: replica }
    try {
      if (replica === undefined) read.why = 'it does not say where it was written'
      else if (isSnapshot(text)) {
        const snapshot = parseSnapshot(text, (of) => handleOf(of) === replica)
        if (!snapshot) read.why = 'its snapshot is none of this replica'
        else if (isWanted(this.#memory.db, snapshot)) read.snapshot = snapshot
      } else {
        const line = parseLine(text)
        if (handleOf(line.replica) === replica) read.line = line
        else read.why = `it was pushed as of ${replica}, and is of ${line.replica}`
      }
    } catch (error) {
      read.why = messageOf(error)
    }
    return read
  }

  /** Keeps whose name a member's batches bear; that of another member is told. */
  #names(p: Progress, found: readonly Read[]): Progress['names'] {
    const names = { ...p.names }
    for (const { line, member } of found) {
      const user = line?.author.user
      if (user === undefined) continue
      const whose = Object.hasOwn(names, user) ? names[user]! : (names[user] = member)
      if (whose === member) continue
      const text = `${member} pushed batches to the hub that say they are by ${user}, as those of ${whose} do`
      log.finding(this.#memory.db, `hub-name:${line!.replica}`, this.#memory.env.now(), text)
    }
    return Object.keys(names).length > Object.keys(p.names ?? {}).length ? names : undefined
  }

  /** Pushes what leaves of this store and was not pushed yet. Returns when the hub has it on its disk. */
  async push(): Promise<void> {
    this.out.pushed.length = 0
    this.out.staying = 0
    if (this.role !== 'reader') {
      this.#memory.signAnew()
      while (await this.#pushSome()) {}
      await this.#relay(this.#lacking())
    } else if (unsentLines(this.#memory, 1) > 0) this.out.refused = 'read-only'
  }

  /** Pushes as many as are put together before the hub misses a sign of life; whether more are left. */
  async #pushSome(): Promise<boolean> {
    const progress = this.#progress()
    const purges = log.allPurges(this.#memory.db)
    const erased = purges.length === 0 ? '' : sha256(JSON.stringify(purges))
    // what was erased is taken from the hub too: it is said again, each in the place of what it was
    const again = erased !== (progress.erased ?? '')
    const most = again ? Number.POSITIVE_INFINITY : PUSH_LINES
    const all = unsent(this.#memory, (replica) => (again ? [] : sentOf(progress, replica)), most).map((own) => ({
      ...own,
      lines: own.lines.filter((line) => line.partial || !inRanges(sentOf(progress, own.replica), line.seq)),
    }))
    this.out.staying += all.reduce((n, own) => n + own.staying, 0)
    this.out.held = all.find((own) => own.held)?.held
    const print = this.#memory.printer()
    const called = (id: string) => this.#memory.reader.entity(id)?.name
    for (const { replica, lines, snapshot } of all) {
      const said = new Set(lines.map((l) => l.seq))
      // a snapshot says all that the lines before it said
      const folded = again && snapshot ? numbersIn(snapshot.ranges) : []
      const purged = again ? purges.filter((p) => p.replica === replica && !said.has(p.seq)).map((p) => p.seq) : []
      const handle = handleOf(replica)
      // each is signed when its turn comes: the hub hears of this machine in between
      const items = function* (): Generator<Item> {
        if (snapshot) yield { key: keyOf(handle, 'snapshot'), text: snapshot.text, ranges: snapshot.ranges }
        for (const seq of new Set([...folded, ...purged])) yield { key: keyOf(handle, seq), text: '', ranges: [] }
        for (const l of lines)
          yield { key: keyOf(handle, l.seq), text: print(l), ranges: [[l.from, l.seq]], sum: summaryOf(l, called) }
      }
      for (const part of portions(items())) {
        const over = again ? part.map((_, i) => i) : part.flatMap(({ key }, i) => (key.endsWith('snapshot') ? [i] : []))
        const answer = await this.#ask(part, over.length > 0 ? { over } : {})
        const [first] = Array.isArray(answer.refused) ? (answer.refused as [number, string][]) : []
        if (answer.code !== undefined || first) {
          this.out.refused = String(answer.code ?? first![1])
          return false
        }
        const top = answer.top === undefined || part.at(-1)!.text === '' ? {} : { top: answer.top }
        this.#keep((p) => {
          const ranges = part.flatMap((i) => i.ranges)
          keepLeft(this.#memory.db, replica, ranges)
          return { ...top, sent: withRanges(p.sent, replica, ranges) }
        })
        this.out.pushed.push(...part.flatMap((i) => (i.sum === undefined ? [] : [i.sum])))
      }
    }
    if (again) this.#keep(() => ({ erased }))
    return all.some((own) => own.lines.length >= most)
  }

  #ask(part: readonly Item[], more: JsonObject): Promise<JsonObject> {
    const texts = part.map((i) => i.text)
    return this.link.ask({ t: 'push', keys: part.map((i) => i.key), ...more }, texts)
  }

  /** Lines of others that the hub does not have: they came through git, say. Who has them sends them. */
  #lacking(): Line[] {
    const { db } = this.#memory
    if (!this.#relays) return []
    const progress = this.#progress()
    const lacking: Line[] = []
    for (const [replica, ranges] of log.known(db)) {
      if (!isKeyed(replica) || isOwnReplica(db, replica)) continue
      for (const range of ranges)
        for (const [from, to] of missingIn([...sentOf(progress, replica)], range))
          for (const line of log.linesBetween(db, replica, from, to)) {
            if (log.declinedAs(db, line) === undefined && !isStandIn(line)) lacking.push(line)
            if (lacking.length >= PUSH_LINES) return lacking
          }
    }
    return lacking
  }

  /** Sends lines of others, as they were signed. What the hub does not want of them is not offered again. */
  async #relay(lines: readonly Line[]): Promise<void> {
    if (lines.length === 0 || !this.#relays || this.role === 'reader') return
    const travels = travelsFrom(this.#memory.db, this.#memory.registry())
    const print = this.#memory.printer()
    const items = function* (): Generator<Item> {
      for (const line of lines) {
        const part = sharedPart(line, travels)
        if (part)
          yield { key: keyOf(handleOf(line.replica), line.seq), text: print(part), ranges: [[line.from, line.seq]] }
      }
    }
    for (const part of portions(items())) await this.#ask(part, { relay: true })
    this.#keep((p) => ({ sent: withLines(p.sent, lines) }))
  }

  /** Asks the hub for batches that later ones name; it asks the others for what it does not have. */
  async #askMissing(): Promise<void> {
    while (this.#relays) {
      const keys = log
        .gaps(this.#memory.db)
        .filter((g) => isKeyed(g.replica))
        .map((g) => keyOf(handleOf(g.replica), g.seq))
        .filter((key) => !this.#asked.has(key))
        .slice(0, MOST_ASKED)
      if (keys.length === 0) return
      for (const key of keys) this.#asked.add(key)
      const answer = await this.link.ask({ t: 'lines', keys })
      const texts = Array.isArray(answer.lines) ? answer.lines.filter((text) => typeof text === 'string') : []
      const found = texts.map((text) => this.#read(text, [0, keyIn(text), '']))
      byHalves(found, (some) => this.#apply(some))
    }
  }

  async #giveWanted(keys: readonly unknown[]): Promise<void> {
    const { db } = this.#memory
    const wanted = keys.slice(0, MOST_ASKED).flatMap((key) => {
      const handle = replicaOfKey(key)
      const seq = Number(String(key).split(':')[1])
      const replica = [...log.known(db).keys()].find((r) => isKeyed(r) && handleOf(r) === handle)
      return (replica === undefined ? undefined : log.lineOf(db, replica, seq)) ?? []
    })
    const isSent = (line: Line) =>
      !line.local && !isStandIn(line) && log.declinedAs(db, line) === undefined && !isAsked(db, line)
    await this.#relay(wanted.filter(isSent))
  }
}

const sentOf = ({ sent }: Pick<Progress, 'sent'>, replica: string): Range[] => {
  const known = sent[replica] ?? []
  return typeof known === 'number' ? (known > 0 ? [[1, known]] : []) : [...known]
}

const withRanges = (sent: Progress['sent'], replica: string, ranges: readonly Range[]): Progress['sent'] => ({
  ...sent,
  [replica]: ranges.reduce((all, [from, to]) => addRange(all, from, to), sentOf({ sent }, replica)),
})

const withLines = (sent: Progress['sent'], lines: readonly Line[]): Progress['sent'] =>
  [...Map.groupBy(lines, (l) => l.replica)]
    .map(([of, own]) => [of, own.map((l) => [l.from, l.seq])] as [string, Range[]])
    .reduce((all, [replica, own]) => withRanges(all, replica, own), sent)

const numbersIn = (ranges: readonly Range[]): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))

function keyIn(text: string): string {
  const line = attempt(() => parseLine(text))
  return line ? keyOf(handleOf(line.replica), line.seq) : ''
}

/** How many batches of this machine the hub does not have yet; no more than `most` of each identity are looked for. */
export function unsentLines(memory: Memory, most?: number): number {
  const known = stored<Progress | null>(getMeta(memory.db, PROGRESS) ?? 'null')
  const all = unsent(memory, (replica) => (known ? sentOf(known, replica) : []), most)
  return all.reduce((n, own) => n + own.lines.length, 0)
}

interface Read {
  n: number
  member: string
  of: string | undefined
  line?: Line
  snapshot?: SignedSnapshot
  why?: string
}

const saidLeft = ({ count = 1, first = '' }: NonNullable<Progress['odd']>, project: string): string =>
  `${count === 1 ? 'an update' : `${count} updates`} of the hub left out, the first is ${first}; who runs the hub takes a replica out with \`tidemark hub drop ${project} REPLICA\``

type Item = { key: string; text: string; ranges: readonly Range[]; sum?: string }

function* portions(items: Iterable<Item>): Generator<Item[]> {
  let part: Item[] = []
  let size = 0
  for (const item of items) {
    if (item.text.length > MOST_FRAME / 4) {
      const hint = 'share it through git: `tidemark sync` has written it to .tidemark/log/'
      throw new UserError('too-large', `${item.key} is too large for a hub (${item.text.length} characters)`, hint)
    }
    if (part.length > 0 && (size + item.text.length > PAGE_BYTES || part.length >= PAGE_UPDATES)) {
      yield part
      part = []
      size = 0
    }
    part.push(item)
    size += item.text.length
  }
  if (part.length > 0) yield part
}

export async function exchangeOnce(memory: Memory, joined: Joined): Promise<Exchanged> {
  if (!isProjectId(memory.projectId))
    throw new UserError('bad-hub', `the id ${memory.projectId} cannot be used with a hub`)
  using exchange = new HubExchange(memory, joined)
  await exchange.start()
  await exchange.push()
  return exchange.out
}
