import { inTheWay, sameTree } from '../claims/lease.ts'
import type { Verb } from '../write/verb.ts'
import { actor, claimJson, editsUnder, liveSession, named, textOf } from './claim-arguments.ts'

export const handOver: Verb = {
  verb: 'hand-over',
  about: 'gives claims of its own to another live session, without a moment in which anybody else could take them',
  args: { to: 'text (the id of a session)', paths: '[text, …]?', task: 'reference?', role: 'text?', note: 'text?' },
  example: { to: 'b7', paths: ['src/auth/**'], note: 'tests are green; the refresh is left' },
  plan(p, args, report) {
    const session = actor(p, report)
    const to = textOf(args, 'to', report)
    if (args.to === undefined || args.to === null)
      report({ field: 'to', message: 'missing', accepted: 'the id of a live session' })
    if (session === undefined || to === undefined) return undefined
    const note = textOf(args, 'note', report)
    p.claims.sweep()
    const other = liveSession(p, to, 'to', report)
    if (to === session) report({ field: 'to', message: 'that is the session itself', received: to })
    const claims = named(p, session, args, report)
    if (claims.length === 0)
      report({ field: 'paths', message: `${session} holds no claim`, accepted: 'a claim of its own' })
    // what it keeps may cover what it gives: then both would hold it
    const edits = editsUnder(p, session, claims)
    const kept = p.claims.of(session).filter((c) => !claims.includes(c) && !edits.includes(c))
    let free = true
    for (const c of claims) {
      const over = kept.find((k) => inTheWay(k, c) && sameTree(k, c))
      if (!over) continue
      free = false
      report({
        field: 'paths',
        message: `${c.on} meets ${over.on}, which ${session} would keep`,
        received: c.on,
        hint: `hand over both, or release ${over.on} first`,
      })
    }
    if (!other || to === session || !free) return undefined
    const { now } = p.claims.view
    for (const c of edits) p.claims.end(c, 'released', {})
    // all of them end before the first is granted: what is one session's may overlap
    for (const c of claims) p.claims.end(c, 'handed-over', {})
    const given = claims.map(({ n: _n, ended: _ended, how: _how, implicit: _implicit, ...rest }) =>
      p.claims.grant({
        ...rest,
        ...(note === undefined ? {} : { note }),
        session: to,
        since: now,
        until: now + rest.ttl,
        from: session,
      }),
    )
    if (given.length === 0) return undefined
    return { id: `claim:${given[0]!.n}`, to, claims: given.map(claimJson) }
  },
}
