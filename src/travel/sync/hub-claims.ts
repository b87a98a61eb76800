import type { Memory } from '../../engine/memory.ts'
import type { Db } from '../../engine/store/db.ts'
import * as presence from '../../engine/store/presence.ts'
import type { Joined } from '../../engine/store/user-state.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import { HubLink } from './hub-link.ts'

/** A command waits so long for what the hub says to its claims. */
const BOUND_MS = 2_000

type Ask = (head: JsonObject) => Promise<JsonObject>

export const leaseOf = (c: presence.ClaimRow, now: number): number => Math.max(c.until - now, c.ttl)

/** Whether a grant is for a claim of this store that has ended. Its session may have been killed before it heard of the grant. */
function isGivenUp(db: Db, { n, session, place, fence }: JsonObject): boolean {
  const row = typeof n === 'number' ? presence.getClaim(db, n) : undefined
  if (row?.ended === undefined || row.session !== session || row.on !== place) return false
  return !presence.openClaims(db).some((c) => c.hub === fence) // it was handed over
}

/** Has the hub decide on a claim. What somebody else holds there is given up here; what nobody holds any more, there. */
export async function arbitrate({ db, env }: Memory, ask: Ask, c: presence.ClaimRow): Promise<JsonObject> {
  const { n, what, on: place, part = '', session, note = '' } = c
  const question = { t: 'claim', n, what, place, part, session, note, ttl: leaseOf(c, env.now()) }
  let answer = await ask(question)
  for (let freed: unknown; isObject(answer.holder) && answer.holder.fence !== freed; answer = await ask(question)) {
    if (!isGivenUp(db, answer.holder)) break
    freed = answer.holder.fence
    await ask({ t: 'release', session: answer.holder.session!, fence: answer.holder.fence! })
  }
  const { fence } = answer
  const isKept = db.write(() => {
    const row = presence.getClaim(db, c.n) // it may have changed meanwhile: another process here may ask for it too
    if (!row || row.ended !== undefined) return false
    if (typeof fence === 'number' && row.hub !== fence)
      presence.keepClaims(db, { rows: [{ ...row, hub: fence }], events: [] }, env.now())
    if (answer.code === 'claimed' && row.hub === c.hub) presence.endClaims(db, [row], 'lapsed', env.now())
    return true
  })
  if (isKept || typeof fence !== 'number') return answer
  await releaseAt(ask, { session, on: place, hub: fence })
  return { code: 'lapsed' }
}

export const releaseAt = (ask: Ask, c: { session: string; on: string; hub?: number }): Promise<JsonObject> =>
  ask({ t: 'release', session: c.session, place: c.on, ...(c.hub === undefined ? {} : { fence: c.hub }) })

export interface Decided {
  /** Who holds what was to be claimed. */
  readonly holder?: JsonObject
  readonly fences: number[]
  /** Why it has not decided. */
  readonly open?: string
}

/** Has the hub decide now on what a command claimed or gave up, within a short time. `since`: when the command began. */
export async function decideNow(
  memory: Memory,
  joined: Joined,
  ns: readonly number[],
  since: number,
): Promise<Decided> {
  const { db, env, projectId } = memory
  const rows = ns
    .flatMap((n) => presence.getClaim(db, n) ?? [])
    .filter((c) => c.what !== 'role' && (c.ended === undefined || c.hub !== undefined))
  const fences: number[] = []
  if (rows.length === 0) return { fences }
  using link = new HubLink(joined, projectId, { frame() {}, gone() {} })
  const ask: Ask = (head) => link.ask(head)
  const timer = setTimeout(() => link.fail(`no answer in ${BOUND_MS / 1000} s`), BOUND_MS)
  try {
    await link.hello(Number.MAX_SAFE_INTEGER, undefined) // after all that will ever be there: no updates are wanted
    for (const c of rows) {
      if (c.ended !== undefined) {
        // a hub from before parts has one grant for those of a file
        if (!presence.openClaims(db).some((o) => o.session === c.session && o.hub === c.hub)) await releaseAt(ask, c)
        continue
      }
      const { fence, code, holder } = await arbitrate(memory, ask, c)
      if (typeof fence === 'number') fences.push(fence)
      else if (code === 'claimed' && isObject(holder)) {
        await giveUp(rows.filter((r) => r.n !== c.n && r.since >= since))
        return { holder, fences: [] }
      } else return { fences, open: code === 'read-only' ? 'the token may only read' : `the hub says: ${code}` }
    }
    return { fences }
  } catch (error) {
    return { fences, open: (error as Error).message }
  } finally {
    clearTimeout(timer)
  }

  /** All or nothing, as on one machine. */
  async function giveUp(taken: readonly presence.ClaimRow[]): Promise<void> {
    const open = db.write(() => {
      const now = taken.flatMap(({ n }) => presence.getClaim(db, n) ?? []).filter((c) => c.ended === undefined)
      presence.endClaims(db, now, 'released', env.now())
      return now
    })
    for (const c of open) if (c.hub !== undefined) await releaseAt(ask, c)
  }
}
