import { UserError } from '../../base/errors.ts'
import type { Result } from '../../engine/write/plan.ts'
import { NOTHING_CHANGED } from '../../engine/write/write.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf } from '../../model/kind.ts'
import { reject as rejectVerb } from '../../project/verbs/confirm.ts'
import { answerQuestion, rename as renameVerb } from '../../project/verbs/entities.ts'
import { supersede as supersedeVerb } from '../../project/verbs/links.ts'
import { decidedOn } from './confirm.ts'
import { findOne, oneLine, undoLine } from './format.ts'
import { momentAsked } from './moment.ts'
import { actingAs, defineTool, type Output, type Param, REF, type Tool, type ToolContext, written } from './tool.ts'
import { paramOf } from './verb-params.ts'

/** A verb of `act` as a command: what it did, and how to take it back. */
function acted(context: ToolContext, actions: readonly unknown[], tell: (r: Result) => string): Output {
  const done = context.memory.act(actions, actingAs(context))
  if (done.notes.includes(NOTHING_CHANGED)) {
    const why = done.notes.filter((n) => n !== NOTHING_CHANGED)
    return written({ notes: [] }, [why.length > 0 ? `nothing changed: ${why.join('; ')}` : NOTHING_CHANGED], done)
  }
  const lines = done.results.flatMap((r) => {
    const told = tell(r)
    return told === '' ? [] : [r.standing === 'proposed' ? `proposed to ${r.name}` : told]
  })
  return written(done, lines, done, done.batch === null ? [] : [undoLine(done.batch)])
}

const shortOf = (value: unknown): string => `"${oneLine(String(value), 80)}"`

const REFS = { ...REF, about: 'ids, or names in quotes', required: true, place: 'rest', list: true } as const

interface ToEach extends Pick<Tool, 'name' | 'title' | 'about' | 'example'> {
  readonly reason?: Param
  /** The reason, where none is given. */
  readonly otherwise?: string
  /** `on`: what was decided on. */
  tell(r: Result, on: string): string
}

/** A verb that is done to each of several entities. */
const toEach = ({ reason: asked, otherwise, tell, ...tool }: ToEach): Tool =>
  defineTool({
    ...tool,
    params: { ref: REFS, ...(asked && { reason: asked }) },
    run(context, args) {
      const { ref, reason = otherwise } = args as { ref: string; reason?: string }
      const refs = [...new Set(ref.split('\n'))].filter((one) => one.trim() !== '')
      const meant = refs.map((one) => findOne(context.memory.reader, one))
      const on = new Map(meant.map((e) => [e.id, decidedOn(context, e)]))
      const actions = meant.map(({ id: ref }) => [tool.name, { ref, reason }])
      return acted(context, actions, (r) => tell(r, on.get(String(r.id)) ?? ''))
    },
  })

export const reject = toEach({
  name: 'reject',
  title: 'Say no',
  about: 'turns proposals down: the same is not proposed again',
  example: 'tidemark reject fact:use-npm --reason "we use pnpm"',
  reason: paramOf(rejectVerb.args.reason),
  tell: (_, on) => `rejected ${on}`,
})

export const retire = toEach({
  name: 'retire',
  title: 'Retire knowledge',
  about: 'takes out what no longer holds: it leaves lists, recall and briefings; `list --all` still shows it',
  example: 'tidemark retire use-json-files --reason "nothing uses it any more"',
  reason: { type: 'text', about: 'why it no longer holds' },
  otherwise: 'no longer holds',
  tell: (r) => `retired ${r.kind} ${shortOf(r.name)}`,
})

export const reAnchor = toEach({
  name: 're-anchor',
  title: 'Still holds',
  about: 'says that something still holds although the code it speaks of changed: it is stale no longer',
  example: 'tidemark re-anchor use-sqlite',
  tell: (r) => `${r.kind} ${shortOf(r.name)} still holds`,
})

