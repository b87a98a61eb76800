import { UsageError, UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { cardOf } from '../../find/recall/card.ts'
import { otherProjects } from '../../find/recall/projects.ts'
import type { Json } from '../../model/field.ts'
import { shellWord } from '../../model/shell.ts'
import { openProject } from '../../project/open.ts'
import { likeness, toReuse, traitsOf } from '../../project/tiers/alike.ts'
import { promote, promotionOf } from '../../project/tiers/promote.ts'
import { findOne, oneLine } from './format.ts'
import { askPerson } from './person.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

/** How many projects are listed, and how much of each. */
const LISTED = { projects: 5, entries: 5, shared: 6 }

function inside<T>(project: Project, body: (memory: Memory) => T): T {
  using memory = openProject(project, { unlisted: true })
  return body(memory)
}

/** What projects like this one use, nearest first. */
function list({ memory, project, served }: ToolContext): Output {
  const own = traitsOf(project, memory)
  const found = otherProjects(project, 'all', undefined, served).flatMap((other) => {
    try {
      return inside(other, (theirs) => {
        const { score, shared } = likeness(own, traitsOf(other, theirs))
        const used = score > 0 ? toReuse(theirs, other, memory, LISTED.entries) : []
        return used.length > 0
          ? [{ name: other.name, score, shared, used: used.map(({ id, kind, name }) => ({ id, kind, name })) }]
          : []
      })
    } catch (error) {
      if (error instanceof UserError) return [] // a store that cannot be opened is none to learn from
      throw error
    }
  })
  found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
  const first = found.slice(0, LISTED.projects)
  const lines = first.flatMap(({ name, shared, used }) => {
    const more = shared.length > LISTED.shared ? `, and ${shared.length - LISTED.shared} more` : ''
    const head = `${name} is like this project (${shared.slice(0, LISTED.shared).join(', ')}${more}) and uses:`
    return [
      head,
      ...used.map(
        (e) => `  ${e.kind}  ${oneLine(e.name, 80)}  tidemark reuse ${shellWord(e.id)} --from ${shellWord(name)}`,
      ),
    ]
  })
  const nothing = 'no other project of yours shares a package or a topic with this one'
  return { text: lines.length > 0 ? lines.join('\n') : nothing, json: first as unknown as Json }
}

async function take(context: ToolContext, ref: string, from: string): Promise<Output> {
  const { memory, project, served } = context
  const [other] = otherProjects(project, [from], undefined, served)
  if (!other) throw new UserError('unknown-project', `"${from}" is this project`, 'name another one')
  const promotion = inside(other, (theirs) => promotionOf(theirs, other, findOne(theirs.reader, ref)))
  const { entity, args } = promotion
  const source = promotion.source.replace(/^promoted/, 'reused')
  const ask = askPerson(context)
  const card = cardOf({ id: entity.id, kind: entity.kind, name: entity.name, fields: args }, memory.registry())
  const verified = (await ask?.(`${card}\n  ${source}\nShould it hold in this project too?`)) === true
  const report = promote(memory, other, { ...promotion, source, verified })
  const [left] = [...report.unplaced, ...report.kept]
  const is = left
    ? `not taken over: ${left.why}`
    : report.created === 0
      ? 'known here already'
      : verified
        ? 'holds here too'
        : 'proposed here: tidemark review'
  return {
    text: `${entity.id} of ${other.name}: ${is}`,
    json: {
      id: entity.id,
      project: other.id,
      source,
      created: report.created,
      standing: verified ? 'confirmed' : 'proposed',
    },
  }
}

export const reuse = defineTool({
  name: 'reuse',
  title: 'Reuse from another project',
  about:
    'what your other projects that are like this one use, by the packages and topics they share; with a reference takes one over: it remembers where it came from, and holds here after a person says yes',
  example: 'tidemark reuse',
  params: {
    ref: { type: 'text', about: 'what is to be taken over, as the other project calls it', place: 0 },
    from: { type: 'text', about: 'the other project: its name, id or path' },
  },
  readOnly: false,
  local: true,
  run(context, { ref, from }) {
    if (ref === undefined && from === undefined) return list(context)
    if (ref === undefined || from === undefined)
      throw new UsageError('a reference and --from go together', 'tidemark reuse REF --from PROJECT')
    return take(context, ref, from)
  },
})
