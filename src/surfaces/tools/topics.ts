import { lookAt } from '../../find/graph/signals/index.ts'
import { dueForReview } from '../../find/graph/signals/stale.ts'
import { topicsOf, topicVocabularyOf, tracesByTopic } from '../../find/graph/topics.ts'
import { type Entity, madeAt, readField } from '../../model/entity.ts'
import { oneLine } from './format.ts'
import { AS_OF, at, findAt } from './moment.ts'
import { defineTool, REF } from './tool.ts'

const NAME = 80
const day = (e: Entity) => new Date(madeAt(e)).toISOString().slice(0, 10)

export const topics = defineTool({
  name: 'topics',
  title: 'Topics of decisions',
  about:
    'lists the topics of decisions with how many each has; with a topic, its decisions in the order of time and which are due for review; with --of, the topics of anything recorded and where they come from',
  example: 'tidemark topics auth',
  params: {
    topic: { type: 'text', about: 'a topic, or another name of it', place: 'rest' },
    of: { ...REF, about: 'the topics of this one' },
    'as-of': AS_OF,
  },
  readOnly: true,
  async run(context, args) {
    const { memory, project } = context
    const then = await at(context, args)
    const { reader, now } = then
    const words = topicVocabularyOf(project)
    if (args.of !== undefined) {
      const found = topicsOf(reader, findAt(context, then, args.of), words)
      return {
        text:
          found.map(({ topic, from, by }) => `${topic}  (${from}: ${oneLine(by, NAME)})`).join('\n') ||
          'no topic is known',
        json: found.map((t) => ({ ...t })),
      }
    }
    const traces = tracesByTopic(reader, words)
    if (args.topic === undefined)
      return {
        text:
          traces
            .map(({ topic, decisions: all }) => `${topic}  ${all.length}  ${day(all[0]!)} to ${day(all.at(-1)!)}`)
            .join('\n') || 'no decision has a topic yet',
        json: traces.map(({ topic, decisions }) => ({ topic, decisions: decisions.map((e) => e.id) })),
      }
    const topic = words.nameOf(args.topic)
    const decisions = traces.find((t) => t.topic === topic)?.decisions ?? []
    const due = new Map(dueForReview(lookAt(memory, project, { reader, now })).map((d) => [d.decision.id, d.why]))
    const kind = reader.registry().kind('decision')
    const told = decisions.map((e) => ({ e, status: String(readField(e, 'status', kind)), why: due.get(e.id) }))
    return {
      text:
        told
          .map(
            ({ e, status, why }) =>
              `${day(e)}  ${oneLine(e.name, NAME)}${status === 'active' ? '' : `  [${status}]`}${why === undefined ? '' : `  due for review: ${why}`}`,
          )
          .join('\n') ||
        `no decision is on ${oneLine(topic, NAME)}${
          traces.length === 0
            ? ''
            : `; the topics are ${traces
                .slice(0, 20)
                .map((t) => t.topic)
                .join(', ')}`
        }`,
      json: told.map(({ e, status, why }) => ({
        id: e.id,
        name: e.name,
        status,
        at: new Date(madeAt(e)).toISOString(),
        ...(why === undefined ? {} : { due: why }),
      })),
    }
  },
})
