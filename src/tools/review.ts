import { idsOf } from '../coordination/session-ids.ts'
import { UserError } from '../errors.ts'
import type { Entity } from '../model/entity.ts'
import { standingOf } from '../model/entity.ts'
import { contraryAmong, contraryRules, howSettled, saidContrary } from './contradictions.ts'
import { ago, entityJson, oneLine } from './format.ts'
import { every, nameOf, unverifiedRules, waitingIn } from './review-queue.ts'
import type { Output, Tool, ToolContext } from './tool.ts'

/** Whether a hook captured it or a model found it, in one of these sessions if any are named. */
function wasCaptured(e: Entity, sessions: ReadonlySet<string> | undefined): boolean {
  const { provenance } = e.fields
  const by = (Array.isArray(provenance) ? provenance : []) as { source?: unknown; session?: unknown }[]
  return by.some(
    (p) =>
      /^(?:capture$|llm:)/.test(String(p.source)) &&
      // a subagent's begins with that of its parent, also when presence has forgotten both
      (sessions === undefined || sessions.has(String(p.session)) || sessions.has(String(p.session).split('/')[0]!)),
  )
}

/** What hooks captured, also what was confirmed or rejected since. */
function capturedIn({ memory, session }: ToolContext): Entity[] {
  const sessions = session === undefined ? undefined : idsOf(memory, session)
  const passes = (e: Entity) => wasCaptured(e, sessions)
  const all = every(memory.reader, { all: true }, passes).concat(every(memory.reader, { standing: 'rejected' }, passes))
  return [...new Map(all.map((e) => [e.id, e])).values()]
}

function list(context: ToolContext, found: readonly Entity[], captured: boolean): Output {
  const { memory, session } = context
  const unverified = new Set(captured ? [] : unverifiedRules(memory).map((e) => e.id))
  const now = memory.env.now()
  const lines = found.map((e) => {
    const standing = captured ? `${standingOf(e.fields)}, ` : unverified.has(e.id) ? 'from others, unverified, ' : ''
    return `${e.kind}  ${oneLine(nameOf(e), 90)}  (${standing}${ago(e.created, now)})\n  ${e.id}`
  })
  const waits = found.find((e) => standingOf(e.fields) === 'proposed' || unverified.has(e.id))
  const empty = captured
    ? `nothing was captured${session === undefined ? '' : ` in session ${session}`}`
    : 'nothing is proposed'
  if (waits)
    lines.push(
      '',
      `tidemark confirm ${waits.id} agrees; tidemark reject ${waits.id} turns it down${
        found.length > 1 ? '; tidemark confirm lists all of it whole, to agree to it at once' : ''
      }`,
    )
  const pairs = captured ? [] : [...contraryRules(context, found), ...contraryAmong(context)]
  for (const pair of pairs) lines.push('', `${saidContrary(pair)}: ${howSettled(pair, context)}`)
  return { text: lines.length === 0 ? empty : lines.join('\n'), json: found.map(entityJson) }
}

export const review: Tool = {
  name: 'review',
  title: 'Review proposals',
  about:
    'what waits for somebody to confirm or reject it: on a terminal one after another, a key for each; elsewhere a list; with decisions on lines, `confirm REF` or `reject REF`, all of them at once',
  example: `printf 'confirm fact:use-pnpm\\nreject fact:use-npm\\n' | tidemark review -`,
  params: {
    decisions: {
      type: 'any',
      about: 'lines of `confirm REF`, `reject REF` or `retire REF`; after a # and a blank a reason',
      place: 0,
    },
    captured: { type: 'flag', about: 'what hooks captured, in this session if one acts, agreed to or not' },
  },
  readOnly: false,
  async run(context, args) {
    if (args.decisions !== undefined) {
      if (typeof args.decisions !== 'string')
        throw new UserError('bad-argument', 'decisions are lines of text', 'such as: confirm fact:use-pnpm')
      return (await import('./review-walk.ts')).decide(context, args.decisions)
    }
    const captured = args.captured === true
    const found = captured ? capturedIn(context) : waitingIn(context.memory)
    if (captured || context.key === undefined || (found.length === 0 && contraryAmong(context).length === 0))
      return list(context, found, captured)
    return (await import('./review-walk.ts')).walk(context, found)
  },
}
