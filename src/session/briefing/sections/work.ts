import { type Entity, provenanceOf } from '../../../model/entity.ts'
import { plain } from '../fence.ts'
import { refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'
import { learnedLine } from './decisions.ts'

const LOOKED_AT = 200
const MAX_LEARNINGS = 5
const TITLES: Readonly<Record<string, string>> = { goal: 'Goal', activity: 'Activity', task: 'Task' }
const SEVERITY = ['low', 'medium', 'high', 'critical']

/** What the session works on, and what was learned there: at its own task, then at those beside it. */
export const work: Section = {
  name: 'work',
  title: 'Your work',
  share: 8,
  build(about) {
    const { memory, session, focus } = about
    const { goal, activity, task } = memory.place(session)
    if ((goal ?? activity ?? task) === undefined) return undefined
    const places = focus.work.toReversed().map(
      (e): Item => ({
        id: e.id,
        text: `- ${TITLES[e.kind]}: ${plain(e.name, 200)} (${refOf(e)})`,
      }),
    )
    const learned = learnedThere(about)
    const items = learned.slice(0, MAX_LEARNINGS).map((e): Item => {
      about.delivered.add(e.id)
      return { id: e.id, text: learnedLine(e, about) }
    })
    return { items: [...places, ...items], beyond: learned.length - items.length, see: 'discover (get-learnings)' }
  },
}

/** The weightiest first, of each weight those of the task itself, and then the newest. */
function learnedThere(about: About): Entity[] {
  const { memory, session, focus, reader } = about
  const own = memory.place(session).task
  const above = new Set(focus.work.map((e) => e.id))
  const beside = reader
    .list('task', { limit: LOOKED_AT })
    .filter(({ fields }) => [fields.activity, fields.goal].some((id) => typeof id === 'string' && above.has(id)))
  const tasks = new Set([...above, ...beside.map((e) => e.id)])
  const taskOf = (e: Entity) => String(provenanceOf(e).at(-1)?.task)
  const weight = (e: Entity) => 2 * SEVERITY.indexOf(String(e.fields.severity)) + Number(taskOf(e) === own)
  return about
    .newest('learning', LOOKED_AT)
    .filter((e) => about.counts(e) && tasks.has(taskOf(e)))
    .sort((a, b) => weight(b) - weight(a) || b.updated - a.updated || (a.id < b.id ? -1 : 1))
}
