/**
 * What a line of shell does: the commands in it, and whether one runs tests or checks. Hooks judge by it what an agent ran, and
 * the assessment of a project what its CI runs.
 */

import { jsonIn } from './object.ts'

/** One simple command of a line, with what stands between it and the next. */
export interface Command {
  readonly words: readonly string[]
  readonly writes: readonly string[]
  readonly then: '' | '&&' | '||' | '|' | ';' | '&'
}

const LONGEST = 4_000
const MOST_COMMANDS = 20

export function commandsIn(line: string): Command[] {
  const commands: Command[] = []
  let [words, writes]: string[][] = [[], []]
  let [word, quote, redirects] = ['', '', '']
  const endWord = () => {
    if (word === '') return
    if (redirects === '') words!.push(word)
    else if (redirects === '>' && !word.startsWith('&')) writes!.push(word)
    ;[word, redirects] = ['', '']
  }
  const end = (then: Command['then']) => {
    endWord()
    if (words!.length > 0) commands.push({ words: words!, writes: writes!, then })
    ;[words, writes, redirects] = [[], [], '']
  }
  for (let i = 0; i < line.length && i < LONGEST && commands.length < MOST_COMMANDS; i++) {
    const c = line[i]!
    if (c === '<' && line[i + 1] === '<' && line[i + 2] !== '<') {
      // what stands in a here-document is no command
      const mark = /^<<-?\s{0,3}["']?(\w{1,40})/.exec(line.slice(i, i + 60))?.[1]
      const from = mark === undefined ? -1 : line.indexOf(`\n${mark}`, i)
      if (from < 0) return commands
      i = from + mark!.length
    } else if (c === '\\' && quote !== "'") word += line[++i] ?? ''
    else if (quote !== '') quote === c ? (quote = '') : (word += c)
    else if (c === '"' || c === "'") quote = c
    else if (c === '<' || c === '>') {
      if (/^[\d&]$/.test(word)) word = '' // the stream that is redirected
      endWord()
      redirects = c
    } else if (c === '&' && (line[i + 1] === '>' || line[i - 1] === '>')) word += c
    else if ((c === '&' || c === '|') && line[i + 1] === c) {
      end(c === '&' ? '&&' : '||')
      i++
    } else if (c === '&' || c === '|') end(c)
    else if (c === ';' || c === '\n') end(';')
    else if (c === ' ' || c === '\t' || (c === '(' && word === '') || (c === ')' && !word.includes('('))) endWord()
    else word += c
  }
  if (quote === '') end('')
  return commands
}

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** What only starts another command, in front of it. */
const STARTS = list(
  'sudo env time nohup command exec nice npx bunx uvx pnpx xvfb-run cross-env if then else do while until !',
)
const STARTS_TWO =
  /^(?:(?:npm|pnpm|yarn|bundle|composer) exec|pnpm dlx|yarn dlx|(?:poetry|uv|pipenv|rye|hatch) run|python3? -m|bun x)$/

/** A command without settings and what only starts it; the first word without its directory. */
export function programOf(words: readonly string[]): string[] {
  let rest: readonly string[] = words
  for (;;) {
    if (rest.length === 0) return []
    if (/^\w+=/.test(rest[0]!) || STARTS.has(rest[0]!)) rest = rest.slice(1)
    else if (STARTS_TWO.test(rest.slice(0, 2).join(' '))) rest = rest.slice(rest[2] === '--' ? 3 : 2)
    else if (/^-/.test(rest[0]!)) rest = rest.slice(1)
    else return [rest[0]!.replace(/^.*\//, ''), ...rest.slice(1)]
  }
}

/** Whether one of the commands of a line is such a one. */
export const lineHas = (line: string, is: (words: readonly string[]) => boolean): boolean =>
  commandsIn(line).some((command) => is(programOf(command.words)))

/** What runs the scripts of a project by their names. */
const RUNNERS = list('npm pnpm yarn bun deno make just task composer rake mix rails')
/** The script that is run: `npm run test:unit -- -t x` is `test:unit`. */
export const scriptOf = ([runner = '', ...words]: readonly string[]): string | undefined =>
  RUNNERS.has(runner) ? words.filter((w) => !w.startsWith('-') && w !== 'run' && w !== 'run-script')[0] : undefined

export function scriptsIn(text: string): { readonly [name: string]: string } {
  const { scripts } = (jsonIn(text) ?? {}) as { scripts?: object | null }
  return Object.fromEntries(Object.entries(scripts ?? {}).map(([name, line]) => [name, String(line)]))
}

/** They may name tests, and run none. */
const RUNS_NONE = list(`
  echo printf cd pushd cp mv rm mkdir touch cat ls ll less more head tail tree wc stat find fd grep rg sed awk sort diff jq vi vim nano
  code git gh curl wget kubectl helm terraform aws gcloud apt apt-get brew export set test [ [[ for true : docker-compose codecov pip pip3 corepack chmod tar du`)
const HELP = list('--help -h --version -v')
const INSTALLS = list('install add i ci remove uninstall')
/** Builds of Java run the tests on their way. */
const JVM = /^(?:mvnw?|gradlew?|sbt)(?:\.cmd|\.bat)?$/
const JVM_TESTS = list('test check verify build package install')
const SKIPS = /(?:^| )(?:-D(?:skipTests|maven\.test\.skip)|-x test(?: |$))/

const runsNothing = ([first = '', ...rest]: readonly string[]): boolean =>
  RUNS_NONE.has(first) ||
  (first === 'docker' && rest[0] === 'build') ||
  rest.some((w) => HELP.has(w) || (INSTALLS.has(w) && !JVM.test(first)))

const TEST_RUNNERS = list(`
  pytest vitest jest mocha ava tap borp tox nox rspec phpunit ctest karma cypress playwright gotestsum nose2 unittest behave cucumber bats
  prove testem xcodebuild`)
const CHECKERS = list(`
  mypy pyright flake8 pylint phpstan tsc vue-tsc svelte-check eslint oxlint stylelint rubocop shellcheck checkstyle spotbugs black standard xo`)
const SCRIPTS = {
  tests: /^(?:tests?|t|spec|e2e|unit)(?:[:_-][\w:.-]{0,60})?$/,
  checks: /^(?:check|verify|lint|typecheck|type-check|types|tsc)(?:[:_-][\w:.-]{0,60})?$/,
  builds: /^(?:build|compile)(?:[:_-][\w:.-]{0,60})?$/,
}
const COMMANDS = {
  tests:
    /^(?:(?:cargo|go|dotnet|swift|bazel|flutter|dart|manage\.py|playwright) test|cargo nextest|cypress run|node --test)(?: |$)/,
  checks:
    /^(?:cargo (?:check|clippy|fmt)|go vet|(?:flutter|dart) analyze|ruff check|biome (?:check|lint|ci)|golangci-lint run|prettier --check|pre-commit run)(?: |$)/,
  builds: /^(?:cargo|go|dotnet|swift|bazel) build(?: |$)/,
}
const SORTS = ['tests', 'checks', 'builds'] as const

/** What a command, as `programOf` gives it, verifies for certain. */
export function verifies(words: readonly string[]): (typeof SORTS)[number] | undefined {
  const [first = '', ...rest] = words
  if (runsNothing(words)) return undefined
  const text = words.join(' ').slice(0, 400)
  if (JVM.test(first)) {
    if (!rest.some((w) => JVM_TESTS.has(w.split(':').at(-1)!))) return undefined
    return SKIPS.test(text) ? 'builds' : 'tests'
  }
  const script = scriptOf(words) ?? ''
  return SORTS.find(
    (sort) =>
      SCRIPTS[sort].test(script) ||
      COMMANDS[sort].test(text) ||
      (sort === 'tests' && TEST_RUNNERS.has(first) && !/^(?:playwright|cypress) (?!test|run)/.test(text)) ||
      (sort === 'checks' && CHECKERS.has(first)),
  )
}

const NAMES_TESTS = /(?:^|[-_:./])(?:unit-?|run-?|e2e-?)?(?:tests?|specs?)(?:$|[-_:./])/i

/** Whether a command, as `programOf` gives it, runs tests: for certain, or by the name of what it runs. */
export function runsTests(words: readonly string[]): boolean {
  const sort = verifies(words)
  if (sort !== undefined) return sort === 'tests' || (words[0] === 'make' && scriptOf(words) === 'check')
  if (runsNothing(words) || JVM.test(words[0] ?? '')) return false
  return words.some((word, i) => {
    if (word === '--test' || (i > 0 && TEST_RUNNERS.has(word))) return true
    const isPlace = word.includes('/') && words[i - 1]?.startsWith('-') === true // `--out test/x`
    return !word.startsWith('-') && !isPlace && NAMES_TESTS.test(word)
  })
}

const NAMES_CHECKS =
  /(?:^|[-_:./ ])(?:lint|eslint|tsc|typecheck|type-check|typing|types|mypy|pyright|ruff|black|flake8|pylint|biome|prettier|clippy|fmt|rustfmt|gofmt|golangci-lint|vet|checkstyle|spotless\w*|spotbugs|rubocop|standard|xo|phpstan|pre-commit|style|format)(?:$|[-_:. ])/i

/** The same of checks of types, style and common mistakes. */
export const runsChecks = (words: readonly string[]): boolean =>
  !runsNothing(words) && (verifies(words) === 'checks' || NAMES_CHECKS.test(words.join(' ')))

const MEASURES =
  /(?:^|[-_:./ ])(?:cov|coverage|codecov|coveralls|c8|nyc|tarpaulin|llvm-cov|jacoco\w*|simplecov|coverprofile)(?:$|[-_:.= ])/i

/** The same of what measures how much of the code tests reach. */
export const measuresCoverage = (words: readonly string[]): boolean =>
  !runsNothing(words) && MEASURES.test(words.join(' '))
