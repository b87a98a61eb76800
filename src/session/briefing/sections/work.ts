import { type Entity, provenanceOf } from '../../../model/entity.ts'
import { plain } from '../fence.ts'
import { byline, field, refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'
import { decisionItem, learnedLine } from './decisions.ts'

const LOOKED_AT = 200
const MAX_TOLD = 8
const TITLES: Readonly<Record<string, string>> = { goal: 'Goal', activity: 'Activity', task: 'Task' }
const SEVERE: ReadonlySet<unknown> = new Set(['high', 'critical'])

/** What is told of a branch of the work tree, and how. */
const TOLD: Readonly<Record<string, (e: Entity, about: About) => string>> = {
  learning: learnedLine,
  decision: (e, about) => decisionItem(e, about).text,
  result: (e, about) => `- Result: ${field(e, 'text', 240)} ${byline(e, about)}`,
  'action-note': (e, about) => `- Done: ${field(e, 'text', 240)} ${byline(e, about)}`,
}

/** What the session works on, and what was done, decided and learned there: at its own task first, then beside it. */
export const work: Section = {
  name: 'work',
  title: 'Your work',
  share: 12,
  build(about) {
    const { goal, activity, task } = about.memory.place(about.session)
    if ((goal ?? activity ?? task) === undefined) return undefined
    const places = about.focus.work
      .toReversed()
      .map((e): Item => ({ id: e.id, text: `- ${TITLES[e.kind]}: ${plain(e.name, 200)} (${refOf(e)})` }))
    const found = ofBranch(about)
    const items = found.slice(0, MAX_TOLD).map((e): Item => {
      about.delivered.add(e.id)
      return { id: e.id, text: TOLD[e.kind]!(e, about) }
    })
    return { items: [...places, ...items], beyond: found.length - items.length, see: 'recall with scope balanced' }
  },
}

/** Nearest first: of the task itself, of its activity, of its goal. What is severe counts as one step nearer. */
function ofBranch(about: About): Entity[] {
  const { memory, session, focus, reader } = about
  const { goal, activity, task } = memory.place(session)
  const steps = new Map<unknown, number>(focus.work.map((e) => [e.id, e.id === task ? 0 : e.kind === 'goal' ? 2 : 1]))
  for (const { id, fields } of reader.list('task', { limit: LOOKED_AT })) {
    const step = fields.activity === (activity ?? '') ? 1 : fields.goal === (goal ?? '') ? 2 : undefined
    if (step !== undefined && !steps.has(id)) steps.set(id, step)
  }
  const stepsTo = (e: Entity) => steps.get(provenanceOf(e).at(-1)?.task)
  const rank = (e: Entity) => stepsTo(e)! - Number(SEVERE.has(e.fields.severity))
  return Object.keys(TOLD)
    .flatMap((kind) => about.newest(kind, LOOKED_AT))
    .filter((e) => stepsTo(e) !== undefined && about.counts(e))
    .sort((a, b) => rank(a) - rank(b) || b.updated - a.updated || (a.id < b.id ? -1 : 1))
}
