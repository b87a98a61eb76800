import { type Claim, claimsOf } from '../coordination/claims.ts'
import { namedWithId } from '../coordination/labels.ts'
import { sessionsOf } from '../coordination/sessions.ts'
import { readEdits } from '../handoff/views/index.ts'
import type { Json } from '../model/field.ts'
import { oneLine, span } from './format.ts'
import type { Output, Tool, ToolContext } from './tool.ts'

export const claimJson = (c: Claim): { [key: string]: Json } => ({
  n: c.n,
  session: c.session,
  what: c.what,
  on: c.on,
  since: new Date(c.since).toISOString(),
  until: new Date(c.until).toISOString(),
  ...(c.note === undefined ? {} : { note: c.note }),
  ...(c.role === undefined ? {} : { role: c.role }),
  ...(c.task === undefined ? {} : { task: c.task }),
  ...(c.root === undefined ? {} : { root: c.root }),
  ...(c.implicit ? { implicit: true } : {}),
})

/** A claim on a line. */
function claimLine({ memory, project }: ToolContext, c: Claim): string {
  const now = memory.env.now()
  const on = c.what === 'task' ? `task "${oneLine(memory.reader.entity(c.on)?.name ?? c.on, 60)}"` : c.on
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

export const claims: Tool = {
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
    const shown = held().filter((c) => args.mine !== true || c.session === context.session)
    const lines = shown.map((c) => claimLine(context, c))
    if (shown.length === 0) lines.push('nothing is claimed')
    for (const note of edits) lines.push(`note: ${note}`)
    const swarm = args.mine === true ? [] : blocks()
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
}
