import { keptIn } from '../../base/lookup.ts'
import type { Reader } from '../../engine/read/reader.ts'
import type { Entity } from '../../model/entity.ts'
import { slug } from '../../model/names.ts'
import { ago, entityJson, oneLine, refsTo } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { type Block, defineTool, type Param, type Tool, type ToolArgs, type ToolContext } from './tool.ts'

const LIMIT = 20
const TOPICS = 20
/** How many questions are looked at on a topic. */
const MAX_FOUND = 1_000

const PARAMS = {
  topic: { type: 'text', about: 'on this topic', place: 'rest' },
  limit: { type: 'number', least: 1, about: `at most (${LIMIT})` },
  'as-of': { ...AS_OF, rare: true },
} as const satisfies Readonly<Record<string, Param>>

export const questions = defineTool({
  name: 'questions',
  title: 'Open questions',
  about:
    'lists what nobody has answered yet, newest first, with the reference by which it is answered; on a topic, in words of your own, the best match first',
  example: 'tidemark questions hub --limit 5',
  params: PARAMS,
  readOnly: true,
  run: openQuestions,
})

/** The same, under the name by which agents know it. */
export const openQuestionsTool: Tool = {
  ...questions,
  name: 'open_questions',
  about: 'Open questions, newest first or the best match for a topic, each with its ref for answer-question.',
}

/** Questions without an answer that nobody retired or rejected: newest first, on a topic the best match first. */
async function openQuestions(context: ToolContext, { limit = LIMIT, ...args }: ToolArgs<typeof PARAMS>) {
  const { reader, now } = await at(context, args)
  const topic = args.topic?.trim() ?? ''
  const open = reader.list('question').filter((q) => isOpen(reader, q))
  const found = topic === '' ? open : await onTopic(context, open, topic, args['as-of'] === undefined ? undefined : now)
  const shown = found.slice(0, limit)
  const omitted = found.length - shown.length
  const topics = countTopics(open)
  const json = {
    questions: shown.map((q) => ({ ref: q.id, ...entityJson(q) })),
    topics: Object.fromEntries(topics),
    omitted,
  }
  const named = topics.slice(0, TOPICS).map(([name, n]) => `${oneLine(name, 40)} ${n}`)
  if (topics.length > TOPICS) named.push('…')
  const byTopic = named.length > 0 ? `by topic: ${named.join(', ')}` : ''
  if (found.length === 0) {
    const none = topic === '' ? 'no question is open' : `no question is open on "${oneLine(topic, 80)}"`
    return { text: topic !== '' && byTopic ? `${none}; ${byTopic}` : none, json }
  }
  const lines = shown.flatMap((q) => told(q, now))
  if (omitted > 0) lines.push(`… ${omitted} more: give ${topic === '' ? 'a topic or ' : ''}a larger limit`)
  if (topic === '' && byTopic) lines.push(byTopic)
  if (shown.length > 0) lines.push(`answer one with ["answer-question", {"ref": "${shown[0]!.id}", "answer": "…"}]`)
  const page = (): Block[] => {
    const refs = refsTo(reader, shown)
    const table: Block = {
      head: ['REF', 'QUESTION', 'TOPICS', 'ASKED'],
      rows: shown.map((q) => [
        [['ref', refs.get(q.id)!]],
        [['name', q.name]],
        [['kind', oneLine(topicsOf(q).join(', '), 24)]],
        [['aside', ago(q.created, now)]],
      ]),
      cuts: 1,
    }
    const left = omitted > 0 ? `… ${omitted} more: --limit N shows them; ` : ''
    return [table, { line: [['aside', `${left}tidemark answer '${refs.get(shown[0]!.id)}' "…" answers the first`]] }]
  }
  return { text: lines.join('\n'), json, ...(shown.length > 0 ? { page } : {}) }
}

function told(q: Entity, now: number): string[] {
  const topics = topicsOf(q).map((t) => oneLine(t, 40))
  const marks = [
    topics.length > 0 ? `[${topics.join(', ')}]` : '',
    q.fields.standing === 'proposed' ? '[proposed]' : '',
  ]
  const head = [oneLine(q.name, 300), ...marks.filter(Boolean), `(${ago(q.created, now)})`].join('  ')
  const { context } = q.fields
  return [head, ...(typeof context === 'string' ? [`  ${oneLine(context, 200)}`] : []), `  ${q.id}`]
}

/** Answered is what has an answer of its own, or a confirmed link to one. */
export const isOpen = (reader: Reader, q: Entity): boolean =>
  String(q.fields.answer ?? '').trim() === '' && reader.edges('from', [q.id], ['answered-by']).length === 0

/** The topics and tags of something, in the form in which they are compared. */
export const labelsOf = ({ fields: { topics, tags } }: Entity): Set<string> =>
  new Set([topics, tags].flatMap((v) => (Array.isArray(v) ? v.map((label) => slug(String(label))) : [])))

const topicsOf = (q: Entity): string[] => (Array.isArray(q.fields.topics) ? q.fields.topics.map(String) : [])

/** Of what recall finds this share of the best one's relevance is on the topic; less shares a word with it by chance. */
const ON_TOPIC = 0.1

/** Those that have the topic, or a tag of that name, and then those that recall finds by its words. */
async function onTopic(
  { memory, project }: ToolContext,
  open: readonly Entity[],
  topic: string,
  asOf: number | undefined,
): Promise<Entity[]> {
  const labelled = open.filter((q) => labelsOf(q).has(slug(topic)))
  if (labelled.length === open.length) return labelled
  const { Recaller } = await import('../../find/recall/recall.ts')
  const words = new Recaller(memory, project, { embedder: { use: 'none' } })
  const { results } = words.askNow(topic, { asOf, kinds: ['question'], scope: 'macro', all: true, limit: MAX_FOUND })
  const least = ON_TOPIC * Math.max(0, ...results.map((r) => r.parts.relevance))
  const near = results.flatMap((r) => (r.parts.relevance < least ? [] : [r.id, ...r.similar]))
  const byId = new Map(open.map((q) => [q.id, q]))
  return [...new Set([...labelled, ...near.flatMap((id) => byId.get(id) ?? [])])]
}

/** How many are open on each topic, most first; one spelling for each. */
function countTopics(open: readonly Entity[]): [string, number][] {
  const counts = new Map<string, [string, number]>()
  for (const q of open)
    for (const [key, name] of new Map(topicsOf(q).map((t) => [slug(t), t])))
      keptIn(counts, key, (): [string, number] => [name, 0])[1]++
  return [...counts.values()].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}
