import { defineVerb } from '../../engine/write/verb.ts'
import { choice } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { shown } from '../../model/validate.ts'
import { actor, editsUnder, line, MORE, named, SCOPE, STATUSES } from './claim-arguments.ts'

export const release = defineVerb({
  name: 'release',
  about:
    'gives up claims of its own: those named, else all; with the status and result of its role, for the swarm state',
  args: {
    ...SCOPE,
    status: choice(STATUSES, 'how the work of the role stands'),
    result: line('what came of it'),
    handoff: line('what the next one should know'),
    more: MORE,
  },
  example: { paths: ['src/auth/**'] },
  plan(p, { status, result, handoff, more, ...scope }, report) {
    const session = actor(p, report)
    if (session === undefined) return undefined
    p.claims.sweep()
    const claims = named(p, session, scope, report)
    const [lost] = Object.entries({ status, result, handoff, more }).filter(([, said]) => said !== undefined)
    if (claims.length === 0 && lost && Object.keys(scope).length === 0)
      report({
        field: lost[0],
        message: `${session} holds no claim, so this would be said of nothing`,
        received: shown(lost[1]),
        hint: 'claim the role again first: ["claim", {"role": "…"}]',
      })
    const edits = editsUnder(p, session, claims).map((c) => p.claims.end(c, 'released', {}))
    const ended = claims.map((c) =>
      p.claims.end(c, 'released', {
        ...((status ?? c.role) ? { status: status ?? 'complete' } : {}),
        ...defined({ result, handoff, more: more && { ...c.more, ...more } }),
      }),
    )
    if (ended.length === 0) p.note(`${session} holds no claim`)
    return { id: session, released: [...ended, ...edits].map((c) => ({ n: c.n, on: c.on })) }
  },
})
