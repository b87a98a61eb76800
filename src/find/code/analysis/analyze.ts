import { extname } from 'node:path'
import { foldSimilar } from '../../recall/duplicates.ts'
import { type Shape, shapesOf } from './shapes.ts'

/** One thing that the code shows again and again, as an action that may be proposed, and what speaks for it. */
export interface Finding {
  readonly verb: 'record-pattern' | 'record-fact' | 'record-principle'
  readonly args: Readonly<{ [arg: string]: string | number | string[] }>
  readonly evidence: string
  /** 0 to 1: `share · n / (n + 2)`, where `share` of the n + m cases show it. */
  readonly confidence: number
}

export type SourceFile = Readonly<{ path: string; text: string }>

/** So often, and in so many files, a structure recurs before it is a pattern. */
const MIN_TIMES = 5
const MIN_FILES = 3
/** So large a share of the cases has to agree. */
const MIN_SHARE = 0.6
/** So many files have to follow a way of naming before it is a convention. */
const MIN_NAMED = 20
const CONVENTION = 0.9

/** Files that test others, by their names or folders. */
const isTest = (path: string): boolean =>
  /(?:^|[/._-])(?:tests?|specs?|__tests__|testdata|fixtures?|e2e)(?:[/._-]|$)/i.test(path) || /Tests?\.\w+$/.test(path)
/** Code that was copied, made by a tool, or only shows how something is used. */
const isForeign = (path: string): boolean =>
  /(?:^|\/)(?:vendor|third_party|node_modules|migrations|dist|build|generated|examples?|docs?|benchmarks?)\//i.test(
    path,
  ) || /\.(?:min\.js|d\.ts|gen\.\w+|pb\.go|[0-9a-f]{8,}\.js)$/.test(path)

/** Lines so long that nobody wrote them: what a bundler made. */
const isPacked = (text: string): boolean => text.split('\n', 50).some((line) => line.length > 1_000)
/** What says itself that it should not be followed. */
const LEFT_BEHIND = /deprecated|legacy|obsolete/i

/** Names that the languages themselves bring: that they recur says nothing of a project. */
const OF_THE_LANGUAGE: ReadonlySet<string> = new Set(
  `Error Object Array Map Set Promise Event EventTarget EventEmitter HTMLElement Symbol Proxy
  object type property classmethod staticmethod overload abstractmethod dataclass cached_property wraps contextmanager
  lru_cache cache final override setter getter deleter singledispatch total_ordering ABC Protocol NamedTuple TypedDict Enum
  IntEnum StrEnum Flag Generic Exception BaseException ValueError TypeError RuntimeError KeyError AttributeError LookupError
  OSError IOError Warning UserWarning DeprecationWarning dict list set tuple str int float bytes namedtuple TestCase
  Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs Inherited Target Retention Documented Throwable
  RuntimeException IllegalArgumentException IllegalStateException Thread
  Debug Clone Copy Default PartialEq Eq PartialOrd Ord Hash Display From Into TryFrom Iterator IntoIterator Drop Deref
  DerefMut AsRef AsMut FromStr Index IndexMut Add Sub Mul Div Neg Not Read Write Future Borrow Extend FromIterator Send Sync
  DoubleEndedIterator ExactSizeIterator derive cfg test inline allow`.split(/\s+/),
)

const lastName = (of: string): string => of.slice(Math.max(of.lastIndexOf('.'), of.lastIndexOf(':')) + 1)

const confidenceOf = (n: number, of: number): number => Math.round((n / of) * (n / (n + 2)) * 100) / 100

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

/** The deepest folder that holds at least four of five of the paths. */
function home(paths: readonly string[]): string {
  let folder = ''
  for (;;) {
    const below = Map.groupBy(
      paths.filter((p) => folder === '' || p.startsWith(`${folder}/`)),
      (p) => p.slice(0, p.indexOf('/', folder.length + 1)),
    )
    const [next] = [...below].sort((a, b) => b[1].length - a[1].length)
    if (!next || next[0].length <= folder.length || next[1].length < paths.length * 0.8) return folder
    folder = next[0]
  }
}

type Located = Shape & { readonly path: string }

