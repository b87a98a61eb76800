import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { lookAt, signalsOf } from '../../find/graph/signals/index.ts'
import { crossTraceLinks, decisionsByTopic, topicsOf, tracesByTopic } from '../../find/graph/topics.ts'
import { fromData } from '../../scheme/data.ts'
import { type CallContext, list } from '../../scheme/values.ts'
import { type Functions, type Source, theOne } from './knowledge.ts'
import { CELLS_PER_ENTITY, made, textOf } from './options.ts'
import { linksMade, referenceTo, toScheme } from './values.ts'

/** Reads every decision and looks at its words: the clock is looked at at once. */
const STEPS_OF_ALL = 5_000

/** Topics, traces by topic and signals, now or as of a moment. */
export function signalFunctions(memory: Memory, source: Source, project: Partial<Project> = {}): Functions {
  const traces = (ctx: CallContext) => {
    ctx.charge(STEPS_OF_ALL)
    return tracesByTopic(source.reader, source.topics())
  }
  // biome-ignore format: a table, one entry a line where it can be
  return {
    '(topics) | how many decisions each topic has, those with most first | (topics)': (_, ctx) =>
      made(traces(ctx), 8, ctx, ({ topic, decisions }) => fromData({ topic, decisions: decisions.length })),
    '(topics-of ref) | the topics of an entity, each with :from (topics, tags, mention, path, keyword, neighbour) and :by | (topics-of "use-sqlite")': ([ref]) => {
      const e = theOne(source.reader, textOf(ref))
      return fromData(topicsOf(source.reader, e, source.topics()).map(({ topic, from, by }) => ({ topic, from, by })))
    },
    '(decisions-by-topic topic) | decisions on a topic, or on an alias of it, newest first | (map :name (decisions-by-topic "db"))': ([topic], ctx) => {
      ctx.charge(STEPS_OF_ALL)
      const found = decisionsByTopic(source.reader, textOf(topic), source.topics())
      return made(found, CELLS_PER_ENTITY, ctx, (e) => toScheme(e, source.reader.registry()))
    },
    '(traces) | the decisions of each topic, oldest first, as {:topic :decisions}; the longest trace first | (traces)': (_, ctx) =>
      made(traces(ctx), 16, ctx, (t) => fromData({ topic: t.topic, decisions: t.decisions.map((e) => referenceTo(source.reader, e.id)) })),
    '(cross-trace-links) | links between decisions that have topics, but none in common | (cross-trace-links)': (_, ctx) => {
      ctx.charge(STEPS_OF_ALL)
      return linksMade(source.reader, crossTraceLinks(source.reader, source.topics()).map((l) => l.id), ctx)
    },
    '(signals) | what is worth a look: each with :id :type :severity :line :entities :evidence and :next, a command | (map :line (signals))': (_, ctx) => {
      ctx.charge(STEPS_OF_ALL)
      const now = source.at === undefined ? source.now() : Date.parse(source.at)
      const found = signalsOf(lookAt(memory, project, { reader: source.reader, now }))
      ctx.alloc(found.length * CELLS_PER_ENTITY)
      return list(found.map((s) => fromData({ ...s, entities: [...s.entities], evidence: [...s.evidence] })))
    },
  }
}
