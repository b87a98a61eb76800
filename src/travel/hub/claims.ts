import { CLAIM_TTL_MS, claimsConflict } from '../../engine/claims/lease.ts'
import { isPart } from '../../engine/claims/part.ts'
import { isCount } from '../../engine/store/line.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import type { HubStore, Query } from './store.ts'

interface HubClaim {
  readonly fence: number
  readonly what: 'path' | 'task'
  readonly place: string
  /** What of the file. A client that does not know of parts reads a claim on the file, and asks for one. */
  readonly part: string
  /** Its number in the store of its session: a greater one is another claim, though the place is the same. */
  readonly n: number
  readonly member: string
  readonly session: string
  readonly note: string
  readonly since: number
  readonly until: number
}

const COLUMNS = 'fence, what, place, part, n, member, session, note, since, until'
const LONGEST_MS = 24 * 3600_000
const MOST_CLAIMS = 1000

const text = (v: unknown, most: number): string | undefined =>
  typeof v === 'string' && v.length <= most && !/[\0-\x1f]/.test(v) && v.isWellFormed() ? v : undefined

/**
 * Claims across machines: whoever asks first has it, and each grant has a greater fencing number than all before it. The
 * database tells the time: processes of one hub may differ. A number is at least the time in seconds, so that it stays greater
 * when a backup has brought back an older counter.
 */
export class HubClaims {
  readonly #store: HubStore

  constructor(store: HubStore) {
    this.#store = store
  }

  held(project: string, q: Query = this.#store): Promise<HubClaim[]> {
    const sql = `SELECT ${COLUMNS} FROM hub_claims WHERE project=? AND until>${this.#store.now} ORDER BY fence`
    return q.all<HubClaim>(sql, project)
  }

  /** Grants a claim, or says who holds what is in its way. Asked again by its holder, it is renewed. */
  async claim(project: string, member: string, asked: JsonObject) {
    const place = text(asked.place, 1000)
    const session = text(asked.session, 200)
    const what = asked.what === 'task' ? 'task' : 'path'
    if (!place || !session) return { code: 'bad-claim' }
    const part = isPart(asked.part) ? asked.part : ''
    const n = isCount(asked.n) ? asked.n : 0
    const note = text(asked.note, 500) ?? ''
    const ttl = Math.min(typeof asked.ttl === 'number' && asked.ttl > 0 ? asked.ttl : CLAIM_TTL_MS, LONGEST_MS)
    return this.#store.transaction(async (q) => {
      const last = await this.#lock(q, project)
      const now = (await q.all<{ now: number }>(`SELECT ${this.#store.now} AS now`))[0]!.now
      const until = Math.round(now + ttl)
      await q.all('DELETE FROM hub_claims WHERE project=? AND until<=?', project, now)
      const held = await this.held(project, q)
      const isOwn = (c: HubClaim) => c.member === member && c.session === session
      const holder = held.find((c) => !isOwn(c) && claimsConflict({ ...c, on: c.place }, { what, on: place, part }))
      if (holder) return { code: 'claimed', holder }
      const own = held.find((c) => isOwn(c) && c.what === what && c.place === place && c.part === part)
      if (own && n > 0 && n < own.n) return { code: 'late' }
      if (own && n <= own.n) {
        await q.all('UPDATE hub_claims SET until=? WHERE project=? AND fence=?', until, project, own.fence)
        return { fence: own.fence, until }
      }
      if (own) await q.all('DELETE FROM hub_claims WHERE project=? AND fence=?', project, own.fence)
      else if (held.length >= MOST_CLAIMS) return { code: 'too-many' }
      const fence = Math.max(last + 1, Math.floor(now / 1000))
      await q.all('UPDATE hub_projects SET fence=? WHERE id=?', fence, project)
      const row = [project, fence, what, place, part, n, member, session, note, now, until]
      await q.all(`INSERT INTO hub_claims (project, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ...row)
      return { fence, until }
    })
  }

  /**
   * Ends claims of a session: the one on a place, or all. Nobody ends those of another. With a fencing number it ends that
   * grant alone: a release may come late, when the session holds the place again.
   */
  async release(project: string, member: string, asked: JsonObject) {
    const session = text(asked.session, 200)
    if (!session) return { code: 'bad-claim' }
    const fence = typeof asked.fence === 'number' ? asked.fence : undefined
    const one = Object.entries(defined({ project, member, session, place: text(asked.place, 1000), fence }))
    const where = one.map(([column]) => `${column}=?`).join(' AND ')
    await this.#store.all(`DELETE FROM hub_claims WHERE ${where}`, ...one.map(([, value]) => value as string | number))
    return { released: true }
  }

  async #lock(q: Query, project: string): Promise<number> {
    await q.all('INSERT INTO hub_projects (id, head, fence) VALUES (?, 0, 0) ON CONFLICT DO NOTHING', project)
    const sql = `SELECT fence FROM hub_projects WHERE id=?${this.#store.lock}`
    return (await q.all<{ fence: number }>(sql, project))[0]!.fence
  }
}
