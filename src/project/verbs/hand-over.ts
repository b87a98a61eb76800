import { claimsConflict, sameTree } from '../../engine/claims/lease.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { actor, claimJson, editsUnder, line, liveSession, named, SCOPE } from './claim-arguments.ts'

export const handOver = defineVerb({
  name: 'hand-over',
  about: 'gives claims of its own to another live session, without a moment in which anybody else could take them',
  args: {
    to: liveSession('the session that gets them', { required: true }),
    ...SCOPE,
    note: line('what it should know'),
  },
  example: { to: 'b7', paths: ['src/auth/**'], note: 'tests are green; the refresh is left' },
  plan(p, { to: { id: to }, note, ...scope }, report) {
    const session = actor(p, report)
    if (session === undefined) return undefined
    p.claims.sweep()
    if (to === session) report({ field: 'to', message: 'that is the session itself', received: to })
    const claims = named(p, session, scope, report)
    if (claims.length === 0)
      report({ field: 'paths', message: `${session} holds no claim`, accepted: 'a claim of its own' })
    // what it keeps may cover what it gives: then both would hold it
    const edits = editsUnder(p, session, claims)
    const kept = p.claims.of(session).filter((c) => !claims.includes(c) && !edits.includes(c))
    let free = true
    for (const c of claims) {
      const over = kept.find((k) => claimsConflict(k, c) && sameTree(k, c))
      if (!over) continue
      free = false
      report({
        field: 'paths',
        message: `${c.on} meets ${over.on}, which ${session} would keep`,
        received: c.on,
        hint: `hand over both, or release ${over.on} first`,
      })
    }
    if (to === session || !free) return undefined
    for (const c of edits) p.claims.end(c, 'released')
    const given = p.claims.handOver(claims, to, note)
    if (given.length === 0) return undefined
    return { id: `claim:${given[0]!.n}`, to, claims: given.map(claimJson) }
  },
})
