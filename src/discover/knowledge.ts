import { cleanPath, type Entity as Known, kindOf, pathInProject } from '../model/entity.ts'
import { COMMON, type Kind } from '../model/kind.ts'
import { nearest } from '../model/names.ts'
import { type ListOptions, namesNear, type Reader } from '../read/reader.ts'
import { momentSaid } from '../recall/moment.ts'
import { fromData } from '../scheme/convert.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { type CallContext, Entity, isTrue, Keyword, list, SchemeError, Sym, type Value } from '../scheme/values.ts'
import { linkToScheme, referenceTo, toScheme } from './values.ts'

/** What the functions read from: replaced for the time of an `as-of`. */
export interface Source {
  reader: Reader
  /** The moment that the reader is of, where it is not now. */
  at?: string | undefined
  now(): number
}

/** Splits off `:limit 5` and the like; what is left are the plain arguments. */
export function options(
  name: string,
  args: readonly Value[],
  known: readonly string[],
): { plain: Value[]; given: Map<string, Value> } {
  const plain: Value[] = []
  const given = new Map<string, Value>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (!(arg instanceof Keyword)) plain.push(arg)
    else if (!known.includes(arg.name))
      throw new SchemeError(
        `${name} has no option :${arg.name}`,
        `its options are ${known.map((k) => `:${k}`).join(' ')}`,
      )
    else if (i + 1 >= args.length) throw new SchemeError(`${name}: a value is missing after :${arg.name}`)
    else given.set(arg.name, args[++i]!)
  }
  return { plain, given }
}

export function textOf(name: string, v: Value | undefined): string {
  if (typeof v === 'string') return v
  if (v instanceof Sym) return v.name
  if (v instanceof Entity)
    return textOf(name, v.hidden.get('id') ?? v.fields.get('name') ?? v.fields.get('path') ?? null)
  throw new SchemeError(`${name}: a text is expected`, 'texts are written "in quotes"')
}

function nearName(reader: Reader, ref: string): string {
  const [near] = namesNear(reader, ref)
  return near === undefined ? '(search-knowledge "…") finds what is recorded by its words' : `did you mean "${near}"?`
}

const LIST_OPTIONS = ['limit', 'since', 'topic', 'session', 'all', 'standing'] as const

/** One of the words that there are. */
function choiceOf(name: string, what: string, value: Value | undefined, choices: readonly string[]): string {
  const said = textOf(name, value)
  if (choices.includes(said)) return said
  const [near] = nearest(said, choices)
  const hint = near === undefined ? `one of ${choices.join(', ')}` : `did you mean ${near}?`
  throw new SchemeError(`${name}: there is no ${what} "${said.slice(0, 80)}"`, hint)
}

function listOptions(name: string, given: ReadonlyMap<string, Value>, now: number): ListOptions {
  const out: ListOptions = {}
  const limit = given.get('limit')
  if (limit !== undefined) {
    const n = Number(limit)
    if ((typeof limit !== 'bigint' && typeof limit !== 'number') || !Number.isInteger(n) || n < 0)
      throw new SchemeError(`${name}: :limit is a whole number`)
    out.limit = n
  }
  const since = given.get('since')
  if (since !== undefined) out.since = momentSaid(textOf(name, since), now, 'since')
  const topic = given.get('topic')
  if (topic !== undefined) out.topic = textOf(name, topic)
  const session = given.get('session')
  if (session !== undefined) out.session = textOf(name, session)
  const standing = given.get('standing')
  if (standing !== undefined) out.standing = choiceOf(name, 'standing', standing, COMMON.standing.choices ?? [])
  if (given.has('all')) out.all = isTrue(given.get('all')!)
  return out
}

/** Cells that an entity costs when it is made for a program. */
const CELLS_PER_ENTITY = 16
/** … and one in a list that is read when a program looks into it; then its text is paid for. */
const CELLS_PER_LISTED = 4
const STEPS_OF_A_LOOK = 50
/** So many are read at once. */
const PAGE = 64

/** Characters in a value. */
const charactersIn = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, v) => sum + 8 + charactersIn(v), 0)
      : 8

