import { UserError } from '../../base/errors.ts'
import { nameOf } from '../../engine/read/called.ts'
import { oldestFirst } from '../../engine/read/order.ts'
import { lookAgain } from '../../find/code/look.ts'
import { onTopic } from '../../find/graph/topics.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { holdsJson, holdsOf, marksOf } from '../../find/recall/told.ts'
import { topicVocabularyOf } from '../../find/recall/topic-vocabulary.ts'
import { type Entity, kindOf, madeAt } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { didYouMean } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { addAmounts, noAmounts } from '../../work/evolution/amounts.ts'
import { seen } from '../../work/evolution/pattern.ts'
import { ago, entityJson, inWords, kindNamed, oneLine, partsOf, refsTo } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { type Block, defineTool } from './tool.ts'

/** What an observation tells in numbers: what it cost, or saved if it went well. */
const spent = (e: Entity): { [k: string]: Json } => ({
  good: seen(e).good,
  amounts: { ...addAmounts(noAmounts(), String(e.fields.cost ?? '')) },
})

/** What the JSON says of each entity beside its fields. */
const BESIDE = 'id kind name recorded updated version state replacedBy unverified stale good amounts'.split(' ')
/** Stands for every field that names other entities by their ids. */
const REFS = 'refs'

/** The fields that are asked for. @throws UserError for one that nothing listed can have. */
function fieldsAsked(said: string, kinds: readonly Kind[]): string[] {
  const asked = partsOf(said)
  const known = new Set([...BESIDE, REFS, ...kinds.flatMap((k) => Object.keys(fieldsOf(k)))])
  const wrong = asked.find((f) => !known.has(f))
  if (wrong === undefined && asked.length > 0) return asked
  const what = wrong === undefined ? 'no field is named' : `no field "${wrong}"`
  throw new UserError('unknown-field', what, didYouMean(wrong ?? '', [...known], `there are ${[...known].join(', ')}`))
}

/** Those of the fields of an entity. */
function picked(json: { [k: string]: Json }, fields: readonly string[], registry: Registry): { [k: string]: Json } {
  const isId = (v: Json) => typeof v === 'string' && registry.kind(kindOf(v)) !== undefined
  const isWanted = (field: string, value: Json) =>
    fields.includes(field) ||
    (fields.includes(REFS) && field !== 'id' && (Array.isArray(value) ? value.some(isId) : isId(value)))
  return Object.fromEntries(Object.entries(json).filter(([field, value]) => isWanted(field, value)))
}

/** Of one document or session there are hundreds: they are listed where they are asked for by their kind. */
const PIECES = ['chunk', 'turn']

export const list = defineTool({
  name: 'list',
  title: 'List knowledge',
  about:
    'lists what is recorded, newest first; without a kind, everything but chunks of documents and turns of sessions',
  example: 'tidemark list decision --limit 5',
  params: {
    kind: { type: 'text', about: 'a kind, singular or plural', place: 0 },
    limit: { type: 'number', least: 1, about: 'so many at most (50)' },
    offset: { type: 'number', least: 0, about: 'without the first so many' },
    since: { type: 'text', about: 'recorded since, e.g. 2026-11-01 or "last week"' },
    'as-of': AS_OF,
    'valid-at': { type: 'text', about: 'without what is not true in the world at this moment' },
    topic: { type: 'text', about: 'on this topic, or an alias of it' },
    standing: {
      type: 'text',
      about: 'proposed, confirmed or rejected',
      choices: ['proposed', 'confirmed', 'rejected'],
    },
    all: { type: 'flag', about: 'also what is retired, rejected or superseded' },
    fields: {
      type: 'text',
      about: `only these fields of each, with commas between them; ${REFS}: those that name others by their ids`,
    },
  },
  readOnly: true,
  async run(context, args) {
    const { memory, project } = context
    await lookAgain(memory, project)
    const { reader, now, past } = await at(context, args)
    const registry = reader.registry()
    const { kind, limit = 50, offset = 0, topic, standing, all: whole } = args
    const named = kind === undefined ? undefined : kindNamed(registry, kind)
    const options = {
      ...{ limit: limit + 1, offset },
      ...(args.since === undefined ? {} : { since: momentSaid(args.since, now, 'since', reader) }),
      standing,
      all: whole,
      current: true,
    }
    // what is there, also of kinds that nobody declares any more
    const there = reader.counts().filter((c) => !registry.kind(c.kind)?.internal)
    const pieces = named || topic ? [] : there.filter((c) => PIECES.includes(c.kind))
    const kinds = named ? [named.name] : there.filter((c) => !pieces.includes(c)).map((c) => c.kind)
    const fields = args.fields === undefined ? undefined : fieldsAsked(args.fields, named ? [named] : registry.kinds())
    const ids =
      topic === undefined
        ? reader.ids(kinds, options)
        : onTopic(reader, kinds, topic, options, topicVocabularyOf(project)).map((e) => e.id)
    const found = oldestFirst(memory.db, reader.entities(ids.slice(0, limit))).reverse()
    const isUnlooked = past ?? (fields && !fields.includes('stale'))
    const holds = holdsOf(memory, project.root, found, { reader, now, past: isUnlooked })
    const all = found.map((e): { [k: string]: Json } => ({
      ...entityJson(e),
      ...(e.kind === 'observation' ? spent(e) : {}),
      ...holdsJson(holds.get(e.id)!),
    }))
    const left = [
      ids.length > limit
        ? `… more: give --limit ${Math.max(50, limit * 2)}, a kind, --topic or --since`
        : found.length === 0
          ? `nothing ${named ? `of kind ${named.name} ` : ''}${past ? 'was' : 'is'} recorded${past ? ' then' : args.kind || args.topic || args.since || standing ? ' that fits' : ' yet: `tidemark remember "…"` records something'}`
          : '',
      ...pieces.map(({ kind, n }) => `without ${n} ${kind}${n === 1 ? '' : 's'}: \`tidemark list ${kind}\``),
    ]
      .filter(Boolean)
      .join('; ')
    if (fields) {
      const json = all.map((e) => picked(e, fields, registry))
      const lines = json.map((e) =>
        Object.entries(e)
          .map(([field, value]) => `${field}: ${inWords(value, 80)}`)
          .join('  '),
      )
      return { text: [...lines, left].filter(Boolean).join('\n'), json }
    }
    const width = Math.max(0, ...found.map((e) => e.kind.length))
    const rows = found.map((e) => {
      const second = registry
        .kind(e.kind)
        ?.positional.map((f) => e.fields[f])
        .find((v) => typeof v === 'string' && v !== e.name)
      return {
        e,
        name: nameOf(e, memory),
        second: second === undefined ? '' : String(second),
        marks: marksOf(holds.get(e.id)!).join(', '),
        when: ago(PIECES.includes(e.kind) ? madeAt(e) : e.created, now),
      }
    })
    const lines = rows.map(
      ({ e, name, second, marks, when }) =>
        `${e.kind.padEnd(width)}  ${oneLine(name, name === e.name ? 60 : 200)}${second ? ` — ${oneLine(second, 60)}` : ''}${marks ? ` [${marks}]` : ''}  (${when})`,
    )
    if (left) lines.push(left)
    return {
      text: lines.join('\n'),
      json: all,
      page() {
        const refs = refsTo(reader, found)
        const table: Block = {
          head: ['REF', 'KIND', 'NAME', '', 'RECORDED'],
          rows: rows.map(({ e, name, second, marks, when }) => [
            [['ref', refs.get(e.id)!]],
            [['kind', e.kind]],
            [['name', name], ...(second ? [` — ${second}`] : [])],
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
