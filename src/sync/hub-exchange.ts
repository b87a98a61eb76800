import { UserError } from '../errors.ts'
import type { Memory } from '../memory.ts'
import { sha256 } from '../model/digest.ts'
import type { Json } from '../model/field.ts'
import type { JsonObject } from '../model/object.ts'
import { parseSnapshot } from '../replication/compaction.ts'
import { stored } from '../store/db.ts'
import { type Line, parseLine } from '../store/line.ts'
import * as log from '../store/log.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import type { Joined } from '../store/state.ts'
import { isOfStore } from '../store/store-error.ts'
import { isOwnReplica } from '../store/trust.ts'
import { type Frame, isProjectId, keyOf, MOST_FRAME, PAGE_BYTES, PAGE_UPDATES, replicaOfKey } from './frames.ts'
import { HubLink } from './hub-link.ts'
import { type Held, unsentAfter } from './publish.ts'
import { isMuch, ReadAhead } from './read-ahead.ts'
import { LINES_AT_ONCE, linesAtOnce } from './receive.ts'
import { isSnapshot } from './segments.ts'
import { checkSigned, type SignedSnapshot, signer, snapshotSignature } from './signatures.ts'

/** How far the exchange with a hub has come; kept in the store, so that it goes back with the store. */
interface Progress {
  /** The hub's log. */
  log: string
  /** Up to where it was read, and what stands there. */
  n: number
  mark?: string
  /** Where the last update stands that was acknowledged, and what it was. */
  top?: Json
  /** Up to which line each own identity was pushed. */
  sent: { [replica: string]: number }
  /** What was erased of own lines when they were pushed. */
  erased?: string
  /** The first update that could not be read, and what this Tidemark knew then. */
  odd?: { from: number; knows: number }
  /** Whose name each member's batches bear. */
  names?: { [user: string]: string }
}

const PROGRESS = 'hub'
const PUSH_LINES = 5_000
/** So many more are with the worker while some are taken in. */
const LINES_AHEAD = 1_500
/** Grows with what `parseLine` can read: what could not be read is asked for again. */
const KNOWS = 1

export interface Exchanged {
  /** Batches of others that were new here. */
  applied: number
  parked: number
  /** Updates that could not be taken, and why. */
  odd: { n: number; why: string }[]
  /** Batches pushed, as a reviewer reads them. */
  pushed: string[]
  staying: number
  held?: Held
  /** Why the hub took something not. */
  refused?: string
}

export interface ExchangeOptions {
  claims?(held: unknown[]): void
  presence?(said: JsonObject): void
  gone?(error: UserError): void
}

/** One store's exchange with its hub: takes in what comes as long as it is open, and pushes what is new when asked. */
export class HubExchange {
  readonly out: Exchanged = { applied: 0, parked: 0, odd: [], pushed: [], staying: 0 }
  readonly #memory: Memory
  readonly #link: HubLink
  #log = ''
  #n = 0
  /** Up to where pages have come in, taken in or not. */
  #got = 0
  #caughtUp: { n: number; done(): void } | undefined
  /** Pages that are taken in together with the next ones. */
  #pages: Frame[] = []
  #atOnce = 0
  /** During a large first sync: it reads the pages that have come. */
  #ahead: ReadAhead | undefined
  #failed: ((error: unknown) => void) | undefined
  member = ''
  role = ''