export function knowledgeFunctions(source: Source, kinds: readonly Kind[]): HostFunction[] {
  const registry = () => source.reader.registry()
  const make = (entities: readonly Known[], ctx: CallContext): Value => {
    ctx.charge(entities.length)
    ctx.alloc(entities.length * CELLS_PER_ENTITY)
    return list(entities.map((e) => toScheme(e, registry())))
  }
  /** Those that were read last: programs mostly ask several fields of one, and then the next. */
  let page = new Map<string, Known>()
  let last: { id: string; from: Reader; made: Entity } | undefined
  const listed = (kind: string, options: ListOptions, ctx: CallContext): Value => {
    const from = source.reader
    const ids = from.ids(kind, options)
    ctx.charge(ids.length)
    ctx.alloc(ids.length * CELLS_PER_LISTED)
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
      last = { id, from, made: toScheme(found, from.registry()) }
      return last.made
    }
    return list(
      ids.map(
        (_, i) =>
          new Entity(
            kind,
            () => read(i).fields,
            () => read(i).hidden,
          ),
      ),
    )
  }
  const one = (name: string, args: Value[], kind?: string): Value => {
    const ref = textOf(name, args[0])
    const found = find(ref, kind)
    if (found.length > 1)
      throw new SchemeError(
        `${name}: "${ref}" means several things`,
        `say which: ${found.map((e) => e.id).join(' or ')}`,
      )
    return found.length === 1 ? toScheme(found[0]!, registry()) : null
  }
  // what is called so in another kind does not hide what was called so once in this one
  const find = (ref: string, kind: string | undefined) => {
    const ofKind = (r: string) => source.reader.find(r).filter((e) => !kind || e.kind === kind)
    const found = ofKind(ref)
    return found.length > 0 || !kind ? found : ofKind(`${kind}:${ref}`)
  }

  const links =
    (name: string, end: 'from' | 'to') =>
    (args: Value[], ctx: CallContext): Value => {
      const { plain, given } = options(name, args, ['type'])
      const ref = textOf(name, plain[0])
      const ends = source.reader.find(ref)
      if (ends.length === 0)
        throw new SchemeError(`${name}: nothing is called "${ref.slice(0, 80)}"`, nearName(source.reader, ref))
      const all = ends.flatMap((e) => source.reader.links(end, e.id))
      const relations = new Set([...registry().relations(), ...all].map((r) => ('name' in r ? r.name : r.type)))
      const type = given.has('type') ? choiceOf(name, 'relation', given.get('type'), [...relations]) : undefined
      const found = all.filter((l) => type === undefined || l.type === type)
      ctx.charge(found.length)
      ctx.alloc(found.length * CELLS_PER_ENTITY)
      return list(found.map((l) => linkToScheme(source.reader, l)))
    }

  const of: HostFunction[] = []
  const add = (name: string, min: number, max: number, about: string, example: string, run: HostFunction['run']) =>
    of.push({ name, min, max, about, example, run })

  for (const kind of kinds) {
    if (kind.internal) continue
    const all = `get-${kind.plural}`
    const run: HostFunction['run'] = (args, ctx) => {
      const { given } = options(all, args, LIST_OPTIONS)
      return listed(kind.name, listOptions(all, given, source.now()), ctx)
    }
    add(
      all,
      0,
      Number.POSITIVE_INFINITY,
      `every ${kind.name}, newest first; options :limit :since :topic :session :standing :all`,
      `(${all} :limit 3)`,
      run,
    )
    if (`${kind.name}s` !== kind.plural)
      add(`get-${kind.name}s`, 0, Number.POSITIVE_INFINITY, `as ${all}`, `(get-${kind.name}s :limit 3)`, run)
    add(
      `get-${kind.name}`,
      1,
      1,
      `the ${kind.name} with that ${kind.key[0]}, or nil`,
      `(get-${kind.name} ${JSON.stringify(String(kind.example[kind.key[0]] ?? 'x'))})`,
      (args) => one(`get-${kind.name}`, args, kind.name),
    )
  }
  const by = (name: string, kind: string, field: string, example: string) =>
    add(
      name,
      1,
      Number.POSITIVE_INFINITY,
      `every ${kind} whose ${field} is that, newest first`,
      example,
      (args, ctx) => {
        const { plain, given } = options(name, args, LIST_OPTIONS)
        const { choices, default: unsaid } = registry().kind(kind)?.fields[field] ?? {}
        const wanted = choices ? choiceOf(name, field, plain[0], choices) : textOf(name, plain[0])
        const { limit, ...rest } = listOptions(name, given, source.now())
        const found = source.reader.list(kind, rest).filter((e) => (e.fields[field] ?? unsaid) === wanted)
        return make(found.slice(0, limit ?? found.length), ctx)
      },
    )
  by('get-patterns-by-type', 'pattern', 'type', '(get-patterns-by-type "layout")')
  by('get-decisions-by-status', 'decision', 'status', '(get-decisions-by-status "active")')
  add(
    'get-file-understanding',
    1,
    1,
    'what is understood of a file, by its path, or nil',
    '(get-file-understanding "src/auth.ts")',
    (args) => one('get-file-understanding', args, 'file'),
  )
  add(
    'get-related-files',
    1,
    1,
    'paths of files that go with a file: as it says, as others say of it, and by links',
    '(get-related-files "src/auth.ts")',
    (args, ctx) => {
      const file = find(textOf('get-related-files', args[0]), 'file')[0]
      const asked = textOf('get-related-files', args[0])
      const path = file?.name ?? cleanPath(pathInProject(source.reader.registry(), asked) ?? asked)
      const related = (e: Known) => ((e.fields.relatedFiles as string[] | undefined) ?? []).map(cleanPath)
      const paths = new Set<string>(file ? related(file) : [])
      const everything = source.reader.list('file')
      ctx.charge(everything.length)
      for (const other of everything) if (related(other).includes(path)) paths.add(other.name)
      if (file) {
        for (const l of [...source.reader.links('from', file.id), ...source.reader.links('to', file.id)]) {
          const other = source.reader.entity(l.from === file.id ? l.to : l.from)
          if (other?.kind === 'file') paths.add(other.name)
        }
      }
      paths.delete(path)
      return list([...paths].sort())
    },
  )
  add(
    'get',
    1,
    1,
    'the entity a reference means: an id, kind:name, a path or a name; nil if none',
    '(get "use-sqlite")',
    (args) => one('get', args),
  )
  add(
    'get-relationships-from',
    1,
    3,
    'links that start at an entity; option :type',
    '(get-relationships-from "plan-then-apply")',
    links('get-relationships-from', 'from'),
  )
  add(
    'get-relationships-to',
    1,
    3,
    'links that end at an entity; option :type',
    '(get-relationships-to "use-sqlite")',
    links('get-relationships-to', 'to'),
  )
  add(
    'search-knowledge',
    1,
    Number.POSITIVE_INFINITY,
    'entities that hold the words, best first; options :limit (20) and :kind',
    '(search-knowledge "sqlite store" :limit 5)',
    (args, ctx) => {
      const { plain, given } = options('search-knowledge', args, ['limit', 'kind'])
      const kind = given.get('kind')
      const limit = listOptions('search-knowledge', new Map([...given].filter(([k]) => k === 'limit')), 0).limit ?? 20
      const names = registry()
        .kinds()
        .flatMap((k) => (k.internal ? [] : [k.name]))
      const only = kind === undefined ? undefined : [choiceOf('search-knowledge', 'kind', kind, names)]
      return make(source.reader.search(textOf('search-knowledge', plain[0]), limit, only), ctx)
    },
  )
  add(
    'get-proposals',
    0,
    0,
    'everything that waits for somebody to confirm or reject it',
    '(get-proposals)',
    (_args, ctx) =>
      make(
        registry()
          .kinds()
          .flatMap((k) => source.reader.list(k.name, { standing: 'proposed' })),
        ctx,
      ),
  )
  add(
    'conflicts',
    0,
    0,
    'what was written concurrently and still stands beside each other; writing it again settles it',
    '(conflicts)',
    (_args, ctx) => {
      const found = source.reader.conflicts()
      ctx.charge(found.length)
      return list(
        found.flatMap((e) =>
          e.conflicts.map(
            (c) =>
              new Entity(
                'conflict',
                new Map<string, Value>([
                  ['entity', kindOf(e.id) === 'relationship' ? e.id : referenceTo(source.reader, e.id)],
                  ['field', c.field === '$' ? 'existence' : c.field],
                  [
                    'values',
                    list(
                      c.values.map((v) =>
                        fromData({ value: v.value ?? null, at: new Date(v.at).toISOString(), replica: v.replica }),
                      ),
                    ),
                  ],
                ]),
              ),
          ),
        ),
      )
    },
  )
  return of
}
