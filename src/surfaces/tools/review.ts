import { nameOf } from '../../engine/read/called.ts'
import { markOf } from '../../engine/read/stale.ts'
import { sayMore, waitingChanges } from '../../engine/replication/waiting.ts'
import { lookAgain } from '../../find/code/look.ts'
import { stalenessOf } from '../../find/recall/told.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { WAITS_DAYS } from '../../session/briefing/sections/unconfirmed.ts'
import { numberOf, proposalText, waitingIn as waitingSkills } from '../../work/handoff/views/mutations.ts'
import { insteadOf } from './confirm.ts'
import { contraryAmong, contraryDecisions, contraryRules, howSettled, saidContrary } from './contradictions.ts'
import { ago, entityJson, oneLine } from './format.ts'
import { proposedIn, staleHere, unverifiedRules, waitingIn } from './review-queue.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

type Slice = readonly [from: number, to: number | undefined]

/** A part of what waits: of so many those in the slice. */
type Part = Readonly<{ lines: readonly string[]; json: readonly Json[]; of: number }>

/** Changes of skills that are proposed: a person sees each with what it would change before it is approved. */
function mutationsIn({ memory }: ToolContext, slice = [0, undefined]): Part {
  const found = waitingSkills(memory.reader)
  const all = found.slice(...slice)
  const lines = all.map(
    (e) => `${numberOf(e)}  ${oneLine(proposalText(e), 300)}\n  tidemark mutation approve ${numberOf(e)}`,
  )
  return { lines, json: all.map(entityJson), of: found.length }
}

/** What the code has left behind, each with what to read again, and how to say that it still holds. */
function staleIn({ memory, project }: ToolContext, slice: Slice): Part {
  const { reader } = memory
  const found = stalenessOf(memory, project.root, reader).all()
  const all = found.slice(...slice)
  const lines = all.map(
    (s) => `${reader.entity(s.id)!.kind}  ${oneLine(nameOf(reader.entity(s.id)!), 90)}  (${markOf(s)})\n  ${s.id}`,
  )
  if (lines.length > 0)
    lines.push(
      '',
      `read the code again; tidemark re-anchor ${all[0]!.id} says that it still holds, else record it anew or retire it`,
    )
  return { lines, json: all.map((s) => ({ ...entityJson(reader.entity(s.id)!), stale: markOf(s) })), of: found.length }
}

/** What others want to change of what somebody here stands by. */
function changesIn({ memory }: ToolContext, slice: Slice): Part {
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
  const json = all.map((w) => {
    const [instead] = insteadOf(memory, [w])
    return { ...entityJson(w.entity), by: w.by, wants: w.wants, ...(instead ? { instead: entityJson(instead) } : {}) }
  })
  return { lines, json, of: found.length }
}

/** What waits for a yes: proposals, and rules of others. */
function proposalsIn({ memory }: ToolContext, all: readonly Entity[], slice: Slice): Part {
  const found = all.slice(...slice)
  const unverified = new Set(unverifiedRules(memory).map((e) => e.id))
  const now = memory.env.now()
  const lines = found.map((e) => {
    const standing = unverified.has(e.id) ? 'from others, unverified, ' : 'proposed, '
    return `${e.kind}  ${oneLine(nameOf(e, memory), e.kind === 'fact' ? 90 : 200)}  (${standing}${ago(e.created, now)})\n  ${e.id}`
  })
  const [first] = found
  if (first)
    lines.push(
      '',
      `tidemark confirm ${first.id} agrees; tidemark reject ${first.id} turns it down${
        found.length > 1 ? '; tidemark confirm lists all of it whole, to agree to it at once' : ''
      }`,
    )
  return { lines, json: found.map(entityJson), of: all.length }
}

function list(context: ToolContext, all: readonly Entity[], limit: number | undefined, offset: number): Output {
  const end = limit === undefined ? undefined : offset + limit
  let before = 0
  const parts = [changesIn, (c: ToolContext, slice: Slice) => proposalsIn(c, all, slice), staleIn, mutationsIn].map(
    (part) => {
      const found = part(context, [Math.max(0, offset - before), end && Math.max(0, end - before)])
      before += found.of
      return found
    },
  )
  const blocks = parts.flatMap((part) => (part.lines.length > 0 ? part.lines.join('\n') : []))
  if (end !== undefined && before > end) blocks.push(`… ${before - end} more: give --offset ${end}`)
  const { old } = proposedIn(context.memory)
  if (old > 0)
    blocks.push(
      `${old} that nobody touched in ${WAITS_DAYS} days ${old === 1 ? 'waits' : 'wait'} no more: tidemark list --standing proposed`,
    )
  const pairs =
    offset > 0 ? [] : [...contraryRules(context, all), ...contraryAmong(context), ...contraryDecisions(context)]
  for (const pair of pairs) blocks.push(`${saidContrary(pair)}: ${howSettled(pair, context)}`)
  return { text: blocks.join('\n\n') || 'nothing is proposed', json: parts.flatMap((part) => part.json) }
}

export const review = defineTool({
  name: 'review',
  title: 'Review proposals',
  about:
    'what waits for somebody to confirm or reject it. On a terminal it is shown one after another, a key for each; elsewhere as a list',
  example: 'tidemark review',
  params: {
    limit: { type: 'number', least: 1, about: 'so many at most' },
    offset: { type: 'number', least: 0, about: 'without the first so many' },
  },
  dashboard: true,
  async run(context, args) {
    await lookAgain(context.memory, context.project)
    const { limit, offset = 0 } = args
    const found = waitingIn(context.memory)
    const asks =
      found.length > 0 ||
      waitingChanges(context.memory.db).all.length > 0 ||
      contraryAmong(context).length > 0 ||
      contraryDecisions(context).length > 0 ||
      staleHere(context).length > 0
    if (limit !== undefined || offset > 0 || context.key === undefined || !asks)
      return list(context, found, limit, offset)
    const walked = await (await import('./review-walk.ts')).walk(context, found)
    return { ...walked, text: [walked.text, ...mutationsIn(context).lines].join('\n') }
  },
})
