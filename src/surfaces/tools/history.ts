import { STATE } from '../../engine/log/cells.ts'
import { isMark, saidIn } from '../../engine/log/context-value.ts'
import { type Event, valueBefore } from '../../engine/log/events.ts'
import type { Memory } from '../../engine/memory.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import { stands } from '../../find/recall/validity.ts'
import type { Json } from '../../model/field.ts'
import { referenceTo } from '../../project/discover/values.ts'
import { ago, findOne, moment, mustBeWhole, oneLine } from './format.ts'
import { keptPrompts, mayReadPrompts } from './kept-prompts.ts'
import { type Block, defineTool, REF } from './tool.ts'

const WORDS: Record<Event['op'], string> = {
  set: 'set to',
  clear: 'cleared',
  add: 'added',
  remove: 'removed',
  put: 'set',
  drop: 'removed',
}

function told(given: Event, was: Json | undefined): string {
  const e = { ...given, ...saidIn(given) }
  if (e.purged) return e.field === '$' ? 'erased' : `${e.field} (erased)`
  if (e.field === '$') return (e.value as { s?: string } | undefined)?.s ?? 'changed'
  const at = e.path?.length ? `${e.field}.${e.path.join('.')}` : e.field
  const value =
    e.value === undefined ? '' : ` ${oneLine(typeof e.value === 'string' ? e.value : JSON.stringify(e.value), 80)}`
  return `${at} ${WORDS[e.op]}${value}${was !== undefined ? ` (was ${oneLine(typeof was === 'string' ? was : JSON.stringify(was), 60)})` : ''}`
}

/** What took the place of an entity, and whose place it took: the events that made the links. */
const supersessions = (memory: Memory, id: string) =>
  (['to', 'from'] as const).flatMap((end) =>
    memory.reader
      .links(end, id)
      .filter((link) => link.type === 'supersedes' && stands(link))
      .flatMap((link) => {
        const said = end === 'to' ? 'superseded by' : 'supersedes'
        const other = referenceTo(memory.reader, end === 'to' ? link.from : link.to)
        const [made] = memory.history(link.id)
        return made ? [{ ...made, text: `${said} ${other}` }] : []
      }),
  )

type Entry = ReturnType<Memory['history']>[number]

/** What an event took the place of; items of lists come and go by themselves. */
const wasOf = ({ event }: Entry, all: readonly Entry[]): Json | undefined =>
  event.op === 'add' || event.op === 'remove' || event.field === STATE
    ? undefined
    : valueBefore(
        event,
        all.map((x) => x.event),
      )

const withWas = (was: Json | undefined): { was?: Json } => (was === undefined ? {} : { was })

export const history = defineTool({
  name: 'history',
  title: 'History of an entity',
  about:
    'tells everything that happened to an entity, oldest first: who, when, what, and what it was before; without one, the latest batches',
  example: 'tidemark history use-sqlite',
  params: {
    ref: { ...REF, place: 'rest' },
    limit: { type: 'number', about: 'so many batches, when no entity is named (20)' },
    prompts: { type: 'flag', about: 'what you typed in sessions on this machine, newest first', typed: true },
  },
  readOnly: true,
  run(context, args) {
    const { memory, local } = context
    if (args.prompts && mayReadPrompts(context)) return keptPrompts(context, '', args.limit)
    if (args.ref === undefined) {
      const { limit = 20 } = args
      mustBeWhole({ limit }, 1)
      const news = memory.newsSince(Math.max(0, memory.cursor - limit)).reverse()
      const lines = news.map(
        (n) =>
          `${moment(n.at, local)}  ${shortBatch(n.batch)}  ${n.summary}${n.author.session ? `  [${n.author.session}]` : ''}`,
      )
      const table: Block = {
        head: ['WHEN', 'BATCH', 'WHAT', 'SESSION'],
        rows: news.map((n) => [
          [['aside', ago(n.at, memory.env.now())]],
          [['ref', shortBatch(n.batch)]],
          [n.summary],
          [['kind', oneLine(n.author.session ?? '', 20)]],
        ]),
        cuts: 2,
      }
      return {
        text: lines.join('\n') || 'nothing has happened yet',
        ...(news.length > 0 && { page: () => [table] }),
        json: news.map((n) => ({
          batch: n.batch,
          seq: n.seq,
          at: new Date(n.at).toISOString(),
          summary: n.summary,
          author: n.author as unknown as Json,
        })),
      }
    }
    const e = findOne(memory.reader, args.ref, true)
    const events = memory.history(e.id).filter((x) => x.event.field !== 'provenance')
    const steps = [
      ...events.map((x) => ({ ...x, text: told(x.event, wasOf(x, events)) })),
      ...supersessions(memory, e.id),
    ]
    steps.sort((a, b) => a.event.stamp.ms - b.event.stamp.ms)
    const lines: string[] = []
    const blocks: Block[] = []
    const now = memory.env.now()
    let batch = ''
    for (const x of steps) {
      if (isMark(x.event)) continue
      if (x.batch !== batch) {
        batch = x.batch
        const who = [x.author?.user, x.author?.agent, x.author?.session].filter(Boolean).join(', ')
        const why = x.author?.intent ? `  “${oneLine(x.author.intent, 80)}”` : ''
        const by = `${who ? `  ${who}` : ''}${why}`
        lines.push(`${moment(x.event.stamp.ms, local)}  ${shortBatch(batch)}${by}`)
        blocks.push({ line: [['name', ago(x.event.stamp.ms, now)], '  ', ['ref', shortBatch(batch)], ['aside', by]] })
      }
      lines.push(`  ${x.text}`)
      blocks.push({ line: [x.text], indent: 2 })
    }
    const json = events.map((x) => ({
      id: x.id,
      batch: x.batch,
      at: new Date(x.event.stamp.ms).toISOString(),
      field: x.event.field,
      op: x.event.op,
      ...(x.event.path ? { path: [...x.event.path] } : {}),
      ...(x.event.value !== undefined ? { value: x.event.value } : {}),
      ...withWas(wasOf(x, events)),
      ...(x.received !== undefined ? { received: new Date(x.received).toISOString() } : {}),
      author: (x.author ?? {}) as unknown as Json,
    }))
    return { text: lines.join('\n'), json, page: () => blocks }
  },
})
