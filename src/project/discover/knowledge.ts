import { type ListOptions, namesNear, type Reader } from '../../engine/read/reader.ts'
import { onTopic } from '../../find/graph/topics.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import type { TopicVocabulary } from '../../find/recall/topic-vocabulary.ts'
import { cleanPath, type Entity as Known, kindOf, type Link, pathInProject } from '../../model/entity.ts'
import { COMMON, type Kind } from '../../model/kind.ts'
import { defined } from '../../model/object.ts'
import { WrongArgument } from '../../scheme/argument-types.ts'
import { fromData } from '../../scheme/data.ts'
import { type CallContext, Entity, list, type Run, type Value } from '../../scheme/values.ts'
import { CELLS_PER_ENTITY, choiceOf, made, options, textOf } from './options.ts'
import { linkToScheme, referenceTo, toScheme } from './values.ts'

/** What the functions read from: replaced for the time of an `as-of` or `valid-at`. */
export interface Source {
  reader: Reader
  /** The moment that the reader is of, where it is not now. */
  at?: string | undefined
  /** What is not true in the world at that moment is left out. */
  validAt?: string | undefined
  now(): number
  /** What a project's topics are called and spoken of. */
  topics(): TopicVocabulary
  /** The same entities in the order in which recall ranks them. */
  ranked(question: string, found: readonly Known[], kinds: readonly string[] | undefined): readonly Known[]
}

/** What is searched for at least, before the best are chosen. */
const SEARCHED = 100

/** Functions of the language, as `declare` of scheme/define.ts reads them. */
export type Functions = Record<string, Run>

type Asked = ListOptions & { readonly topic?: string }

function listOptions(args: readonly Value[], now: number): { plain: Value[]; asked: Asked } {
  const { plain, text, whole, flag } = options(args, ['limit', 'since', 'topic', 'session', 'all', 'standing'])
  const [since, standing] = [text('since'), text('standing')]
  const asked = {
    limit: whole('limit'),
    since: since === undefined ? undefined : momentSaid(since, now, 'since'),
    topic: text('topic'),
    session: text('session'),
    standing: standing === undefined ? undefined : choiceOf('standing', standing, COMMON.standing.choices ?? []),
    all: flag('all'),
  }
  return { plain, asked: defined(asked) }
}

/** Cells of an entity in a list that is read when a program looks into it; then its text is paid for. */
const CELLS_PER_LISTED = 4
const STEPS_OF_A_LOOK = 50
/** How many entities are read at once. */
const PAGE = 64

const charactersIn = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, v) => sum + 8 + charactersIn(v), 0)
      : 8

const listOf = ({ reader, topics }: Source, kind: string, { topic, ...asked }: Asked): Known[] =>
  topic === undefined ? reader.list(kind, asked) : onTopic(reader, [kind], topic, asked, topics())

/** Lists of entities that are read when a program looks into them, a page at a time. */
function lazyLists(source: Source): (kind: string, asked: Asked, ctx: CallContext) => Value {
  let page = new Map<string, Known>()
  /** The one that was read last: programs mostly ask several fields of one, and then the next. */
  let last: { id: string; from: Reader; made: Entity } | undefined
  return (kind, asked, ctx) => {
    const from = source.reader
    const registry = from.registry()
    const ids = asked.topic === undefined ? from.ids(kind, asked) : listOf(source, kind, asked).map((e) => e.id)
    let next = 0
    const read = (i: number): Entity => {
      const id = ids[i]!
      if (last?.id === id && last.from === from) return last.made
      if (last?.from !== from || !page.has(id))
        page = new Map(from.entities(ids.slice(i, i + (i === next ? PAGE : 1))).map((e) => [e.id, e]))
      next = i + 1
      const found = page.get(id)!
      ctx.charge(STEPS_OF_A_LOOK)
      ctx.alloc(1 + (charactersIn(found.fields) >> 5))
      last = { id, from, made: toScheme(found, registry) }
      return last.made
    }
    const entity = (i: number): Entity =>
      new Entity(
        kind,
        () => read(i).fields,
        () => read(i).hidden,
      )
    return made([...ids.keys()], CELLS_PER_LISTED, ctx, entity)
  }
}

