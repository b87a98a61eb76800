// What of a hub gives first as it grows: a simulation, with what `bench hub` measured. Not a measurement of a large hub.
import { seededBytes } from '../test/helpers.ts'
import { type Bench, quantile, type Row } from './table.ts'

/** Of one thread or connection, in ms; from `bench hub` on two cores that hubs, clients and PostgreSQL shared. */
const COST = { receive: 0.1, commit: 3, notify: 0.3, read: 0.15, deliver: 0.06 }
/** Connections of one hub to PostgreSQL. */
const POOL = 10
/** PostgreSQL answers no more connections at once without becoming slower for all. */
const MOST_CONNECTIONS = 200
const KB_PER_CLIENT = 28
const SECONDS = 60

interface Load {
  readonly projects: number
  readonly clients: number
  readonly hubs: number
  /** Updates of a client in an hour of work. */
  readonly perHour: number
}

interface Outcome {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Shares of the time that the busiest hub thread, and the connections to PostgreSQL, are busy. */
  readonly thread: number
  readonly pool: number
  readonly hubMb: number
}

/** Sizes of projects fall off as in life: the n-th has 1/√n of the members of the first. */
function membersOf(projects: number, clients: number): number[] {
  const shares = Array.from({ length: projects }, (_, n) => 1 / Math.sqrt(n + 1))
  const sum = shares.reduce((a, b) => a + b, 0)
  return shares.map((s) => Math.max(1, Math.round((s / sum) * clients)))
}

/** A project's updates that are written together, by when they came. */
interface Transaction {
  readonly start: number
  readonly end: number
  readonly updates: number[]
}

/** What is to happen, in the order of time (a binary heap). */
class Events {
  readonly #heap: { readonly t: number; readonly happen: () => void }[] = []

  at(t: number, happen: () => void): void {
    const heap = this.#heap
    let i = heap.push({ t, happen }) - 1
    for (let up = (i - 1) >> 1; i > 0 && heap[up]!.t > heap[i]!.t; i = up, up = (i - 1) >> 1)
      [heap[up], heap[i]] = [heap[i]!, heap[up]!]
  }

  run(): void {
    const heap = this.#heap
    for (let top = heap[0]; top !== undefined; top = heap[0]) {
      const last = heap.pop()!
      if (heap.length > 0) heap[0] = last
      for (let i = 0; ; ) {
        let least = i
        for (const down of [2 * i + 1, 2 * i + 2])
          if (down < heap.length && heap[down]!.t < heap[least]!.t) least = down
        if (least === i) break
        ;[heap[i], heap[least]] = [heap[least]!, heap[i]!]
        i = least
      }
      top.happen()
    }
  }
}

/** Updates arrive at random; a project's transactions follow each other, and what waits goes into the next one together. */
export function simulate({ projects, clients, hubs, perHour }: Load, seed = 1): Outcome {
  const bytes = seededBytes(seed)
  const random = () => (new DataView(bytes(4).buffer).getUint32(0) + 0.5) / 2 ** 32
  const members = membersOf(projects, clients)
  const upTo: number[] = []
  for (const m of members) upTo.push((upTo.at(-1) ?? 0) + m)
  const all = upTo.at(-1)!
  const pick = (at: number): number => {
    let [low, high] = [0, upTo.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (upTo[middle]! > at) high = middle
      else low = middle + 1
    }
    return low
  }
  const perMs = (all * perHour) / 3_600_000
  const hubFree = new Float64Array(hubs)
  const hubBusy = new Float64Array(hubs)
  const pool = new Float64Array(Math.min(POOL * hubs, MOST_CONNECTIONS))
  let poolBusy = 0
  /** Of each project: when its transaction ends that has not begun when an update comes in. */
  const next = new Map<number, Transaction>()
  const work = (hub: number, from: number, ms: number): number => {
    hubFree[hub] = Math.max(hubFree[hub]!, from) + ms
    hubBusy[hub]! += ms
    return hubFree[hub]!
  }
  const waits: number[] = []
  const events = new Events()
  const arrive = (t: number): void => {
    const after = t - Math.log(random()) / perMs
    if (after <= SECONDS * 1_000) events.at(after, () => arrive(after))
    const project = pick(random() * all)
    const received = work(Math.floor(random() * hubs), t, COST.receive)
    events.at(received, () => append(project, t, received))
  }
  /** Into the transaction that has not begun, else into a new one. */
  const append = (project: number, since: number, now: number): void => {
    const waiting = next.get(project)
    if (waiting && waiting.start > now) return void waiting.updates.push(since)
    let free = 0
    for (let i = 1; i < pool.length; i++) if (pool[i]! < pool[free]!) free = i
    const start = Math.max(now, waiting?.end ?? 0, pool[free]!)
    const tx: Transaction = { start, end: start + COST.commit, updates: [since] }
    pool[free] = tx.end
    poolBusy += COST.commit
    next.set(project, tx)
    events.at(tx.end + COST.notify, () => deliver(project, tx))
  }
  const deliver = (project: number, { end, updates }: Transaction): void => {
    const here = Math.min(hubs, members[project]!)
    const each = Math.ceil(members[project]! / here)
    const first = Math.floor(random() * hubs)
    for (const since of updates) {
      let last = end
      for (let i = 0; i < here; i++)
        last = Math.max(last, work((first + i) % hubs, end + COST.notify, COST.read + each * COST.deliver))
      waits.push(last - since)
    }
  }
  events.at(0, () => arrive(0))
  events.run()
  const ms = SECONDS * 1_000
  return {
    perSecond: waits.length / SECONDS,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    thread: Math.max(...hubBusy) / ms,
    pool: poolBusy / (pool.length * ms),
    hubMb: (all / hubs) * (KB_PER_CLIENT / 1_000),
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

function row(load: Load): Row {
  const o = simulate(load)
  const what = `${load.projects.toLocaleString('en')} projects, ${load.clients.toLocaleString('en')} clients, ${load.hubs} hub${load.hubs === 1 ? '' : 's'}, ${load.perHour} an hour`
  return { what, cells: [o.perSecond, o.p50, o.p99, percent(o.thread), percent(o.pool), o.hubMb] }
}

const BIG = { projects: 10_000, clients: 100_000 }

export const bench: Bench = {
  name: 'hub-scale',
  about: 'a simulation of what of a hub gives first as it grows',
  async run() {
    return [
      {
        title: 'simulated: a minute of work',
        columns: ['updates/s', 'p50 ms', 'p99 ms', 'busiest thread', 'connections', 'MB a hub'],
        rows: [
          row({ projects: 100, clients: 1_000, hubs: 1, perHour: 20 }),
          row({ ...BIG, hubs: 1, perHour: 20 }),
          row({ ...BIG, hubs: 2, perHour: 20 }),
          row({ ...BIG, hubs: 8, perHour: 20 }),
          row({ ...BIG, hubs: 8, perHour: 60 }),
          row({ ...BIG, hubs: 32, perHour: 60 }),
          row({ ...BIG, hubs: 32, perHour: 200 }),
          row({ projects: 1, clients: 1_000, hubs: 4, perHour: 60 }),
        ],
        notes: ['with the costs of one update that `bench hub` measured; sizes of projects fall off as 1/√n'],
      },
    ]
  },
}