const where = ({ path, line }: Located): string => `${path}:${line}`

/** What most files of one kind in one folder have in common, as a pattern. */
function patternOf(shapes: readonly Located[], files: readonly string[]): Finding | undefined {
  const { kind, of } = shapes[0]!
  const paths = [...new Set(shapes.map((s) => s.path))]
  if (shapes.length < MIN_TIMES || paths.length < MIN_FILES) return undefined
  const folder = home(paths)
  const endings = new Set(paths.map((p) => extname(p)))
  const around = files.filter((f) => (folder === '' || f.startsWith(`${folder}/`)) && endings.has(extname(f)))
  const inside = paths.filter((p) => around.includes(p))
  const isCommon = inside.length / around.length >= MIN_SHARE
  // a base class or a decorator names the family by itself; a call has to be what the folder is for
  if (kind === 'made-by' && (!isCommon || of.includes('.'))) return undefined
  const place = folder === '' ? 'this project' : folder
  const count = isCommon
    ? `${inside.length} of ${around.length} files`
    : `${shapes.length} times in ${paths.length} files`
  const said = {
    extends: `Classes in ${place} extend \`${of}\``,
    carries: `Declarations in ${place} carry \`${of}\``,
    'made-by': `Each file in ${place} exports a value made by \`${of}(…)\``,
  }[kind as 'extends' | 'carries' | 'made-by']
  const examples = shapes
    .filter((s) => around.includes(s.path))
    .slice(0, 5)
    .map(where)
  return {
    verb: 'record-pattern',
    args: {
      name: `${of.replace(/[.:]+/g, '-')} in ${folder === '' ? 'the project' : folder}`,
      description: `${said}: ${count}. Follow it when you add one.`,
      type: { extends: 'base class', carries: 'decorator', 'made-by': 'factory call' }[kind as 'extends'] ?? kind,
      location: examples[0]!,
    },
    evidence: `${count}: ${examples.join(', ')}`,
    confidence: isCommon ? confidenceOf(inside.length, around.length) : confidenceOf(shapes.length, shapes.length * 2),
  }
}

const CASES: readonly (readonly [name: string, form: RegExp])[] = [
  ['kebab-case', /^[a-z0-9]+(?:-[a-z0-9]+)+$/],
  ['snake_case', /^[a-z0-9]+(?:_[a-z0-9]+)+$/],
  ['camelCase', /^[a-z]+(?:[A-Z][a-z0-9]*)+$/],
  ['PascalCase', /^(?:[A-Z][a-z0-9]+){2,}$/],
]

const fact = (text: string, cases: readonly string[], of: readonly unknown[]): Finding => ({
  verb: 'record-fact',
  args: { fact: text, category: 'convention', locations: cases.slice(0, 3) },
  evidence: `${cases.length} of ${of.length}: ${cases.slice(0, 3).join(', ')}`,
  confidence: confidenceOf(cases.length, of.length),
})

/** How files of more than one word are named, by language. */
function naming(files: readonly string[]): Finding[] {
  const free = files.filter((f) => !f.endsWith('.java')) // Java names a file as its class
  return [...Map.groupBy(free, (f) => extname(f))].flatMap(([ending, all]) => {
    const stems = all.map((path) => ({ path, stem: path.slice(path.lastIndexOf('/') + 1, -ending.length) }))
    // one word says nothing of how several are joined
    const telling = stems.filter(({ stem }) => CASES.some(([, form]) => form.test(stem)))
    if (telling.length < MIN_NAMED) return []
    return CASES.flatMap(([name, form]) => {
      const such = telling.filter(({ stem }) => form.test(stem))
      const paths = such.map((s) => s.path)
      return such.length / telling.length < CONVENTION ? [] : [fact(`Name ${ending} files in ${name}`, paths, telling)]
    })
  })
}