/** What a reference means, at least one. */
export function whatIsCalled(reader: Reader, ref: string): Known[] {
  const found = reader.find(ref)
  if (found.length > 0) return found
  const [near] = namesNear(reader, ref)
  throw new WrongArgument(
    `nothing is called "${ref.slice(0, 80)}"`,
    near === undefined ? '(search-knowledge "…") finds what is recorded by its words' : `did you mean "${near}"?`,
  )
}

/** The first of what a reference means, which may be nothing; several are refused. */
function onlyOne([first, ...more]: readonly Known[], ref: string): Known | undefined {
  if (more.length === 0) return first
  throw new WrongArgument(
    `"${ref}" means several things`,
    `say which: ${[first!, ...more].map((e) => e.id).join(' or ')}`,
  )
}

export const theOne = (reader: Reader, ref: string): Known => onlyOne(whatIsCalled(reader, ref), ref)!

export function knowledgeFunctions(source: Source, kinds: readonly Kind[]): Functions {
  const registry = () => source.reader.registry()
  const make = (entities: readonly Known[], ctx: CallContext): Value =>
    made(entities, CELLS_PER_ENTITY, ctx, (e) => toScheme(e, registry()))
  // what is called so in another kind does not hide what was called so once in this one
  const find = (ref: string, kind?: string): Known[] => {
    const ofKind = (r: string) => source.reader.find(r).filter((e) => !kind || e.kind === kind)
    const found = ofKind(ref)
    return found.length > 0 || !kind ? found : ofKind(`${kind}:${ref}`)
  }
  const one =
    (kind?: string): Run =>
    ([ref]) => {
      const found = onlyOne(find(textOf(ref), kind), textOf(ref))
      return found ? toScheme(found, registry()) : null
    }
  const links =
    (end: 'from' | 'to'): Run =>
    (args, ctx) => {
      const { plain, text } = options(args, ['type'])
      const ends = whatIsCalled(source.reader, textOf(plain[0]))
      // one that is the same from both ends starts and ends at each
      const isBoth = (l: Link) => registry().relation(l.type)?.symmetric === true
      const all: Link[] = ends.flatMap((e) => [
        ...source.reader.links(end, e.id),
        ...source.reader.links(end === 'from' ? 'to' : 'from', e.id).filter(isBoth),
      ])
      const declared = registry().relations()
      const relations = [...declared.map((r) => r.name), ...all.map((l) => l.type)]
      const said = text('type')
      const type = said === undefined ? undefined : choiceOf('relation', said, relations)
      const once = new Map(all.map((l) => [l.id, l]))
      const found = [...once.values()].filter((l) => type === undefined || l.type === type)
      return made(found, CELLS_PER_ENTITY, ctx, (l) => linkToScheme(source.reader, l))
    }
  const by =
    (kind: string, field: string): Run =>
    (args, ctx) => {
      const { plain, asked } = listOptions(args, source.now())
      const { choices, default: unsaid } = registry().kind(kind)?.fields[field] ?? {}
      const wanted = choices ? choiceOf(field, textOf(plain[0]), choices) : textOf(plain[0])
      const { limit, ...rest } = asked
      const found = listOf(source, kind, rest).filter((e) => (e.fields[field] ?? unsaid) === wanted)
      return make(found.slice(0, limit ?? found.length), ctx)
    }
  const listed = lazyLists(source)
  const ofKind = (kind: Kind): Functions => {
    const run: Run = (args, ctx) => listed(kind.name, listOptions(args, source.now()).asked, ctx)
    const { name, plural, key, example } = kind
    const named = JSON.stringify(String(example[key[0]] ?? 'x'))
    return {
      [`(get-${plural} option …) | every ${name}, newest first; options :limit :since :topic :session :standing :all | (get-${plural} :limit 3)`]:
        run,
      ...(`${name}s` === plural
        ? {}
        : { [`(get-${name}s option …) | as get-${plural} | (get-${name}s :limit 3)`]: run }),
      [`(get-${name} name) | the ${name} with that ${key[0]}, or nil | (get-${name} ${named})`]: one(name),
    }
  }
  // biome-ignore format: a table, one entry a line where it can be
  return {
    ...Object.assign({}, ...kinds.filter((kind) => !kind.internal).map(ofKind)),
    '(get-patterns-by-type type option …) | every pattern whose type is that, newest first | (get-patterns-by-type "layout")': by('pattern', 'type'),
    '(get-decisions-by-status status option …) | every decision whose status is that, newest first | (get-decisions-by-status "active")': by('decision', 'status'),
    '(get-file-understanding path) | what is understood of a file, by its path, or nil | (get-file-understanding "src/auth.ts")': one('file'),
    '(get-related-files path) | paths of files that go with a file: as it says, as others say of it, and by links | (get-related-files "src/auth.ts")': ([ref], ctx) => {
      const asked = textOf(ref)
      const [file] = find(asked, 'file')
      const path = file?.name ?? cleanPath(pathInProject(registry(), asked) ?? asked)
      const related = (e: Known) => ((e.fields.relatedFiles as string[] | undefined) ?? []).map(cleanPath)
      const paths = new Set<string>(file ? related(file) : [])
      const everything = source.reader.list('file')
      ctx.charge(everything.length)
      for (const other of everything) if (related(other).includes(path)) paths.add(other.name)
      const { reader } = source
      const ends = file ? [...reader.links('from', file.id), ...reader.links('to', file.id)].flatMap((l) => [l.from, l.to]) : []
      for (const other of reader.entities(ends)) if (other.kind === 'file') paths.add(other.name)
      paths.delete(path)
      return list([...paths].sort())
    },
    '(get ref) | the entity a reference means: an id, kind:name, a path or a name; nil if none | (get "use-sqlite")': one(),
    '(get-relationships-from ref option …) | links that start at an entity; option :type | (get-relationships-from "plan-then-apply")': links('from'),
    '(get-relationships-to ref option …) | links that end at an entity; option :type | (get-relationships-to "use-sqlite")': links('to'),
    '(search-knowledge words option …) | entities that hold the words, best first; options :limit (20) and :kind | (search-knowledge "sqlite store" :limit 5)': (args, ctx) => {
      const { plain, whole, text } = options(args, ['limit', 'kind'])
      const names = kinds.flatMap((k) => (k.internal ? [] : [k.name]))
      const kind = text('kind')
      const only = kind === undefined ? undefined : [choiceOf('kind', kind, names)]
      const [question, limit] = [textOf(plain[0]), whole('limit') ?? 20]
      const found = source.reader.search(question, Math.max(SEARCHED, limit), only)
      return make(source.ranked(question, found, only).slice(0, limit), ctx)
    },
    '(get-proposals) | everything that waits for somebody to confirm or reject it | (get-proposals)': (_, ctx) =>
      make(kinds.flatMap((k) => source.reader.list(k.name, { standing: 'proposed' })), ctx),
    '(conflicts) | what was written concurrently and still stands beside each other; writing it again settles it | (conflicts)': (_, ctx) => {
      const all = source.reader.conflicts().flatMap((e) => e.conflicts.map((conflict) => ({ e, conflict })))
      ctx.charge(all.length)
      return list(all.map(({ e, conflict }) => conflictToScheme(source.reader, e.id, conflict)))
    },
  }
}

function conflictToScheme(reader: Reader, id: string, { field, values }: Known['conflicts'][number]): Entity {
  const told = values.map((v) => ({ value: v.value ?? null, at: new Date(v.at).toISOString(), replica: v.replica }))
  return new Entity(
    'conflict',
    new Map<string, Value>([
      ['entity', kindOf(id) === 'relationship' ? id : referenceTo(reader, id)],
      ['field', field === '$' ? 'existence' : field],
      ['values', fromData(told)],
    ]),
  )
}
