import { nameOf } from '../../engine/read/called.ts'
import { markOf, Staleness } from '../../engine/read/stale.ts'
import { sayMore, waitingChanges } from '../../engine/replication/waiting.ts'
import { countWaiting } from '../../engine/store/held.ts'
import { lookAgain } from '../../find/code/look.ts'
import { type Entity, provenanceOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { WAITS_DAYS } from '../../session/briefing/sections/unconfirmed.ts'
import { idsOf } from '../../work/coordination/session-ids.ts'
import { numberOf, proposalText, waitingIn as waitingSkills } from '../../work/handoff/views/mutations.ts'
import { contraryAmong, contraryRules, howSettled, saidContrary } from './contradictions.ts'
import { ago, entityJson, mustBeWhole, oneLine } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { every, proposedIn, staleHere, unverifiedRules, waitingIn } from './review-queue.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

/** Whether it rests on what a person typed or a model found it, in one of these sessions if any are named. */
function wasCaptured(e: Entity, sessions: ReadonlySet<string> | undefined): boolean {
  return provenanceOf(e).some(
    (p) =>
      (p.said !== undefined || /^(?:capture$|prompt$|llm:)/.test(String(p.source))) &&
      // a subagent's begins with that of its parent, also when presence has forgotten both
      (sessions === undefined || sessions.has(String(p.session)) || sessions.has(String(p.session).split('/')[0]!)),
  )
}

/** What was captured of what people said, also what was confirmed or rejected since. */
function capturedIn({ memory, session }: ToolContext): Entity[] {
  const sessions = session === undefined ? undefined : idsOf(memory, session)
  const passes = (e: Entity) => wasCaptured(e, sessions)
  const all = every(memory.reader, { all: true }, passes).concat(every(memory.reader, { standing: 'rejected' }, passes))
  return [...new Map(all.map((e) => [e.id, e])).values()]
}

const NOTHING = { lines: [], json: [], of: 0 }

type Slice = readonly [from: number, to: number | undefined]
const WHOLE: Slice = [0, undefined]

/** Changes of skills that are proposed: a person sees each with what it would change before it is approved. */
function mutationsIn({ memory }: ToolContext, slice = WHOLE): { lines: string[]; json: Json[]; of: number } {
  const found = waitingSkills(memory.reader)
  const all = found.slice(...slice)
  const lines = all.map(
    (e) => `${numberOf(e)}  ${oneLine(proposalText(e), 300)}\n  tidemark mutation approve ${numberOf(e)}`,
  )
  return { lines, json: all.map(entityJson), of: found.length }
}

/** What the code has left behind, each with what to read again, and how to say that it still holds. */
function staleIn({ memory, project }: ToolContext, slice: Slice): { lines: string[]; json: Json[]; of: number } {
  const { reader, db } = memory
  const found = new Staleness(db, project.root, reader).all()
  const all = found.slice(...slice)
  const lines = all.map(
    (s) => `${reader.entity(s.id)!.kind}  ${oneLine(nameOf(reader.entity(s.id)!), 90)}  (${markOf(s)})\n  ${s.id}`,
  )
  if (lines.length > 0)
    lines.push(
      '',
      `read the code again; tidemark re-anchor ${all[0]!.id} says that it still holds, else record it anew or retire it`,
    )
  const json = all.map((s) => ({ ...(entityJson(reader.entity(s.id)!) as { [k: string]: Json }), stale: markOf(s) }))
  return { lines, json, of: found.length }
}

/** What others want to change of what somebody here stands by. */
function changesIn({ memory }: ToolContext, slice: Slice): { lines: string[]; json: Json[]; of: number } {
  const { all: found, more } = waitingChanges(memory.db)
  const all = found.slice(...slice)
  const lines = all.map(
    ({ entity: e, by, wants }) =>
      `${e.kind}  ${oneLine(nameOf(e), 90)}  (${oneLine(by, 60)}, unverified, ${oneLine(wants, 600)})\n  ${e.id}`,
  )
  if (all.length > 0) for (const [by, n] of more) lines.push(oneLine(sayMore(by, n), 120))
  if (all[0])
    lines.push(
      `until you decide, what was here holds: tidemark confirm ${all[0].entity.id} takes the change, tidemark reject ${all[0].entity.id} keeps it as it is`,
    )
  const json = all.map(({ entity, by, wants }) => ({ ...(entityJson(entity) as { [k: string]: Json }), by, wants }))
  return { lines, json, of: found.length }
}

/** The part of what waits that is asked for. */
interface Part {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

function list(context: ToolContext, all: readonly Entity[], captured: boolean, { limit, offset = 0 }: Part): Output {
  const { memory, session } = context
  const end = limit === undefined ? undefined : offset + limit
  /** The part of what stands behind so many. */
  const behind = (n: number): Slice => [Math.max(0, offset - n), end === undefined ? undefined : Math.max(0, end - n)]
  const others = captured ? NOTHING : changesIn(context, [offset, end])
  const found = all.slice(...behind(others.of))
  const unverified = new Set(captured ? [] : unverifiedRules(memory).map((e) => e.id))
  const now = memory.env.now()
  const lines = found.map((e) => {
    const standing = captured ? `${standingOf(e.fields)}, ` : unverified.has(e.id) ? 'from others, unverified, ' : ''
    return `${e.kind}  ${oneLine(nameOf(e), e.kind === 'relationship' ? 200 : 90)}  (${standing}${ago(e.created, now)})\n  ${e.id}`
  })
  const {
    lines: stale,
    json: staleJson,
    of: staleOnes,
  } = captured ? NOTHING : staleIn(context, behind(others.of + all.length))
  const changes = captured ? NOTHING : mutationsIn(context, behind(others.of + all.length + staleOnes))
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
  lines.push(...(lines.length > 0 && stale.length > 0 ? [''] : []), ...stale)
  lines.push(...(lines.length > 0 && changes.lines.length > 0 ? [''] : []), ...changes.lines)
  lines.unshift(...others.lines, ...(lines.length > 0 && others.lines.length > 0 ? [''] : []))
  const more = end === undefined ? 0 : others.of + all.length + staleOnes + changes.of - end
  if (more > 0) lines.push('', `… ${more} more: give --offset ${end}`)
  const { old } = captured ? { old: 0 } : proposedIn(memory)
  if (old > 0)
    lines.push(
      '',
      `${old} that nobody touched in ${WAITS_DAYS} days ${old === 1 ? 'waits' : 'wait'} no more: tidemark list --standing proposed`,
    )
  const pairs = captured || offset > 0 ? [] : [...contraryRules(context, all), ...contraryAmong(context)]
  for (const pair of pairs) lines.push('', `${saidContrary(pair)}: ${howSettled(pair, context)}`)
  return {
    text: lines.length === 0 ? empty : lines.join('\n'),
    json: [...others.json, ...found.map(entityJson), ...staleJson, ...changes.json],
  }
}

export const review = defineTool({
  name: 'review',
  title: 'Review proposals',
  about:
    'what waits for somebody to confirm or reject it. On a terminal it is shown one after another, a key for each; elsewhere as a list',
  example: 'tidemark review',
  params: {
    'as-of': AS_OF,
    limit: { type: 'number', about: 'so many at most' },
    offset: { type: 'number', about: 'without the first so many' },
    captured: { type: 'flag', about: 'what came of what people typed, in this session if one acts, agreed to or not' },
  },
  readOnly: false,
  dashboard: true,
  async run(context, args) {
    await lookAgain(context.memory, context.project)
    const { reader, now, past } = await at(context, args)
    const { limit, offset = 0 } = args
    mustBeWhole({ limit, offset })
    if (past) {
      const waited = every(reader, { standing: 'proposed' }, () => true).slice(
        offset,
        limit === undefined ? undefined : offset + limit,
      )
      const lines = waited.map((e) => `${e.kind}  ${oneLine(nameOf(e), 90)}  (${ago(e.created, now)})\n  ${e.id}`)
      return { text: lines.join('\n') || 'nothing was proposed then', json: waited.map(entityJson) }
    }
    const captured = args.captured === true
    const found = captured ? capturedIn(context) : waitingIn(context.memory)
    const asks =
      found.length > 0 ||
      countWaiting(context.memory.db) > 0 ||
      contraryAmong(context).length > 0 ||
      staleHere(context).length > 0
    if (captured || limit !== undefined || offset > 0 || context.key === undefined || !asks)
      return list(context, found, captured, { limit, offset })
    const walked = await (await import('./review-walk.ts')).walk(context, found)
    return { ...walked, text: [walked.text, ...mutationsIn(context).lines].join('\n') }
  },
})
