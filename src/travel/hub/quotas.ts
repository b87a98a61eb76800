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
export function usageOf(q: Query, project: string, limits: Limits, now: number) {
  const held = new Map<string, { stored: number; since: number; spent: number }>()
  let all = 0

  /** Reads what is held. Of a member who is not counted yet the log is. */
  async function read(members: readonly string[]): Promise<void> {
    const sql = 'SELECT member, stored, since, spent FROM hub_usage WHERE project=?'
    type Row = { member: string; stored: number; since: number; spent: number }
    for (const { member, ...row } of await q.all<Row>(sql, project)) {
      all += row.stored
      held.set(member, now - row.since < HOUR_MS ? row : { ...row, since: now, spent: 0 })
    }
    for (const member of members) {
      if (held.has(member)) continue
      const stored = await counted(member)
      const sql = 'INSERT INTO hub_usage (project, member, stored, since, spent) VALUES (?, ?, ?, ?, 0)'
      await q.all(sql, project, member, stored, now)
      all += stored
      held.set(member, { stored, since: now, spent: 0 })
    }
  }

  async function counted(member: string): Promise<number> {
    const sql = 'SELECT SUM(size) AS n FROM hub_log WHERE project=? AND member=?'
    return Number((await q.all<{ n: number | null }>(sql, project, member))[0]?.n ?? 0)
  }

  /** Counts an update, or says why it is not taken. */
  function take(member: string, size: number): OverLimit | undefined {
    const own = held.get(member)!
    if (own.stored + size > limits.member) return 'member-full'
    if (all + size > limits.project) return 'project-full'
    if (own.spent + size > limits.hour) return 'too-fast'
    own.stored += size
    own.spent += size
    all += size
    return undefined
  }

  /** Keeps what was counted. `isLess`: something was taken out of the log, so what it holds is counted anew. */
  async function keep(members: readonly string[], isLess: boolean): Promise<void> {
    for (const member of isLess ? held.keys() : members) {
      const { stored, since, spent } = held.get(member)!
      const sql = 'UPDATE hub_usage SET stored=?, since=?, spent=? WHERE project=? AND member=?'
      const left = isLess ? await counted(member) : stored
      await q.all(sql, left, since, spent, project, member)
    }
  }

  return { read, take, keep }
}
