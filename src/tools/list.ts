import { UserError } from '../errors.ts'
import { addAmounts, noAmounts } from '../evolution/amounts.ts'
import { seen } from '../evolution/pattern.ts'
import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { didYouMean } from '../model/names.ts'
import { oldestFirst } from '../read/order.ts'
import { markOf, Staleness } from '../read/stale.ts'
import { momentSaid } from '../recall/moment.ts'
import { stateOf } from '../recall/validity.ts'
import { ago, entityJson, oneLine, refsTo } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { type Block, defineTool } from './tool.ts'

/** What an observation tells in numbers: what it cost, or saved if it went well. */
const spent = (e: Entity): { [k: string]: Json } => ({
  good: seen(e).good,
  amounts: { ...addAmounts(noAmounts(), String(e.fields.cost ?? '')) },
})

export const list = defineTool({
  name: 'list',
  title: 'List knowledge',
  about: 'lists what is recorded, newest first; without a kind, everything',
  example: 'tidemark list decision --limit 5',
  params: {
    kind: { type: 'text', about: 'a kind, singular or plural', place: 0 },
    limit: { type: 'number', about: 'so many at most (50)' },
    offset: { type: 'number', about: 'without the first so many' },
    since: { type: 'text', about: 'recorded since, e.g. 2026-11-01 or "last week"' },
    'as-of': AS_OF,
    'valid-at': { type: 'text', about: 'without what is not true in the world at this moment' },
    topic: { type: 'text', about: 'with this topic or tag' },
    standing: {
      type: 'text',
      about: 'proposed, confirmed or rejected',
      choices: ['proposed', 'confirmed', 'rejected'],
    },
    all: { type: 'flag', about: 'also what is retired, rejected or superseded' },
  },
  readOnly: true,
  async run(context, args) {
    const { memory, project } = context
    const { reader, now, past } = await at(context, args)
    const registry = reader.registry()
    const { kind, limit = 50, offset = 0, topic, standing, all: whole } = args
    const named = kind === undefined ? undefined : (registry.kind(kind) ?? registry.kindByPlural(kind))
    if (kind !== undefined && !named) {
      const known = registry.kinds()
      const names = known.filter((k) => !k.internal).map((k) => k.name)
      const hint = didYouMean(
        kind,
        known.flatMap((k) => [k.name, k.plural]),
        `the kinds are ${names.join(', ')}`,
      )
      throw new UserError('unknown-kind', `no kind "${kind}"`, hint)
    }
    for (const [name, n] of Object.entries({ limit, offset }))
      if (!Number.isInteger(n) || n < 0)
        throw new UserError('bad-argument', `--${name} is not a whole number`, 'give a whole number')
    const options = {
      limit: offset + limit + 1,
      ...(args.since === undefined ? {} : { since: momentSaid(args.since, now, 'since', reader) }),
      topic,
      standing,
      all: whole,
      current: true,
    }
    // what is there, also of kinds that nobody declares any more
    const kinds = named
      ? [named.name]
      : reader.counts().flatMap((c) => (registry.kind(c.kind)?.internal ? [] : [c.kind]))
    const ids = reader.ids(kinds, options)
    const found = oldestFirst(memory.db, reader.entities(ids.slice(offset, offset + limit))).reverse()
    const staleness = new Staleness(memory.db, project.root, reader)
    const width = Math.max(0, ...found.map((e) => e.kind.length))
    const rows = found.map((e) => {
      const second = registry
        .kind(e.kind)
        ?.positional.map((f) => e.fields[f])
        .find((v) => typeof v === 'string' && v !== e.name)
      const stale = staleness.of(e.id)
      const isSuperseded = stateOf(e, reader, now) === 'superseded'
      const marks = [
        e.fields.standing === 'proposed' ? 'proposed' : '',
        e.fields.retired === undefined ? '' : 'retired',
        stateOf(e, reader, now) === 'superseded' ? 'superseded' : '',
        !past && staleness.of(e.id) ? 'stale' : '',
      ].filter(Boolean)
      return {
        e,
        second: second === undefined ? '' : String(second),
        marks: marks.join(', '),
        when: ago(e.created, now),
        json: {
          ...(entityJson(e) as { [k: string]: Json }),
          ...(isSuperseded ? { state: 'superseded' } : {}),
          ...(e.kind === 'observation' ? spent(e) : {}),
          ...(stale ? { stale: markOf(stale) } : {}),
        },
      }
    })
    const lines = rows.map(
      ({ e, second, marks, when }) =>
        `${e.kind.padEnd(width)}  ${oneLine(e.name, 60)}${second ? ` — ${oneLine(second, 60)}` : ''}${marks ? ` [${marks}]` : ''}  (${when})`,
    )
    const left =
      ids.length > offset + limit
        ? `… more: give --limit ${Math.max(50, limit * 2)}, a kind, --topic or --since`
        : lines.length === 0
          ? `nothing ${named ? `of kind ${named.name} ` : ''}${past ? 'was' : 'is'} recorded${past ? ' then' : args.kind || args.topic || args.since ? ' that fits' : ' yet: `tidemark remember "…"` records something'}`
          : ''
    if (left) lines.push(left)
    return {
      text: lines.join('\n'),
      json: rows.map((r) => r.json),
      page() {
        const refs = refsTo(reader, found)
        const table: Block = {
          head: ['REF', 'KIND', 'NAME', '', 'RECORDED'],
          rows: rows.map(({ e, second, marks, when }) => [
            [['ref', refs.get(e.id)!]],
            [['kind', e.kind]],
            [['name', e.name], ...(second ? [` — ${second}`] : [])],
            [['warn', marks]],
            [['aside', when]],
          ]),
          cuts: 2,
        }
        return [...(rows.length > 0 ? [table] : []), ...(left ? [{ line: [['aside', left] as const] }] : [])]
      },
    }
  },
})
