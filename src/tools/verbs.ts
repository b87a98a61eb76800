import { UserError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { fieldsOf } from '../model/kind.ts'
import type { Result } from '../write/plan.ts'
import { findOne, oneLine } from './format.ts'
import { actingAs, type Output, type Tool, type ToolContext } from './tool.ts'

/** A verb of `act` as a command: what it did, and how to take it back. */
function acted(context: ToolContext, actions: readonly Json[], tell: (r: Result) => string): Output {
  const done = context.memory.act(actions, actingAs(context))
  const lines = done.results.flatMap((r) => {
    const told = tell(r)
    return told === '' ? [] : [r.standing === 'proposed' ? `proposed: ${told}` : told]
  })
  lines.push(...done.notes.map((n) => `note: ${n}`))
  if (done.batch !== null) lines.push(`tidemark undo ${done.batch} takes it back`)
  return { text: lines.join('\n'), json: done as unknown as Json }
}

const shortOf = (value: unknown): string => `"${oneLine(String(value), 80)}"`
const refs = (given: unknown): string[] => [
  ...new Set(
    String(given)
      .split('\n')
      .filter((ref) => ref.trim() !== ''),
  ),
]
const REFS = {
  type: 'text',
  ref: true,
  about: 'ids, or names in quotes',
  required: true,
  place: 'rest',
  list: true,
} as const
const REASON = { type: 'text', about: 'why' } as const

export const reject: Tool = {
  name: 'reject',
  title: 'Say no',
  about: 'turns proposals down: the same is not proposed again',
  example: 'tidemark reject fact:use-npm --reason "we use pnpm"',
  params: { ref: REFS, reason: REASON },
  readOnly: false,
  run(context, { ref, reason }) {
    const { reader } = context.memory
    const actions = refs(ref).map((r): Json => {
      const e = findOne(reader, r)
      return ['reject', { ref: e.id, ...(typeof reason === 'string' ? { reason } : {}) }]
    })
    return acted(context, actions, (r) => `rejected ${r.kind} ${shortOf(r.name)}`)
  },
}

export const retire: Tool = {
  name: 'retire',
  title: 'Retire knowledge',
  about: 'takes out what no longer holds: it leaves lists, recall and briefings; `list --all` still shows it',
  example: 'tidemark retire use-json-files --reason "nothing uses it any more"',
  params: { ref: REFS, reason: { type: 'text', about: 'why it no longer holds' } },
  readOnly: false,
  run(context, { ref, reason = 'no longer holds' }) {
    const { reader } = context.memory
    const actions = refs(ref).map((r): Json => ['retire', { ref: findOne(reader, r).id, reason: String(reason) }])
    return acted(context, actions, (r) => `retired ${r.kind} ${shortOf(r.name)}`)
  },
}

export const supersede: Tool = {
  name: 'supersede',
  title: 'Replace knowledge',
  about: 'puts a newer entity in the place of an older one, which leaves recall and briefings',
  example: 'tidemark supersede use-json-files use-sqlite --reason "two sessions lost writes"',
  params: {
    old: {
      type: 'text',
      ref: true,
      about: 'what no longer holds: an id, kind:name, a path or a name',
      required: true,
      place: 0,
    },
    new: { type: 'text', ref: true, about: 'what takes its place', required: true, place: 1 },
    reason: REASON,
  },
  readOnly: false,
  run(context, { old, new: next, reason }) {
    const { reader } = context.memory
    const [was, now] = [findOne(reader, old), findOne(reader, next)]
    const args = { old: was.id, new: now.id, ...(typeof reason === 'string' ? { reason } : {}) }
    return acted(context, [['supersede', args]], () => `${shortOf(now.name)} takes the place of ${shortOf(was.name)}`)
  },
}

export const answer: Tool = {
  name: 'answer',
  title: 'Answer a question',
  about: 'answers an open question: it leaves the list of open ones',
  example: 'tidemark answer "Does the hub need Redis?" "No: LISTEN/NOTIFY fans out."',
  params: {
    question: { type: 'text', ref: true, about: 'its id, or its text in quotes', required: true, place: 0 },
    text: { type: 'text', about: 'the answer', required: true, place: 'rest' },
  },
  readOnly: false,
  run(context, { question, text }) {
    const { id } = findOne(context.memory.reader, question)
    return acted(
      context,
      [['answer-question', { ref: id, answer: String(text) }]],
      (r) => `answered ${shortOf(r.name)}`,
    )
  },
}

export const rename: Tool = {
  name: 'rename',
  title: 'Rename an entity',
  about: 'calls an entity something else: its id, history and links stay, and the old name still finds it',
  example: 'tidemark rename use-json-files use-jsonl-files',
  params: {
    ref: {
      type: 'text',
      ref: true,
      about: 'an id, kind:name, a path, a name, or a short reference such as #a3f',
      required: true,
      place: 0,
    },
    name: { type: 'text', about: 'its new name', required: true, place: 'rest' },
  },
  readOnly: false,
  run(context, { ref, name }) {
    const e = findOne(context.memory.reader, ref)
    const told = `${shortOf(e.name)} is called ${shortOf(name)} now`
    return acted(context, [['rename', { ref: e.id, name: String(name) }]], () => told)
  },
}

/** Fields that say how the merged one stood by itself. */
const OWN = new Set(['standing', 'status'])

export const merge: Tool = {
  name: 'merge',
  title: 'Merge two entities',
  about:
    'makes one of two of a kind: what the first says beyond the second, and its links, go to the second, which takes its place',
  example: 'tidemark merge store-in-sqlite use-sqlite',
  params: {
    from: {
      type: 'text',
      ref: true,
      about: 'the duplicate: an id, kind:name, a path or a name',
      required: true,
      place: 0,
    },
    into: { type: 'text', ref: true, about: 'the one that stays', required: true, place: 1 },
  },
  readOnly: false,
  run(context, args) {
    const { reader } = context.memory
    const [from, into] = [findOne(reader, args.from), findOne(reader, args.into)]
    const kind = reader.registry().kind(into.kind)
    if (from.kind !== into.kind || from.id === into.id || !kind || kind.internal)
      throw new UserError('not-alike', from.id === into.id ? 'that is one and the same' : `a ${from.kind} and a ${into.kind} are not merged`, 'name two entities of one kind; supersede replaces one by another') // biome-ignore format: one thought
    const added: { [field: string]: Json } = {}
    for (const [name, field] of Object.entries(fieldsOf(kind))) {
      const value = from.fields[name]
      if (value === undefined || field.system || OWN.has(name) || kind.key.includes(name)) continue
      if (field.type === 'set' || field.type === 'list') added[name] = value
      else if (into.fields[name] === undefined) added[name] = value
    }
    const links = (['from', 'to'] as const).flatMap((end) =>
      reader.links(end, from.id).flatMap((l): Json[] => {
        const other = end === 'from' ? l.to : l.from
        if (other === into.id || l.type === 'supersedes' || l.entity.fields.standing === 'proposed') return []
        const { description } = l.entity.fields
        const ends = end === 'from' ? { from: into.id, to: other } : { from: other, to: into.id }
        return [['link-entities', { ...ends, type: l.type, ...(description === undefined ? {} : { description }) }]]
      }),
    )
    const actions: Json[] = [
      ...(Object.keys(added).length > 0 ? [[`record-${kind.name}`, { ref: into.id, ...added }]] : []),
      ...links,
      ['supersede', { old: from.id, new: into.id, reason: 'the same, merged' }],
    ]
    const gained = [...Object.keys(added), ...(links.length > 0 ? [`${links.length} of its links`] : [])].join(', ')
    return acted(context, actions, (r) =>
      r.verb !== 'supersede' ? '' : `merged ${shortOf(from.name)} into ${shortOf(into.name)}${gained && `: ${gained}`}`,
    )
  },
}
