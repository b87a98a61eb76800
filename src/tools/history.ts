import { UserError } from '../errors.ts'
import { isMark, saidIn } from '../log/context-value.ts'
import type { Event } from '../log/events.ts'
import type { Json } from '../model/field.ts'
import { ago, findOne, moment, oneLine } from './format.ts'
import type { Block, Tool } from './tool.ts'

const WORDS: Record<Event['op'], string> = {
  set: 'set to',
  clear: 'cleared',
  add: 'added',
  remove: 'removed',
  put: 'set',
  drop: 'removed',
}

function told(given: Event): string {
  const e = { ...given, ...saidIn(given) }
  if (e.purged) return e.field === '$' ? 'erased' : `${e.field} (erased)`
  if (e.field === '$') return (e.value as { s?: string } | undefined)?.s ?? 'changed'
  const at = e.path?.length ? `${e.field}.${e.path.join('.')}` : e.field
  const value =
    e.value === undefined ? '' : ` ${oneLine(typeof e.value === 'string' ? e.value : JSON.stringify(e.value), 80)}`
  return `${at} ${WORDS[e.op]}${value}${e.was !== undefined ? ` (was ${oneLine(typeof e.was === 'string' ? e.was : JSON.stringify(e.was), 60)})` : ''}`
}

export const history: Tool = {
  name: 'history',
  title: 'History of an entity',
  about:
    'tells everything that happened to an entity, oldest first: who, when, what, and what it was before; without one, the latest batches',
  example: 'tidemark history use-sqlite',
  params: {
    ref: {
      type: 'text',
      ref: true,
      about: 'an id, kind:name, a path, a name, or a short reference such as #a3f',
      place: 'rest',
    },
    limit: { type: 'number', about: 'so many batches, when no entity is named (20)' },
  },
  readOnly: true,
  run({ memory, local }, args) {
    if (args.ref === undefined) {
      const limit = typeof args.limit === 'number' ? args.limit : 20
      if (!Number.isInteger(limit) || limit < 1)
        throw new UserError('bad-argument', '--limit is no whole number from 1 on', 'give a whole number')
      const news = memory.newsSince(Math.max(0, memory.cursor - limit)).reverse()
      const lines = news.map(
        (n) => `${moment(n.at, local)}  ${n.batch}  ${n.summary}${n.author.session ? `  [${n.author.session}]` : ''}`,
      )
      return {
        text: lines.join('\n') || 'nothing has happened yet',
        ...(news.length === 0
          ? {}
          : {
              page: (): Block[] => [
                {
                  head: ['WHEN', 'BATCH', 'WHAT', 'SESSION'],
                  rows: news.map((n) => [
                    [['aside', ago(n.at, memory.env.now())]],
                    [['ref', n.batch]],
                    [n.summary],
                    [['kind', oneLine(n.author.session ?? '', 20)]],
                  ]),
                  cuts: 2,
                },
              ],
            }),
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
    const lines: string[] = []
    const blocks: Block[] = []
    const now = memory.env.now()
    let batch = ''
    for (const x of events) {
      if (isMark(x.event)) continue
      if (x.batch !== batch) {
        batch = x.batch
        const who = [x.author?.user, x.author?.agent, x.author?.session].filter(Boolean).join(', ')
        const why = x.author?.intent ? `  “${oneLine(x.author.intent, 80)}”` : ''
        const by = `${who ? `  ${who}` : ''}${why}`
        lines.push(`${moment(x.event.stamp.ms, local)}  ${batch}${by}`)
        blocks.push({ line: [['name', ago(x.event.stamp.ms, now)], '  ', ['ref', batch], ['aside', by]] })
      }
      lines.push(`  ${told(x.event)}`)
      blocks.push({ line: [told(x.event)], indent: 2 })
    }
    const json = events.map((x) => ({
      id: x.id,
      batch: x.batch,
      at: new Date(x.event.stamp.ms).toISOString(),
      field: x.event.field,
      op: x.event.op,
      ...(x.event.path ? { path: [...x.event.path] } : {}),
      ...(x.event.value !== undefined ? { value: x.event.value } : {}),
      ...(x.event.was !== undefined ? { was: x.event.was } : {}),
      ...(x.received !== undefined ? { received: new Date(x.received).toISOString() } : {}),
      author: (x.author ?? {}) as unknown as Json,
    }))
    return { text: lines.join('\n'), json, page: () => blocks }
  },
}
