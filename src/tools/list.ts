import { UserError } from '../errors.ts'
import { nearest } from '../model/names.ts'
import type { ListOptions } from '../read/reader.ts'
import { shortRefs } from '../read/short-references.ts'
import { momentSaid } from '../recall/moment.ts'
import { stateOf } from '../recall/validity.ts'
import { ago, entityJson, oneLine } from './format.ts'
import { type Block, defineTool } from './tool.ts'

export const list = defineTool({
  name: 'list',
  title: 'List knowledge',
  about: 'lists what is recorded, newest first; without a kind, everything',
  example: 'tidemark list decision --limit 5',
  params: {
    kind: { type: 'text', about: 'a kind, singular or plural', place: 0 },
    limit: { type: 'number', about: 'so many at most (50)' },
    since: { type: 'text', about: 'recorded since, e.g. 2026-11-01 or "last week"' },
    topic: { type: 'text', about: 'with this topic or tag' },
    standing: {
      type: 'text',
      about: 'proposed, confirmed or rejected',
      choices: ['proposed', 'confirmed', 'rejected'],
    },
    all: { type: 'flag', about: 'also what is retired, rejected or superseded' },
  },
  readOnly: true,
  run({ memory }, args) {
    const { reader } = memory
    const registry = reader.registry()
    const { kind, limit = 50, topic, standing, all: whole } = args
    const named = kind === undefined ? undefined : (registry.kind(kind) ?? registry.kindByPlural(kind))
    if (kind !== undefined && !named) {
      const near = nearest(
        kind,
        registry.kinds().flatMap((k) => [k.name, k.plural]),
      )
      throw new UserError(
        'unknown-kind',
        `no kind "${kind}"`,
        near.length > 0
          ? `did you mean ${near.join(' or ')}?`
          : `the kinds are ${registry
              .kinds()
              .filter((k) => !k.internal)
              .map((k) => k.name)
              .join(', ')}`,
      )
    }
    if (!Number.isInteger(limit) || limit < 0)
      throw new UserError('bad-argument', '--limit is not a whole number', 'give a whole number')
    const options: ListOptions = {
      limit: limit + 1,
      ...(args.since === undefined ? {} : { since: momentSaid(args.since, memory.env.now(), 'since') }),
      topic,
      standing,
      all: whole,
    }
    // what is there, also of kinds that nobody declares any more
    const kinds = named
      ? [named.name]
      : reader.counts().flatMap((c) => (registry.kind(c.kind)?.internal ? [] : [c.kind]))
    const all = kinds
      .flatMap((k) => reader.list(k, options))
      .sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1))
    const found = all.slice(0, limit)
    const now = memory.env.now()
    const width = Math.max(0, ...found.map((e) => e.kind.length))
    const rows = found.map((e) => {
      const second = registry
        .kind(e.kind)
        ?.positional.map((f) => e.fields[f])
        .find((v) => typeof v === 'string' && v !== e.name)
      const marks = [
        e.fields.standing === 'proposed' ? 'proposed' : '',
        e.fields.retired === undefined ? '' : 'retired',
        stateOf(e, reader, now) === 'superseded' ? 'superseded' : '',
      ].filter(Boolean)
      return {
        e,
        second: second === undefined ? '' : String(second),
        marks: marks.join(', '),
        when: ago(e.created, now),
      }
    })
    const lines = rows.map(
      ({ e, second, marks, when }) =>
        `${e.kind.padEnd(width)}  ${oneLine(e.name, 60)}${second ? ` — ${oneLine(second, 60)}` : ''}${marks ? ` [${marks}]` : ''}  (${when})`,
    )
    const left =
      all.length > found.length
        ? `… more: give --limit ${Math.max(50, limit * 2)}, a kind, --topic or --since`
        : lines.length === 0
          ? `nothing ${named ? `of kind ${named.name} ` : ''}is recorded${args.kind || args.topic || args.since ? ' that fits' : ' yet: `tidemark remember "…"` records something'}`
          : ''
    if (left) lines.push(left)
    return {
      text: lines.join('\n'),
      json: found.map(entityJson),
      page() {
        const refs = shortRefs(
          found.map((e) => e.id),
          reader.allIds(),
        )
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
