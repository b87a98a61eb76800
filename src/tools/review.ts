import type { Entity } from '../memory/entity.ts'
import { standingOf } from '../memory/entity.ts'
import type { Reader } from '../memory/read.ts'
import { vouchedFor } from '../memory/trust.ts'
import type { Json } from '../schema/field.ts'
import { idsOf } from '../sessions/ids.ts'
import { ago, entityJson, oneLine } from './present.ts'
import type { Tool, ToolContext } from './tool.ts'

const newestFirst = (a: Entity, b: Entity) => b.created - a.created || (a.id < b.id ? -1 : 1)

/** Entities of every kind that pass, newest first. */
const every = (
  reader: Reader,
  options: { standing?: string; all?: boolean },
  passes: (e: Entity) => boolean,
): Entity[] =>
  reader
    .registry()
    .kinds()
    .flatMap((k) => reader.list(k.name, options).filter(passes))
    .sort(newestFirst)

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

/** Rules that came by sync: they bind nobody here until somebody here agrees. */
export function unverifiedRules(memory: ToolContext['memory']): Entity[] {
  const facts = memory.reader.list('fact').filter((e) => standingOf(e.fields) === 'confirmed')
  const vouched = vouchedFor(
    memory,
    facts.map((e) => e.id),
  )
  return facts.filter((e) => !vouched.has(e.id)).sort(newestFirst)
}

/** What waits for somebody's yes: proposals of every kind, and rules from others. */
export const waitingIn = (memory: ToolContext['memory'], others = unverifiedRules(memory)): Entity[] =>
  every(memory.reader, { standing: 'proposed' }, () => true)
    .concat(others)
    .sort(newestFirst)

export function nameOf(e: Entity): string {
  if (e.kind === 'relationship') return `${String(e.fields.from)} ${String(e.fields.type)} ${String(e.fields.to)}`
  if (e.kind !== 'proposal') return e.name
  const [verb, { ref, ...rest }] = JSON.parse(e.name) as [string, { [arg: string]: Json }]
  return [verb, ref, Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''].filter(Boolean).join(' ')
}

export const review: Tool = {
  name: 'review',
  title: 'Review proposals',
  about:
    'lists what waits for somebody to confirm or reject it; with --captured what hooks captured, whatever became of it',
  example: 'tidemark review',
  params: {
    captured: { type: 'flag', about: 'what hooks captured, in this session if one acts, agreed to or not' },
  },
  readOnly: true,
  run({ memory, session }, args) {
    const { reader } = memory
    const captured = args.captured === true
    const sessions = captured && session !== undefined ? idsOf(memory, session) : undefined
    const unverified = captured ? [] : unverifiedRules(memory)
    const found = captured
      ? every(reader, { all: true }, (e) => wasCaptured(e, sessions)).concat(
          reader
            .registry()
            .kinds()
            .flatMap((k) => reader.list(k.name, { standing: 'rejected' }))
            .filter((e) => wasCaptured(e, sessions)),
        )
      : waitingIn(memory, unverified)
    const unique = [...new Map(found.map((e) => [e.id, e])).values()].sort(newestFirst)
    const now = memory.env.now()
    const lines = unique.map((e) => {
      const standing = captured
        ? `${standingOf(e.fields)}, `
        : unverified.includes(e)
          ? 'from others, unverified, '
          : ''
      return `${e.kind}  ${oneLine(nameOf(e), 90)}  (${standing}${ago(e.created, now)})\n  ${e.id}`
    })
    const waits = unique.find((e) => standingOf(e.fields) === 'proposed' || unverified.includes(e))
    const empty = captured
      ? `nothing was captured${session === undefined ? '' : ` in session ${session}`}`
      : 'nothing is proposed'
    const hint = waits
      ? `\n\ntidemark confirm ${waits.id} … agrees; tidemark act '[["reject", {"ref": "${waits.id}"}]]' turns it down${
          unique.length > 1 ? '; tidemark confirm lists all of it whole, to agree to it at once' : ''
        }`
      : ''
    return { text: unique.length === 0 ? empty : `${lines.join('\n')}${hint}`, json: unique.map(entityJson) }
  },
}
