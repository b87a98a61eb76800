import { leaseTime } from '../../engine/claims/lease.ts'
import { placeOf } from '../../engine/claims/part.ts'
import type { Json } from '../../model/field.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { type Claim, claimsOf } from '../../work/coordination/claims.ts'
import { namedWithId } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { readEdits } from '../../work/handoff/views/refresh.ts'
import { oneLine, span } from './format.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

export const claimJson = ({ n, session, what, note, role, task, root, implicit, ...c }: Claim): JsonObject => {
  const [since, until] = [c.since, c.until].map((ms) => new Date(ms).toISOString())
  const about = { note, role, task, root, implicit: implicit || undefined }
  return defined({ n, session, what, on: placeOf(c), since, until, ...about }) as JsonObject
}

function claimLine({ memory, project }: ToolContext, c: Claim): string {
  const now = leaseTime(memory.db, memory.env)
  const on = c.what === 'task' ? `task "${oneLine(memory.reader.entity(c.on)?.name ?? c.on, 60)}"` : placeOf(c)
  const left = c.until > now ? `for ${span(c.until - now)} more` : 'as long as its process lives'
  const holder = sessionsOf(memory).get(c.session)
  const parts = [
    `${on}  ${holder ? namedWithId(holder) : c.session}${c.role && c.role !== holder?.role ? ` as ${c.role}` : ''}, ${left}`,
  ]
  if (c.root !== undefined && c.root !== project.root) parts.push(`in ${c.root}`)
  if (c.implicit) parts.push('(taken by an edit)')
  if (c.note !== undefined) parts.push(`"${oneLine(c.note, 80)}"`)
  return oneLine(parts.join(' '), 300)
}

export const claims = defineTool({
  name: 'claims',
  title: 'Claims',
  about: 'lists what live sessions have claimed, and how the roles of the swarm stand',
  example: 'tidemark claims',
  params: { mine: { type: 'flag', about: "only the session's own" } },
  readOnly: true,
  ofSession: () => true,
  needsSession: () => true,
  run(context, args): Output {
    const edits = readEdits(context.memory, context.project)
    const { held, blocks } = claimsOf(context.memory)
    const shown = held().filter((c) => !args.mine || c.session === context.session)
    const lines = shown.map((c) => claimLine(context, c))
    if (shown.length === 0) lines.push('nothing is claimed')
    for (const note of edits) lines.push(`note: ${note}`)
    const swarm = args.mine ? [] : blocks()
    for (const b of swarm) {
      const said = [
        b.status,
        b.result,
        b.handoff && `handoff: ${b.handoff}`,
        b.dependsOn && `depends on ${b.dependsOn.join(', ')}`,
      ]
      lines.push(oneLine(`${b.role} (${b.session}): ${said.filter(Boolean).join(' · ')}`, 300))
    }
    return {
      text: lines.join('\n'),
      json: { claims: shown.map(claimJson), ...(swarm.length > 0 ? { roles: swarm as unknown as Json } : {}) },
    }
  },
})
