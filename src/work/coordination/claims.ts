import { covers } from '../../engine/claims/glob.ts'
import { type Claim, ClaimPlan, ClaimView, isLive, leaseTime, sameTree, stateOf } from '../../engine/claims/lease.ts'
import { placeOf } from '../../engine/claims/part.ts'
import type { Memory } from '../../engine/memory.ts'
import { isOpen } from '../../engine/read/work-tree.ts'
import * as presence from '../../engine/store/presence.ts'

export type { Claim } from '../../engine/claims/lease.ts'

/** How one role's work stands: what a block of the swarm state says (concept paper 2). */
export interface SwarmBlock
  extends Pick<presence.ClaimRow, 'session' | 'result' | 'handoff' | 'dependsOn' | 'note' | 'goal' | 'more'> {
  role: string
  /** When it was claimed, and when its last word came. */
  since: number
  at: number
  /** `abandoned` where its holder is gone. */
  status: string
  claimed: string[]
}

/** Claims to look at. Writing goes through the verbs of `act`. */
export function claimsOf(memory: Memory) {
  const { db, env } = memory
  const isStillOpen = (id: string | undefined) => id === undefined || isOpen(memory.reader.entity(id))
  /** Claims that hold now, oldest first. */
  const held = (): Claim[] => new ClaimPlan(new ClaimView(db, env, leaseTime(db, env))).held()
  return {
    held,
    /** Those of other sessions that claim a file, or one of several. In another work tree they only meet at merge: `elsewhere`. */
    against: (
      session: string | undefined,
      at: string | readonly string[],
      root?: string,
    ): (Claim & { elsewhere: boolean })[] =>
      held()
        .filter((c) => c.what === 'path' && c.session !== session && [at].flat().some((path) => covers(c.on, path)))
        .map((c) => ({ ...c, elsewhere: !sameTree(c, { root }) })),
    /** Claims released with a handoff note that nobody has taken up, while their task and goal are open; newest first. */
    left: (): Claim[] =>
      presence.leftNotes(db).filter((c) => [c.what === 'task' ? c.on : c.task, c.goal].every(isStillOpen)),
    /** The newest word of each role, in the order in which they were claimed; over with the goal they were made for. */
    blocks(): SwarmBlock[] {
      const byRole = new Map<string, Claim[]>()
      for (const c of presence.roleClaims(db)) {
        const before = byRole.get(c.role!) ?? []
        // what one session claims for a role, in one go or step by step, is one block; the next session's replaces it
        const same = before[0]?.session === c.session && before.some((b) => b.ended === undefined || b.ended >= c.since)
        byRole.set(c.role!, same ? [...before, c] : [c])
      }
      const now = leaseTime(db, env)
      const all = [...byRole.values()].map((claims) => blockOf(claims, memory, now)).sort((a, b) => a.since - b.since)
      return notOver(all, memory)
    },
  }
}

/** What belongs to a goal that is done is over with it; of no goal that is known, with whatever was pursued meanwhile. */
function notOver(all: readonly SwarmBlock[], { reader }: Memory): SwarmBlock[] {
  if (all.length === 0) return []
  const closed = reader.list('goal').filter((goal) => !isOpen(goal))
  return all.filter((b) => {
    const goal = b.goal ?? all.find((o) => o !== b && o.goal !== undefined && b.dependsOn?.includes(o.role))?.goal
    if (goal !== undefined) return isOpen(reader.entity(goal))
    return b.status === 'active' || !closed.some((g) => g.created <= b.since && b.at <= g.updated)
  })
}

/** What any claim of a block may say, of which the last word counts. */
const SAID = ['result', 'handoff', 'dependsOn', 'note', 'goal'] as const

function blockOf(claims: readonly Claim[], memory: Memory, now: number): SwarmBlock {
  const last = claims.at(-1)!
  const latest = claims.reduce((a, b) => ((b.ended ?? b.since) >= (a.ended ?? a.since) ? b : a))
  const holder = presence.getSession(memory.db, last.session)
  const alive = holder !== undefined && isLive(stateOf(holder, now, memory.env))
  // an edit is claimed for minutes: its agent may work on without another, and say later how it ended
  const lapsed = (c: Claim) => c.how === 'lapsed' && !(c.implicit && (alive || c !== latest))
  const gone = claims.some(lapsed) || (latest.ended === undefined && !alive)
  const said = (key: keyof Claim) => claims.findLast((c) => c[key] !== undefined)?.[key]
  const open = claims.some((c) => c.ended === undefined) || (latest.how === 'lapsed' && !gone)
  // while it goes on, what it gave up on the way is nobody's; after that it is told what it was about
  const shown = open && !gone ? claims.filter((c) => c.ended === undefined) : claims
  const more = Object.assign({}, ...claims.map((c) => c.more ?? {})) as { [key: string]: string }
  return {
    role: last.role!,
    session: last.session,
    since: claims[0]!.since,
    at: latest.ended ?? latest.since,
    // given up without a word, as when its session ends, it is nobody's
    status: gone
      ? 'abandoned'
      : open
        ? 'active'
        : latest.status === 'active'
          ? 'abandoned'
          : (latest.status ?? 'complete'),
    claimed: [...new Set(shown.filter((c) => c.what !== 'role').map(placeOf))],
    ...Object.fromEntries(SAID.flatMap((key) => (said(key) === undefined ? [] : [[key, said(key)]]))),
    ...(Object.keys(more).length > 0 ? { more } : {}),
  }
}
