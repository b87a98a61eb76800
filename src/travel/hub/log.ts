import { createHash } from 'node:crypto'
import type { Env } from '../../base/env.ts'
import { handleOf, isKeyed, unsigned } from '../../engine/store/keys.ts'
import { isCount, parseLine } from '../../engine/store/line.ts'
import { isProjectId } from '../../model/names.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import { keyOf, MOST_FRAME, PAGE_BYTES, PAGE_UPDATES, replicaOfKey } from '../sync/hub-protocol.ts'
import { isSnapshot } from '../sync/segments.ts'
import { LIMITS, type Limits, type OverLimit, usageOf } from './quotas.ts'
import type { HubStore, Query } from './store.ts'

/** An update as a client pushes it: the hub looks at its key alone. */
export interface Pushed {
  readonly key: string
  readonly body: string
  /** It takes the place of what was pushed under its key: something was erased. An empty one only takes that away. */
  readonly over: boolean
  /** Another member wrote it, whose signature it bears. */
  readonly relayed?: boolean
}

export interface Kept {
  readonly n: number
  readonly key: string
  readonly digest: string
  readonly member: string
  /** None where it was erased. */
  readonly body: string | null
}

/** Up to where a project's log is read; `last` counts what was erased too. */
export type Page = Readonly<{ after: number; last: number; items: readonly Kept[] }>

interface Appended {
  /** Where each update stands in the log; why it is not there. */
  readonly places: readonly (number | 'bad-update' | 'not-yours' | 'dropped' | OverLimit)[]
  readonly head: number
}

type Pusher = { readonly member: string; readonly isAdmin: boolean }

interface Waiting {
  readonly pusher: Pusher
  readonly updates: readonly Pushed[]
  readonly done: (result: Appended) => void
  readonly failed: (error: unknown) => void
}

/** What one transaction takes of those who wait. */
const MOST_AT_ONCE = 1000

/** Marks for the values of an `IN`; of none for NULL, which nothing equals. */
const marksOf = (list: readonly unknown[]): string => list.map(() => '?').join(', ') || 'NULL'

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** One ordered log for each project. Updates have the numbers 1, 2, 3 …, and who sees one sees all before it. */
export class HubLog {
  readonly #store: HubStore
  readonly #env: Env
  readonly #limits: Limits
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #known = new Set<string>()
  /** Owners of replicas that were read: they never change. */
  readonly #owner = new Map<string, string>()

  constructor(store: HubStore, env: Env, limits = LIMITS) {
    this.#store = store
    this.#env = env
    this.#limits = limits
  }