/** Where tests stand, and how they are called. */
function testLayout(tests: readonly string[], files: readonly string[]): Finding[] {
  const code = tests.filter((t) => /\.(?:[cm]?[jt]sx?|py|go|rs|java)$/.test(t))
  if (code.length < MIN_NAMED) return []
  const folders = new Set(files.map(folderOf))
  const beside = code.filter((t) => folders.has(folderOf(t)))
  const [root, below] = [...Map.groupBy(code, (t) => t.split('/')[0]!)].sort((a, b) => b[1].length - a[1].length)[0]!
  const found: Finding[] = []
  if (beside.length / code.length >= CONVENTION) found.push(fact('Put tests beside the code they test', beside, code))
  else if (/tests?|spec/i.test(root) && below.length / code.length >= CONVENTION)
    found.push(fact(`Put tests under ${root}/`, below, code))
  for (const [form, name] of [
    [/\.test\.\w+$/, 'NAME.test.*'],
    [/\.spec\.\w+$/, 'NAME.spec.*'],
    [/(?:^|\/)test_\w+\.py$/, 'test_NAME.py'],
    [/_test\.\w+$/, 'NAME_test.*'],
    [/Test\.java$/, 'NAMETest.java'],
  ] as const) {
    const such = code.filter((t) => form.test(t))
    // Go allows no other
    if (such.length / code.length >= CONVENTION && !such.every((t) => t.endsWith('.go')))
      found.push(fact(`Name test files ${name}`, such, code))
  }
  return found
}

/** What is thrown, and how modules export. */
function styles(shapes: readonly Located[]): Finding[] {
  const thrown = shapes.filter((s) => s.kind === 'throws')
  const exported = shapes.filter((s) => s.kind === 'exports')
  const found: Finding[] = []
  const [most] = [...Map.groupBy(thrown, (s) => s.of)].sort((a, b) => b[1].length - a[1].length)
  if (
    most &&
    thrown.length >= MIN_NAMED &&
    !OF_THE_LANGUAGE.has(lastName(most[0])) &&
    most[1].length / thrown.length >= MIN_SHARE
  )
    found.push(fact(`Throw ${most[0]} for errors`, most[1].map(where), thrown))
  const named = exported.filter((s) => s.of === 'named')
  if (exported.length >= MIN_NAMED && named.length / exported.length >= 0.98)
    found.push(fact('Use named exports, not default ones', named.map(where), exported))
  return found
}

/** Patterns and conventions that the files of a project show, the surest first. */
export async function findingsIn(files: AsyncIterable<SourceFile> | Iterable<SourceFile>): Promise<Finding[]> {
  const all: string[] = []
  const shapes: Located[] = []
  for await (const { path, text } of files) {
    all.push(path)
    if (isTest(path) || isForeign(path) || isPacked(text)) continue
    for (const shape of await shapesOf(path, text)) shapes.push({ ...shape, path })
  }
  const own = all.filter((f) => !isForeign(f) && /\.(?:[cm]?[jt]sx?|py|go|rs|java)$/.test(f))
  const code = own.filter((f) => !isTest(f))
  const isOwn = (s: Shape) =>
    s.kind !== 'throws' && s.kind !== 'exports' && !OF_THE_LANGUAGE.has(lastName(s.of)) && !LEFT_BEHIND.test(s.of)
  const patterns = [...Map.groupBy(shapes.filter(isOwn), (s) => `${s.kind} ${s.of}`).values()].flatMap(
    (group) => patternOf(group, code) ?? [],
  )
  const found = [...patterns, ...naming(code), ...testLayout(own.filter(isTest), code), ...styles(shapes)]
  return found.sort((a, b) => b.confidence - a.confidence)
}

export type Statement = Readonly<{ id: string; text: string }>

/** So many have to say it. */
const MIN_SAID = 3

/** What at least three decisions or documents say in nearly the same words, as a principle. */
export function principlesIn(statements: readonly Statement[]): Finding[] {
  const folded = foldSimilar(statements.map((s, i) => ({ id: String(i), kind: 'principle', text: s.text })))
  return folded.flatMap(({ item, similar }): Finding[] => {
    const sources = [...new Set([item.id, ...similar].map((i) => statements[Number(i)]!.id))]
    if (sources.length < MIN_SAID) return []
    const args = { name: item.text.replace(/[.!]$/, ''), description: item.text }
    const confidence = confidenceOf(sources.length, sources.length)
    return [{ verb: 'record-principle', args, evidence: `said by ${sources.join(', ')}`, confidence }]
  })
}
