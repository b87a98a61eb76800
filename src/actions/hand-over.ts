import type { Verb } from '../memory/verb.ts'
import { actor, against, claimJson, liveSession, named, textOf } from './claims.ts'

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
    if (!other || to === session) return undefined
    const { now } = p.claims.view
    const given = claims.flatMap((c) => {
      p.claims.end(c, 'handed-over', {})
      const { n: _n, ended: _ended, how: _how, implicit: _implicit, ...rest } = c
      if (against(p, to, c).length > 0) return [] // cannot be: what is held by one is held by nobody else
      return [
        p.claims.grant({
          ...rest,
          ...(note === undefined ? {} : { note }),
          session: to,
          since: now,
          until: now + c.ttl,
          from: session,
        }),
      ]
    })
    if (given.length === 0) return undefined
    return { id: `claim:${given[0]!.n}`, to, claims: given.map(claimJson) }
  },
}