  /** Which log this is: one that was made anew has another id. */
  async id(): Promise<string> {
    const fresh = Buffer.from(this.#env.random(10)).toString('hex')
    await this.#store.all('INSERT INTO hub_meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING', 'log', fresh)
    return (await this.#store.all<{ value: string }>('SELECT value FROM hub_meta WHERE key=?', 'log'))[0]!.value
  }

  /** Appends updates, on disk when it returns. What is there keeps its place. Those at one time share a transaction. */
  append(project: string, pusher: Pusher, updates: readonly Pushed[]): Promise<Appended> {
    return new Promise((done, failed) => {
      const queue = this.#waiting.get(project)
      if (queue) return void queue.push({ pusher, updates, done, failed })
      this.#waiting.set(project, [{ pusher, updates, done, failed }])
      void this.#work(project)
    })
  }

  async #work(project: string): Promise<void> {
    const queue = this.#waiting.get(project)!
    while (queue.length > 0) {
      let count = 0
      const upTo = queue.findIndex((w) => (count += w.updates.length) > MOST_AT_ONCE)
      const now = queue.splice(0, upTo < 0 ? queue.length : Math.max(1, upTo))
      try {
        const results = await this.#store.transaction((q) => this.#appendAll(q, project, now))
        this.#known.add(project)
        if (now.some((w) => w.updates.some((u) => u.over))) await this.#store.scrub()
        for (const [i, w] of now.entries()) w.done(results[i]!)
      } catch (error) {
        for (const w of now) w.failed(error)
      }
    }
    this.#waiting.delete(project)
  }

  async #appendAll(q: Query, project: string, all: readonly Waiting[]): Promise<Appended[]> {
    if (!this.#known.has(project))
      await q.all('INSERT INTO hub_projects (id, head, fence) VALUES (?, 0, 0) ON CONFLICT DO NOTHING', project)
    // everybody who appends to the project waits here: the numbers come in the order of the commits
    const [row] = await q.all<{ head: number }>(`SELECT head FROM hub_projects WHERE id=?${this.#store.lock}`, project)
    let head = row!.head
    const owners = await this.#owners(q, project, all)
    const digests = new Map(all.flatMap((w) => w.updates).map((u) => [u, digestOf(u.body)]))
    const there = await this.#places(q, project, [...new Set(digests.values())])
    const gone = await q.all<{ replica: string }>('SELECT replica FROM hub_dropped WHERE project=?', project)
    const dropped = new Set(gone.map((r) => r.replica))
    const members = [...new Set(all.map((w) => w.pusher.member))]
    const usage = usageOf(q, project, this.#limits, this.#env.now())
    await usage.read(members)
    const rows: (string | number)[][] = []
    const over = new Map<string, string>()
    const erasing = new Map<string, string[]>()
    const results = all.map(({ pusher, updates }) =>
      updates.map((update) => {
        const replica = replicaOfKey(update.key)
        if (replica === undefined || !isSound(update)) return 'bad-update' as const
        const isOwn = update.relayed ? isSignedEnvelope(update) : owners.get(replica) === pusher.member
        if (!isOwn && !pusher.isAdmin) return 'not-yours' as const
        if (dropped.has(replica)) return 'dropped' as const
        const digest = digests.get(update)!
        const known = there.get(digest)
        // something else has taken its place: it comes late
        const replaces = update.over && known?.size !== 0
        if (replaces) over.set(update.key, digest)
        if (replaces || (known === undefined && asksToErase(update.body)))
          erasing.set(pusher.member, [...(erasing.get(pusher.member) ?? []), update.key])
        if (update.body === '') return head
        if (known !== undefined) return known.n
        const limit = usage.take(pusher.member, update.body.length)
        if (limit !== undefined) return limit // what it was to erase is erased
        head++
        there.set(digest, { n: head, size: update.body.length, digest })
        rows.push([project, head, update.key, digest, pusher.member, this.#env.now(), update.body.length, update.body])
        return head
      }),
    )
    if (rows.length > 0) {
      const marks = rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')
      const sql = `INSERT INTO hub_log (project, n, key, digest, member, at, size, body) VALUES ${marks}`
      await q.all(sql, ...rows.flat())
      await q.all('UPDATE hub_projects SET head=? WHERE id=?', head, project)
    }
    for (const [key, digest] of over)
      await q.all('UPDATE hub_log SET body=NULL, size=0 WHERE project=? AND key=? AND digest<>?', project, key, digest)
    await usage.keep(members, over.size > 0)
    for (const [member, keys] of erasing)
      await this.audit(project, member, 'erases', { updates: keys.length, first: keys.slice(0, 10) }, q)
    return results.map((places) => ({ places, head }))
  }

  /** Whose each replica is: the one's who pushed under it first. Nobody else writes under it. */
  async #owners(q: Query, project: string, all: readonly Waiting[]): Promise<Map<string, string>> {
    const wanted = new Map<string, string>()
    for (const { pusher, updates } of all)
      for (const update of updates) {
        const replica = isSound(update) && !update.relayed ? replicaOfKey(update.key) : undefined
        if (replica !== undefined && !wanted.has(replica)) wanted.set(replica, pusher.member)
      }
    const known = (replica: string) => this.#owner.get(`${project} ${replica}`)
    const asked = [...wanted.keys()].filter((replica) => known(replica) === undefined)
    if (asked.length > 0) {
      const stored = `SELECT replica, member FROM hub_replicas WHERE project=? AND replica IN (${marksOf(asked)})`
      const rows = await q.all<{ replica: string; member: string }>(stored, project, ...asked)
      if (this.#owner.size > 10_000) this.#owner.clear()
      for (const { replica, member } of rows) this.#owner.set(`${project} ${replica}`, member)
    }
    const sql = 'INSERT INTO hub_replicas (project, replica, member) VALUES (?, ?, ?)'
    for (const [replica, member] of wanted) {
      const owner = known(replica)
      if (owner === undefined) await q.all(sql, project, replica, member)
      else wanted.set(replica, owner)
    }
    return wanted
  }

  /** Takes a replica's updates out and lets none in; `again`: lets them in. Members keep theirs. Returns how many. */
  async drop(project: string, replica: string, again = false): Promise<number> {
    const taken = await this.#store.transaction(async (q) => {
      await q.all(`SELECT head FROM hub_projects WHERE id=?${this.#store.lock}`, project)
      await q.all('DELETE FROM hub_dropped WHERE project=? AND replica=?', project, replica)
      if (again) return 0
      await q.all('INSERT INTO hub_dropped (project, replica) VALUES (?, ?)', project, replica)
      const where = 'project=? AND key LIKE ? AND body IS NOT NULL'
      const range = [project, `${replica}:%`]
      const [row] = await q.all<{ n: number }>(`SELECT COUNT(*) AS n FROM hub_log WHERE ${where}`, ...range)
      await q.all(`UPDATE hub_log SET body=NULL, size=0 WHERE ${where}`, ...range)
      await q.all('DELETE FROM hub_usage WHERE project=?', project)
      return row!.n
    })
    await this.#store.scrub()
    await this.audit(project, '', again ? 'readmitted' : 'dropped', { replica, updates: taken })
    return taken
  }

  async #places(q: Query, project: string, digests: readonly string[]) {
    const sql = `SELECT n, digest, size FROM hub_log WHERE project=? AND digest IN (${marksOf(digests)})`
    const rows = await q.all<{ n: number; size: number; digest: string }>(sql, project, ...digests)
    return new Map(rows.map((r) => [r.digest, r]))
  }

  async page(project: string, after: number): Promise<Page> {
    // of those that do not fit the bodies are not read
    const sql = `SELECT n, key, digest, member, body FROM hub_log WHERE project=? AND n>? AND n<=
         (SELECT max(n) FROM (SELECT n, size, SUM(size) OVER (ORDER BY n) AS total
          FROM hub_log WHERE project=? AND n>? AND n<=?) AS part WHERE total-size < ?)
       ORDER BY n`
    const range = [project, after, project, after, after + PAGE_UPDATES, PAGE_BYTES]
    const items = await this.#store.all<Kept>(sql, ...range)
    return { after, last: items.at(-1)?.n ?? after, items }
  }

  /** What stands under these keys, as much of it as fits into a page. */
  async bodiesOf(project: string, keys: readonly string[]): Promise<{ key: string; body: string }[]> {
    const sql = `SELECT key, body FROM hub_log WHERE project=? AND key IN (${marksOf(keys)}) AND body IS NOT NULL ORDER BY n`
    const rows = await this.#store.all<{ key: string; body: string }>(sql, project, ...keys)
    let size = 0
    return rows.filter(({ body }) => (size += body.length) <= MOST_FRAME / 4)
  }

  async head(project: string): Promise<number> {
    return (await this.heads([project])).get(project) ?? 0
  }

  async heads(projects: readonly string[]): Promise<Map<string, number>> {
    const sql = `SELECT id, head FROM hub_projects WHERE id IN (${marksOf(projects)})`
    const rows = await this.#store.all<{ id: string; head: number }>(sql, ...projects)
    return new Map(rows.map((r) => [r.id, r.head]))
  }

  async digestAt(project: string, n: number): Promise<string | undefined> {
    const sql = 'SELECT digest FROM hub_log WHERE project=? AND n=?'
    return (await this.#store.all<{ digest: string }>(sql, project, n))[0]?.digest
  }

  /** Takes note of what somebody may want to look into later. */
  audit(project: string, member: string, what: string, detail: object = {}, q: Query = this.#store): Promise<unknown> {
    const row = [this.#env.now(), isProjectId(project) ? project : '', member, what]
    const sql = 'INSERT INTO hub_audit (at, project, member, what, detail) VALUES (?, ?, ?, ?, ?)'
    return q.all(sql, ...row, JSON.stringify(detail).slice(0, 1000))
  }
}

/**
 * Whether an update is a line that its replica has signed: then anybody may bring it. The hub reads the envelope and checks the
 * signature; it knows nothing of what the line says.
 */
function isSignedEnvelope({ key, body, over }: Pushed): boolean {
  if (over) return false
  try {
    const line = parseLine(body)
    return keyOf(handleOf(line.replica), line.seq) === key && isKeyed(line.replica) && unsigned(line) === undefined
  } catch {
    return false
  }
}

/** Whether a line bears marks of erasure, its own or a request. Whose and of what is read by the members alone. */
function asksToErase(body: string): boolean {
  const said = body.includes('"x":[') ? jsonIn(body) : undefined
  return isObject(said) && Array.isArray(said.x) && said.x.length > 0
}

/** Lines of later versions are passed on as they are. */
const KNOWN_LINES = 2

/** Whether an update is a line or a folded state, of the replica and the number that its key names. Nothing else of it is looked at. */
export function isEnvelope(body: string, key: string): boolean {
  if (body === '') return true // it takes another one away
  if (key.endsWith(':snapshot')) return isSnapshot(body)
  const said = jsonIn(body)
  if (!isObject(said)) return false
  if (typeof said.v === 'number' && said.v > KNOWN_LINES) return true
  return typeof said.r === 'string' && isCount(said.n) && keyOf(handleOf(said.r), said.n as number) === key
}

/** An update is one line of text that every database can keep; one that only takes another away is empty. */
const isSound = ({ body, over }: Pushed): boolean =>
  body === '' ? over : body.length <= MOST_FRAME && !/[\0-\x08\x0a-\x1f]/.test(body) && body.isWellFormed()