  constructor(memory: Memory, joined: Joined, { claims, presence, gone }: ExchangeOptions = {}) {
    this.#memory = memory
    this.#link = new HubLink(joined, memory.projectId, {
      welcome: (head) => this.#welcome(head),
      updates: (frame) => this.#take(frame),
      claims: (held) => this.#guarded(() => claims?.(held)),
      presence: (said) => this.#guarded(() => presence?.(said)),
      gone: (error) => {
        this.#failed?.(error)
        gone?.(error)
      },
    })
  }

  /** What a hub says is not to end this process. */
  #guarded(body: () => void): void {
    try {
      body()
    } catch (error) {
      this.#memory.env.log(`tidemark: the hub: ${(error as Error).message}`)
    }
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

  /** Connects, and takes in all that the hub has. */
  async start(): Promise<void> {
    const known = this.#progress()
    this.#atOnce = linesAtOnce(this.#memory.db)
    const again = known.odd && known.odd.knows < KNOWS
    const since = (this.#got = again ? 0 : known.n)
    const { head } = await this.#link.hello(since, again ? undefined : known.mark, known.top)
    await this.#upTo(Number(head) || 0)
    this.#stopReading()
  }

  #stopReading(): void {
    this.#ahead?.close()
    this.#ahead = undefined
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
    if (this.#atOnce > LINES_AT_ONCE && isMuch(Number(said.head) - this.#n)) this.#ahead ??= new ReadAhead()
  }

  #upTo(n: number): Promise<void> {
    if (this.#n >= n) return Promise.resolve()
    return new Promise((done, failed) => {
      this.#caughtUp = { n, done }
      this.#failed = failed
    })
  }

  ask(head: JsonObject): Promise<JsonObject> {
    return this.#link.ask(head)
  }

  tell(head: JsonObject): void {
    this.#link.tell(head)
  }

  close(): void {
    this.#stopReading()
    this.#link.close()
  }

  /** Takes in a page of the hub's log. Where more follow at once, several are taken together. */
  #take(page: Frame): void {
    const { head } = page
    // on a network of any kind: what comes twice is there, and before what is missing nothing is taken
    if (this.#log === '' || Number(head.after ?? this.#got) < this.#got) return
    if (Number(head.after ?? this.#got) > this.#got) {
      this.#link.fail('an update was lost on the way')
      return
    }
    this.#got = Number(head.last)
    this.#pages.push(page)
    this.#ahead?.give(page.updates)
    const isLast = !this.#caughtUp || Number(head.last) >= this.#caughtUp.n
    while (this.#pages.length > 0 && this.#takePages(isLast)) {}
  }

  #takePages(isLast: boolean): boolean {
    const size = this.#pages.reduce((n, p) => n + p.updates.length, 0)
    if (!isLast && size < this.#atOnce + (this.#ahead ? LINES_AHEAD : 0)) return false
    let n = 0
    const full = this.#pages.findIndex((p) => (n += p.updates.length) >= this.#atOnce)
    const pages = this.#pages.splice(0, full < 0 ? this.#pages.length : full + 1)
    const { head } = pages.at(-1)!
    try {
      const found = pages.flatMap(({ head: { items }, updates }) => {
        const known = Array.isArray(items) ? items : []
        const ready = this.#ahead?.take()
        return updates.map((text, i) => this.#read(text, known[i], ready?.[i]))
      })
      this.#takeIn(found)
      const last = typeof head.last === 'number' && head.last > this.#n ? head.last : this.#n
      const odd = found.flatMap(({ n, why, member }) => (why === undefined ? [] : [{ n, why, member }]))
      this.out.odd = [...this.out.odd, ...odd].slice(-100)
      const { env, db } = this.#memory
      this.#keep((p) => {
        for (const { n, why, member } of odd)
          log.finding(
            db,
            `hub:${this.#log}:${n}`,
            env.now(),
            `update ${n} of the hub, by ${member}, was left out: ${why}`,
          )
        const names = this.#names(p, found)
        return {
          n: last,
          ...(typeof head.mark === 'string' ? { mark: head.mark } : {}),
          ...(names ? { names } : {}),
          ...(odd.length > 0 ? { odd: { from: Math.min(p.odd?.from ?? odd[0]!.n, odd[0]!.n), knows: KNOWS } } : {}),
        }
      })
      this.#n = last
      if (this.#caughtUp && this.#n >= this.#caughtUp.n) {
        this.#caughtUp.done()
        this.#caughtUp = undefined
      }
      return true
    } catch (error) {
      this.#failed?.(error)
      this.#link.fail((error as Error).message)
      return false
    }
  }

  /** One that cannot be taken is not to keep the others out. */
  #takeIn(found: readonly Read[]): void {
    const lines = found.flatMap((f) => (f.line ? [f.line] : []))
    const snapshots = found.flatMap((f) => (f.snapshot ? [f.snapshot] : []))
    if (lines.length + snapshots.length === 0 || this.#apply(lines, snapshots)) return
    if (found.length === 1) found[0]!.why = this.#why
    else {
      const half = found.length >> 1
      this.#takeIn(found.slice(0, half))
      this.#takeIn(found.slice(half))
    }
  }

  #why = ''
  #apply(lines: Line[], snapshots: SignedSnapshot[]): boolean {
    try {
      checkSigned(this.#memory, lines, snapshots)
      const { applied, parked } = this.#memory.applyLines({ lines, snapshots })
      this.out.applied += applied
      this.out.parked = parked
      return true
    } catch (error) {
      if (isOfStore(error)) throw error
      this.#why = error instanceof Error ? error.message : String(error)
      return false
    }
  }

  /** Reads an update of others. The hub says under which replica it was pushed: nobody writes under that of another. */
  #read(text: string, item: unknown, ready: Line | undefined): Read {
    const [n, key, member] = Array.isArray(item) ? item : []
    const read: Read = { n: Number(n) || 0, member: String(member) }
    const replica = replicaOfKey(key)
    try {
      if (replica === undefined) read.why = 'it does not say where it was written'
      else if (isSnapshot(text)) {
        const snapshot = parseSnapshot(text, replica)
        if (!snapshot) read.why = 'its snapshot is none of this replica'
        else if (!isOwnReplica(this.#memory.db, replica)) read.snapshot = { ...snapshot, by: snapshotSignature(text) }
      } else {
        const line = ready ?? parseLine(text)
        if (line.replica === replica) read.line = line
        else read.why = `it was pushed as of ${replica}, and is of ${line.replica}`
      }
    } catch (error) {
      read.why = error instanceof Error ? error.message : String(error)
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
    if (this.role !== 'reader') while (await this.#pushSome()) {}
    else if (unsentLines(this.#memory, 1) > 0) this.out.refused = 'read-only'
  }

  /** Pushes as many as are put together before the hub misses a sign of life; whether more are left. */
  async #pushSome(): Promise<boolean> {
    const { db } = this.#memory
    const progress = this.#progress()
    const purges = log.allPurges(db)
    const erased = purges.length === 0 ? '' : sha256(JSON.stringify(purges))
    // what was erased is taken from the hub too: it is said again, each in the place of what it was
    const again = erased !== (progress.erased ?? '')
    const sentOf = (replica: string) => progress.sent[replica] ?? 0
    const most = again ? Number.POSITIVE_INFINITY : PUSH_LINES
    const all = unsentAfter(this.#memory, (replica) => (again ? 0 : sentOf(replica)), most).map((own) => ({
      ...own,
      lines: own.lines.filter((line) => line.seq > sentOf(own.replica) || line.substitute),
    }))
    this.out.staying += all.reduce((n, own) => n + own.staying, 0)
    this.out.held = all.find((own) => own.held)?.held
    for (const { replica, lines, snapshot } of all) {
      const said = new Set(lines.map((l) => l.seq))
      // a snapshot says all that the lines before it said
      const folded = again && snapshot ? Array.from({ length: snapshot.upTo }, (_, i) => i + 1) : []
      const purged = again ? purges.filter((p) => p.replica === replica && !said.has(p.seq)).map((p) => p.seq) : []
      const print = signer(this.#memory)
      // each is signed when its turn comes: the hub hears of this machine in between
      const items = function* (): Generator<Item> {
        if (snapshot) yield { key: keyOf(replica, 'snapshot'), text: snapshot.text, seq: snapshot.upTo }
        for (const seq of new Set([...folded, ...purged])) yield { key: keyOf(replica, seq), text: '', seq: 0 }
        for (const l of lines) yield { key: keyOf(replica, l.seq), text: print(l), seq: l.seq, sum: l.summary }
      }
      for (const part of portions(items())) {
        const over = again ? part.map((_, i) => i) : part.flatMap(({ key }, i) => (key.endsWith('snapshot') ? [i] : []))
        const keys = part.map((i) => i.key)
        const answer = await this.#link.ask(
          { t: 'push', keys, ...(over.length > 0 ? { over } : {}) },
          part.map((i) => i.text),
        )
        const [first] = Array.isArray(answer.refused) ? (answer.refused as [number, string][]) : []
        if (answer.code !== undefined || first) {
          this.out.refused = String(answer.code ?? first![1])
          return false
        }
        const upTo = Math.max(...part.map((i) => i.seq))
        const top = answer.top === undefined || part.at(-1)!.text === '' ? {} : { top: answer.top }
        this.#keep((p) => ({ ...top, sent: { ...p.sent, [replica]: Math.max(upTo, p.sent[replica] ?? 0) } }))
        this.out.pushed.push(...part.flatMap((i) => (i.sum === undefined ? [] : [i.sum])))
      }
    }
    if (again) this.#keep(() => ({ erased }))
    return all.some((own) => own.lines.length >= most)
  }
}

/** How many batches of this machine the hub does not have yet; no more than `most` of each identity are looked for. */
export function unsentLines(memory: Memory, most?: number): number {
  const known = stored<Progress | null>(getMeta(memory.db, PROGRESS) ?? 'null')
  return unsentAfter(memory, (replica) => known?.sent[replica] ?? 0, most).reduce((n, own) => n + own.lines.length, 0)
}

interface Read {
  n: number
  member: string
  line?: Line
  snapshot?: SignedSnapshot
  why?: string
}

interface Item {
  key: string
  text: string
  seq: number
  sum?: string
}

/** What is pushed at a time. */
function* portions(items: Iterable<Item>): Generator<Item[]> {
  let part: Item[] = []
  let size = 0
  for (const item of items) {
    if (item.text.length > MOST_FRAME / 4)
      throw new UserError(
        'too-large',
        `${item.key} is too large for a hub (${item.text.length} characters)`,
        'share it through git: `tidemark sync` has written it to .tidemark/log/',
      )
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

/** Exchanges everything once, and hangs up. */
export async function exchangeOnce(memory: Memory, joined: Joined): Promise<Exchanged> {
  if (!isProjectId(memory.projectId))
    throw new UserError('bad-hub', `the id ${memory.projectId} cannot be used with a hub`)
  const exchange = new HubExchange(memory, joined)
  try {
    await exchange.start()
    await exchange.push()
    return exchange.out
  } finally {
    exchange.close()
  }
}
