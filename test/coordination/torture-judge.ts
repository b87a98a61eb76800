import type { Said } from './torture-child.ts'
import { meets } from './torture-universe.ts'

/** An event as it stands in the log; nothing else of the product is looked at here. */
export interface Told {
  seq: number
  session: string
  type: string
  body: { [key: string]: unknown }
}

/** One process that was a session. Moments are numbers of events. */
export interface Life {
  id: string
  /** Nobody knows its process: whether it lives is known by its word alone. */
  nameless: boolean
  born: number
  /** Before it was killed, and after it was gone. */
  dying?: number
  dead?: number
}

export interface Acknowledged {
  session: string
  life: Life
  said: Said
}

interface Grant {
  n: number
  session: string
  on: string
  what: string
  /** It may run out while its holder lives. */
  lease: boolean
  from: number
  to: number
  end?: string
}

/** Reads the log once, and says what is wrong with it and with what the processes were told. */
export function judge(log: readonly Told[], acknowledged: readonly Acknowledged[], lives: readonly Life[]) {
  const wrong: string[] = []
  const grants = new Map<number, Grant>()
  const held = new Set<Grant>()
  let fence = 0
  let seq = 0
  const meet = (a: Pick<Grant, 'what' | 'on'>, b: Pick<Grant, 'what' | 'on'>) =>
    a.what === b.what && (a.what === 'task' ? a.on === b.on : meets(a.on, b.on))
  const dyingAt = (id: string, at: number) =>
    lives.some((l) => l.id === id && l.born <= at && (l.dying ?? at + 1) <= at)

  // a claim said again under other terms stays the same grant
  const leased = new Set(
    acknowledged.flatMap(({ said }) => (said.what === 'claimed' && said.lease ? said.claims.map((c) => c.n) : [])),
  )

  for (const [i, e] of log.entries()) {
    const said = `${e.seq} ${e.session} ${e.type} ${JSON.stringify(e.body)}`
    if (e.seq <= seq) wrong.push(`out of order: ${said}`)
    seq = e.seq
    if (e.type === 'claimed') {
      const { n, on, what, note } = e.body as { n: number; on: string; what: string; note?: string }
      const grant = {
        n,
        on,
        what,
        session: e.session,
        lease: note === 'lease' || leased.has(n),
        from: e.seq,
        to: Number.POSITIVE_INFINITY,
      }
      if (n <= fence) wrong.push(`the fence does not grow beyond ${fence}: ${said}`)
      fence = Math.max(fence, n)
      for (const other of held)
        if (other.session !== e.session && meet(other, grant))
          wrong.push(`held by ${other.session} as ${other.n}: ${said}`)
      grants.set(n, grant)
      held.add(grant)
    } else if (e.type === 'released' || e.type === 'lapsed' || e.type === 'handed-over') {
      const grant = grants.get(Number(e.body.n))
      if (!grant || !held.has(grant) || grant.session !== e.session) {
        wrong.push(`not held by it: ${said}`)
        continue
      }
      held.delete(grant)
      grant.to = e.seq
      grant.end = e.type
      if (e.type === 'lapsed' && !grant.lease && !dyingAt(e.session, e.seq)) wrong.push(`its holder lived: ${said}`)
      // in one go: whatever is handed over with it, then the grants
      const after = log.slice(i + 1).findIndex((o) => o.type !== 'handed-over')
      const granted = log.slice(i + 1 + after).some((o) => o.body.on === grant.on && o.body.from === e.session)
      if (e.type === 'handed-over' && !granted) wrong.push(`a moment without holder: ${said}`)
    } else if (e.type === 'session-crashed' && !dyingAt(e.session, e.seq)) wrong.push(`it lived: ${said}`)
    else if (e.type === 'session-ended' || e.type === 'session-crashed')
      for (const g of held) if (g.session === e.session) wrong.push(`it still holds ${g.n}: ${said}`)
  }

  const counts = { granted: grants.size, lapsed: 0, handed: 0, refused: 0, acknowledged: 0 }
  for (const g of grants.values()) {
    if (g.end === 'lapsed') counts.lapsed++
    if (g.end === 'handed-over') counts.handed++
  }
  const all = [...grants.values()]
  for (const { session, said } of acknowledged) {
    counts.acknowledged++
    const told = `${session} was told ${JSON.stringify(said)}`
    if (said.what === 'claimed' || said.what === 'handed') {
      const holder = said.what === 'handed' ? said.to : session
      for (const { n, on } of said.claims) {
        const grant = grants.get(n)
        if (!grant || grant.session !== holder || grant.on !== on) wrong.push(`not in the log: ${told}`)
      }
    } else if (said.what === 'released') {
      for (const n of said.ns) if (grants.get(n)?.end !== 'released') wrong.push(`not in the log: ${told}`)
    } else if (said.what === 'refused') {
      counts.refused++
      const wanted = said.task === undefined ? said.on.map((on) => ({ what: 'path', on })) : undefined
      const inTheWay = all.some(
        (g) =>
          g.session === said.owner &&
          g.from <= said.to &&
          g.to > said.from &&
          (wanted ? wanted.some((w) => meet(w, g)) : g.what === 'task'),
      )
      if (!inTheWay) wrong.push(`nothing of ${said.owner} was in the way: ${told}`)
      const owners = lives.filter((l) => l.id === said.owner && l.born <= said.to)
      if (!owners.some((l) => l.nameless || l.dead === undefined || l.dead >= said.from))
        wrong.push(`${said.owner} was dead: ${told}`)
    }
  }
  return { wrong, counts }
}