export const supersede = defineTool({
  name: 'supersede',
  title: 'Replace knowledge',
  about: 'puts a newer entity in the place of an older one, which leaves recall and briefings',
  example: 'tidemark supersede use-json-files use-sqlite --reason "two sessions lost writes"',
  params: {
    old: paramOf(supersedeVerb.args.old, { required: true, place: 0 }),
    new: paramOf(supersedeVerb.args.new, { required: true, place: 1 }),
    reason: paramOf(supersedeVerb.args.reason),
  },
  run(context, args) {
    const { reader } = context.memory
    const [was, now] = [findOne(reader, args.old), findOne(reader, args.new)]
    const action = ['supersede', { old: was.id, new: now.id, reason: args.reason }]
    return acted(context, [action], () => `${shortOf(now.name)} takes the place of ${shortOf(was.name)}`)
  },
})

export const answer = defineTool({
  name: 'answer',
  title: 'Answer a question',
  about: 'answers an open question: it leaves the list of open ones',
  example: 'tidemark answer "Does the hub need Redis?" "No: LISTEN/NOTIFY fans out."',
  params: {
    question: { ...REF, about: 'its id, or its text in quotes', required: true, place: 0 },
    text: paramOf(answerQuestion.args.answer, { required: true, place: 'rest' }),
  },
  run(context, args) {
    const action = ['answer-question', { ref: findOne(context.memory.reader, args.question).id, answer: args.text }]
    return acted(context, [action], (r) => `answered ${shortOf(r.name)}`)
  },
})

export const restore = defineTool({
  name: 'restore',
  title: 'Restore knowledge',
  about:
    'brings back what was deleted, retired or taken back; with --to, gives something the values again that it had at a moment. It writes a new batch: history stays as it is',
  example: 'tidemark restore use-json-files --to "3 days ago"',
  params: {
    ref: { ...REF, required: true, place: 'rest' },
    to: { type: 'text', about: 'a day (its end), "3 days ago", a commit, or a mark' },
  },
  async run(context, args) {
    const { id } = findOne(context.memory.reader, args.ref, true)
    const to = args.to === undefined ? undefined : new Date(await momentAsked(context, args.to)).toISOString()
    return acted(context, [['restore', { ref: id, to }]], (r) =>
      to === undefined
        ? `${r.kind} ${shortOf(r.name)} is back`
        : `${r.kind} ${shortOf(r.name)} says again what it said at ${to}`,
    )
  },
})

export const rename = defineTool({
  name: 'rename',
  title: 'Rename an entity',
  about: 'calls an entity something else: its id, history and links stay, and its first name still finds it',
  example: 'tidemark rename use-json-files use-jsonl-files',
  params: {
    ref: { ...REF, required: true, place: 0 },
    name: paramOf(renameVerb.args.name, { required: true, place: 'rest' }),
  },
  run(context, { ref, name }) {
    const e = findOne(context.memory.reader, ref)
    return acted(context, [['rename', { ref: e.id, name }]], () => `${shortOf(e.name)} is called ${shortOf(name)} now`)
  },
})

/** Fields that say how the merged one stood by itself. */
const OWN = new Set(['standing', 'status'])

export const merge = defineTool({
  name: 'merge',
  title: 'Merge two entities',
  about:
    'makes one of two of a kind: what the first says beyond the second, and its links, go to the second, which takes its place',
  example: 'tidemark merge store-in-sqlite use-sqlite',
  params: {
    from: { ...REF, about: 'the duplicate: an id, kind:name, a path or a name', required: true, place: 0 },
    into: { ...REF, about: 'the one that stays', required: true, place: 1 },
  },
  run(context, args) {
    const { reader } = context.memory
    const [from, into] = [findOne(reader, args.from), findOne(reader, args.into)]
    const kind = reader.registry().kind(into.kind)
    if (from.kind !== into.kind || from.id === into.id || !kind || kind.internal)
      throw new UserError(
        'not-alike',
        from.id === into.id ? 'that is one and the same' : `a ${from.kind} and a ${into.kind} are not merged`,
        'name two entities of one kind; supersede replaces one by another',
      )
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
        return [['link-entities', { ...ends, type: l.type, ...(description !== undefined && { description }) }]]
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
})
