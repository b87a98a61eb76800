import type { Query } from './store.ts'

/** How many bytes of updates a hub keeps, and takes of one member within an hour. */
export type Limits = Readonly<{ member: number; project: number; hour: number }>

const MB = 1024 * 1024
/** A first push of 100,000 entities is about 150 MB. */
export const LIMITS: Limits = { member: 1024 * MB, project: 8192 * MB, hour: 256 * MB }

const HOUR_MS = 3_600_000

export type OverLimit = 'member-full' | 'project-full' | 'too-fast'

export const storedByMember = (q: Query): Promise<{ project: string; member: string; stored: number }[]> =>
  q.all('SELECT project, member, stored FROM hub_usage ORDER BY stored DESC, project, member')

/** What one project holds of each member, within the transaction that appends to it. */
export class Usage {
  readonly #q: Query
  readonly #project: string
  readonly #limits: Limits
  readonly #now: number
  readonly #of = new Map<string, { stored: number; since: number; spent: number }>()
  #all = 0

  constructor(q: Query, project: string, limits: Limits, now: number) {
    this.#q = q
    this.#project = project
    this.#limits = limits
    this.#now = now
  }

  /** Reads what is held. Of a member who is not counted yet the log is. */
  async read(members: readonly string[]): Promise<void> {
    const sql = 'SELECT member, stored, since, spent FROM hub_usage WHERE project=?'
    type Row = { member: string; stored: number; since: number; spent: number }
    for (const { member, ...row } of await this.#q.all<Row>(sql, this.#project)) {
      this.#all += row.stored
      this.#of.set(member, this.#now - row.since < HOUR_MS ? row : { ...row, since: this.#now, spent: 0 })
    }
    for (const member of members) {
      if (this.#of.has(member)) continue
      const stored = await this.#stored(member)
      const sql = 'INSERT INTO hub_usage (project, member, stored, since, spent) VALUES (?, ?, ?, ?, 0)'
      await this.#q.all(sql, this.#project, member, stored, this.#now)
      this.#all += stored
      this.#of.set(member, { stored, since: this.#now, spent: 0 })
    }
  }

  async #stored(member: string): Promise<number> {
    const sql = 'SELECT SUM(size) AS n FROM hub_log WHERE project=? AND member=?'
    return Number((await this.#q.all<{ n: number | null }>(sql, this.#project, member))[0]?.n ?? 0)
  }

  /** Counts an update, or says why it is not taken. */
  take(member: string, size: number): OverLimit | undefined {
    const own = this.#of.get(member)!
    if (own.stored + size > this.#limits.member) return 'member-full'
    if (this.#all + size > this.#limits.project) return 'project-full'
    if (own.spent + size > this.#limits.hour) return 'too-fast'
    own.stored += size
    own.spent += size
    this.#all += size
    return undefined
  }

  /** Keeps what was counted. `isLess`: something was taken out of the log, so what it holds is counted anew. */
  async keep(members: readonly string[], isLess: boolean): Promise<void> {
    for (const member of isLess ? this.#of.keys() : members) {
      const { stored, since, spent } = this.#of.get(member)!
      const sql = 'UPDATE hub_usage SET stored=?, since=?, spent=? WHERE project=? AND member=?'
      const now = isLess ? await this.#stored(member) : stored
      await this.#q.all(sql, now, since, spent, this.#project, member)
    }
  }
}
