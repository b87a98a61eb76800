import { shown } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { actor, choiceOf, editsUnder, moreOf, named, STATUSES, textOf } from './claim-arguments.ts'

export const release: Verb = {
  verb: 'release',
  about:
    'gives up claims of its own: those named, else all; with the status and result of its role, for the swarm state',
  args: {
    paths: '[text, …]?',
    task: 'reference?',
    role: 'text?',
    status: 'complete|blocked|abandoned|active?',
    result: 'text?',
    handoff: 'text? (what the next one should know)',
    more: '{…}?',
  },
  example: { paths: ['src/auth/**'] },
  plan(p, args, report) {
    const session = actor(p, report)
    if (session === undefined) return undefined
    p.claims.sweep()
    const status = choiceOf(args, 'status', STATUSES, report)
    const [result, handoff] = [textOf(args, 'result', report), textOf(args, 'handoff', report)]
    const more = moreOf(args, report)
    const claims = named(p, session, args, report)
    const lost = (['status', 'result', 'handoff', 'more'] as const).find(
      (f) => args[f] !== undefined && args[f] !== null,
    )
    const naming = args.paths ?? args.task ?? args.role
    if (claims.length === 0 && lost !== undefined && (naming === undefined || naming === null))
      report({
        field: lost,
        message: `${session} holds no claim, so this would be said of nothing`,
        received: shown(args[lost]),
        hint: 'claim the role again first: ["claim", {"role": "…"}]',
      })
    const edits = editsUnder(p, session, claims).map((c) => p.claims.end(c, 'released', {}))
    const ended = claims.map((c) =>
      p.claims.end(c, 'released', {
        ...((status ?? c.role) ? { status: status ?? 'complete' } : {}),
        ...(result === undefined ? {} : { result }),
        ...(handoff === undefined ? {} : { handoff }),
        ...(more === undefined ? {} : { more: { ...c.more, ...more } }),
      }),
    )
    if (ended.length === 0) p.note(`${session} holds no claim`)
    return { id: session, released: [...ended, ...edits].map((c) => ({ n: c.n, on: c.on })) }
  },
}
