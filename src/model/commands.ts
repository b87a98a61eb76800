/**
 * The one reader of shell commands: the commands of a line, and what each does: runs tests, checks, builds, ships, or writes, moves
 * or removes files. Hooks judge by it what an agent runs, and the assessment of a project what its CI runs.
 */

import { posix } from 'node:path'
import { jsonIn } from './object.ts'

/** One simple command of a line, with what stands between it and the next. */
export interface Command {
  readonly words: readonly string[]
  readonly writes: readonly string[]
  readonly then: '' | '&&' | '||' | '|' | ';' | '&'
  /** The directory that `cd` has left it in: '' where the line began, undefined where that is not known. */
  readonly dir: string | undefined
}

const LONGEST = 100_000
const MOST_COMMANDS = 100
/** `sh -c "…"` within `sh -c "…"`. */
const DEEPEST = 3

/** A path as seen from where the line began; undefined where that is not known. */
export const under = (dir: string | undefined, path: string): string | undefined =>
  path.startsWith('/') ? path : dir === undefined || /^~|[$`]/.test(path) ? undefined : posix.join(dir, path)

/** The simple commands of a line. What a quote leaves open is left out. */
export function commandsIn(line: string, depth = 0): Command[] {
  const commands: Command[] = []
  let [words, writes]: string[][] = [[], []]
  let [word, quote, redirects] = ['', '', '']
  let [isQuoted, substitutes] = [false, false]
  /** Where `cd` has led, for the line and each subshell in which it is. */
  const dirs: (string | undefined)[] = ['']
  let closing = 0
  /** The end marks of here-documents that begin on the next line. */
  const marks: { mark: string; tabs: boolean }[] = []
  const endWord = () => {
    if (word === '' && !isQuoted) return
    if (redirects === '') words!.push(word)
    else if (redirects.startsWith('<<')) marks.push({ mark: word.replace(/^-/, ''), tabs: redirects === '<<-' })
    else if (redirects === '>') writes!.push(word)
    ;[word, redirects, isQuoted, substitutes] = ['', '', false, false]
  }
  const end = (then: Command['then']) => {
    endWord()
    if (words!.length + writes!.length > 0) {
      const [program = '', ...rest] = programOf(words!)
      const script =
        /^(?:ba|z|da|k)?sh$/.test(program) && depth < DEEPEST ? rest[rest.findIndex(isInline) + 1] : undefined
      const inner = script !== undefined && rest.some(isInline) ? commandsIn(script, depth + 1) : []
      const dir = dirs.at(-1)
      const last = inner.at(-1)
      for (const c of inner) {
        const own = { ...c, dir: c.dir === '' ? dir : c.dir && under(dir, c.dir) }
        commands.push(c === last ? { ...own, then } : own)
      }
      if (last === undefined) commands.push({ words: words!, writes: writes!, then, dir })
      if (program === 'cd' || program === 'pushd')
        dirs[dirs.length - 1] = rest[0] === undefined || rest[0] === '-' ? undefined : under(dir, rest.at(-1)!)
    }
    ;[words, writes, redirects] = [[], [], '']
    for (; closing > 0 && dirs.length > 1; closing--) dirs.pop()
  }
  for (let i = 0; i < line.length && i < LONGEST && commands.length < MOST_COMMANDS; i++) {
    const c = line[i]!
    const next = line[i + 1]
    if (c === '\\' && quote !== "'") word += line[++i] === '\n' ? '' : (line[i] ?? '')
    else if (quote === '"' && substitutes && c === '<' && next === '<') {
      // `git commit -m "$(cat <<'EOF' …)"`: its quotes end nothing
      const [, tabs, mark] = /^<<(-?)\s{0,3}["']?(\w{1,40})/.exec(line.slice(i, i + 60)) ?? []
      if (mark !== undefined) i = endOfDocument(line, line.indexOf('\n', i), mark, tabs === '-') - 1
    } else if (quote !== '') {
      if (quote === c) quote = ''
      else word += c
      substitutes ||= c === '$' && next === '('
    } else if (c === '"' || c === "'") [quote, isQuoted] = [c, true]
    else if (c === '#' && word === '' && !isQuoted) i = (line.indexOf('\n', i) + 1 || line.length + 1) - 2
    else if (c === '<' || c === '>') {
      if (/^(?:\d|&)$/.test(word)) word = '' // the stream that is redirected
      endWord()
      redirects = c
      if (c === '<' && next === '<') {
        redirects = line[i + 2] === '<' ? '<' : line[i + 2] === '-' ? '<<-' : '<<'
        i += redirects === '<<' ? 1 : 2
      } else if (c === '>' && (next === '>' || next === '|' || next === '&')) i++
      if (next === '&' && /[\d-]/.test(line[i + 1] ?? '')) {
        i++ // `2>&1`
        redirects = ''
      }
    } else if (c === '&' && next === '>') word += c
    else if ((c === '&' || c === '|') && next === c) {
      end(c === '&' ? '&&' : '||')
      i++
    } else if (c === '&' || c === '|') end(c)
    else if (c === '\n') {
      end(';')
      // what stands in a here-document is no command
      for (const { mark, tabs } of marks.splice(0)) i = endOfDocument(line, i, mark, tabs)
    } else if (c === ';') end(';')
    else if (c === '(' && word === '') {
      endWord()
      dirs.push(dirs.at(-1))
    } else if (c === ')' && !word.includes('(')) {
      endWord()
      closing++
    } else if (c === ' ' || c === '\t') endWord()
    else word += c
  }
  if (quote === '') end('')
  return commands
}

/** `-c` of a shell, alone or with other letters. */
const isInline = (word: string): boolean => /^-[a-z]*c$/.test(word)

/** Where the line of the end mark ends; the end of the text where there is none. */
function endOfDocument(text: string, from: number, mark: string, tabs: boolean): number {
  for (let at = from; at >= 0 && at < text.length; ) {
    const next = text.indexOf('\n', at + 1)
    const end = next < 0 ? text.length : next
    const said = text.slice(at + 1, end)
    if ((tabs ? said.trimStart() : said) === mark) return end
    at = next
  }
  return text.length
}

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** What only starts another command, in front of it. */
const STARTS = list(
  'sudo env time nohup command exec nice npx bunx uvx pnpx xvfb-run cross-env if then else do while until ! {',
)
const STARTS_TWO =
  /^(?:(?:npm|pnpm|yarn|bundle|composer) exec|pnpm dlx|yarn dlx|(?:poetry|uv|pipenv|rye|hatch) run|python3? -m|bun x)$/

/** A command without settings and what only starts it; the first word without its directory. */
export function programOf(words: readonly string[]): string[] {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return []
    if (word === 'timeout') {
      do at++
      while (/^(?:-.*|\d+(?:\.\d+)?[smhd]?)$/.test(words[at] ?? ''))
    } else if (STARTS_TWO.test(`${word} ${words[at + 1]}`)) at += words[at + 2] === '--' ? 3 : 2
    else if (/^\w+=/.test(word) || STARTS.has(word) || word.startsWith('-')) at++
    else return [word.slice(word.lastIndexOf('/') + 1), ...words.slice(at + 1)]
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

const SHIPS: readonly (readonly [RegExp, string])[] = [
  [/^git push(?: |$)/, 'push'],
  [/^(?:yarn npm|cargo|poetry|uv|flit|hatch|vsce) publish(?: |$)/, 'publish'],
  [/^(?:twine upload|gem push|docker push|dotnet nuget push)(?: |$)/, 'publish'],
  [/^(?:(?:ba|z)?sh )?(?:\S{0,200}\/)?(deploy|release|publish)(?:\.\w{1,4})?(?: |$)/, ''],
  [/^(?:vercel|netlify|fly|flyctl|wrangler|firebase|serverless|sls|cdk|eb|railway|sst) (?:deploy|publish|up)(?: |$)/, 'deploy'],
  [/^(?:vercel$|(?:kubectl (?:apply|rollout restart|set image)|helm (?:upgrade|install)|terraform apply|gcloud (?:app|run|functions) deploy)(?: |$))/, 'deploy'],
] // biome-ignore format: a table
/** It ships nothing. */
const IDLE = /^(?:--?dry-run(?:=.*)?|--help|-h|--version|--delete|-d|--tags|--check|--list|status|logs|:.*)$/

/** What a command, as `programOf` gives it, brings out of this machine: push, publish, deploy or release. */
export function ships(words: readonly string[]): string | undefined {
  if (words.some((w) => IDLE.test(w))) return undefined
  const script = /^(deploy|release|publish)(?:[:_-]|$)/.exec(scriptOf(words) ?? '')
  if (script) return script[1]!
  const plain = words.filter((w, i) => i === 0 || !w.startsWith('-'))
  for (const [pattern, as] of SHIPS) {
    const found = pattern.exec(plain.join(' ').slice(0, 400))
    if (found) return as || found[1]!
  }
  return undefined
}

/** What becomes of a path. `resets`: all that is not committed in the work tree, or below a path. */
export interface Touch {
  readonly how: 'writes' | 'removes' | 'moves' | 'resets'
  /** As seen from where the line began, or absolute; '' is where the line began. It may be a glob. */
  readonly path: string
  /** The whole work tree that holds the path. */
  readonly isTree?: true
  /** The file in it, should the path be a directory. */
  readonly into?: string
}
type Touched = readonly (readonly [how: Touch['how'], path: string | undefined, into?: string])[]

/** Options whose value is the next word. */
const VALUED: { readonly [program: string]: ReadonlySet<string> } = {
  sed: list('-e -f -l --expression --file'),
  perl: list('-e -E -I -M'),
  truncate: list('-s -r --size --reference'),
  touch: list('-d -t -r --date --reference'),
  install: list('-m -o -g --mode --owner --group'),
  git: list('-C -c -s -b -B -m --source --message --orphan --git-dir --work-tree'),
}
const NO_VALUES = new Set<string>()

/** The words of a command that are no options, nor values of them. */
function operandsOf([program = '', ...words]: readonly string[]): string[] {
  const valued = VALUED[program] ?? NO_VALUES
  const plain = words.indexOf('--')
  return words.filter((word, i) => {
    if (plain >= 0 && i >= plain) return i > plain
    return !(word.startsWith('-') && word !== '-') && !valued.has(words[i - 1] ?? '')
  })
}

const all = (how: Touch['how'], paths: readonly string[]): Touched => paths.map((path) => [how, path])

/** The last of several is written; a directory gets the names of the others. */
function copied(paths: readonly string[], isOver = false): Touched {
  const to = paths.at(-1)
  if (to === undefined || paths.length < 2) return []
  const from = paths.slice(0, -1)
  return from.length > 1 || to.endsWith('/')
    ? from.map((path) => ['writes', posix.join(to, posix.basename(path))])
    : [['writes', to, isOver || /\/\.?$/.test(from[0]!) ? undefined : posix.basename(from[0]!)]]
}

/** What the commands of git do to files that are not committed. */
function touchedByGit(words: readonly string[]): Touched {
  const [command = '', ...paths] = operandsOf(words)
  const at = words.indexOf(command)
  const has = (...options: string[]) => words.slice(at).some((word) => options.includes(word))
  const behind = words.includes('--') ? words.slice(words.indexOf('--') + 1) : undefined
  switch (command) {
    case 'rm':
      return has('--cached') ? [] : all('removes', paths)
    case 'mv':
      return [...all('moves', paths.slice(0, -1)), ...copied(paths)]
    case 'checkout':
      if (has('-f', '--force')) return [['resets', '']]
      return has('-b', '-B', '--orphan', '--detach') ? [] : all('resets', behind ?? paths)
    case 'restore':
      return has('-S', '--staged') && !has('-W', '--worktree') ? [] : all('resets', behind ?? paths)
    case 'switch':
      return has('-f', '--force', '--discard-changes') ? [['resets', '']] : []
    case 'reset':
      return has('--hard', '--merge', '--keep') ? [['resets', '']] : []
    case 'clean':
      if (has('-n', '--dry-run') || !words.slice(at).some((word) => /^-\w*f|^--force$/.test(word))) return []
      return all('removes', paths.length > 0 ? paths : ['.'])
    case 'stash':
      if (paths[0] !== undefined && !['push', 'save', 'pop', 'apply'].includes(paths[0])) return []
      return all('resets', behind ?? (paths[0] === 'push' && paths.length > 1 ? paths.slice(1) : ['']))
    case 'worktree':
      return paths[0] === 'remove' ? all('removes', paths.slice(1)) : []
    case 'read-tree':
      return has('--reset') ? [['resets', '']] : []
    default:
      return has('--autostash') ? [['resets', '']] : []
  }
}

/** What programs do to the files that they name, by the words of the command. */
const TOUCHES: readonly (readonly [programs: ReadonlySet<string>, (words: readonly string[]) => Touched])[] = [
  [list('rm rmdir unlink shred'), (words) => all('removes', operandsOf(words))],
  [list('tee touch truncate'), (words) => all('writes', operandsOf(words))],
  [list('cp ln install rsync'), (words) => copied(operandsOf(words), words.some((w) => /^-[a-zA-Z]*T|^--no-target/.test(w)))],
  [list('mv'), (words) => [...all('moves', operandsOf(words).slice(0, -1)), ...copied(operandsOf(words))]],
  [list('dd'), (words) => all('writes', words.flatMap((word) => (word.startsWith('of=') ? [word.slice(3)] : [])))],
  [list('sed perl'), (words) => {
    if (!words.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word))) return []
    const isInOption = words.some((word) => /^-[a-zA-Z]*[ef]|^--(?:expression|file)/.test(word))
    return all('writes', operandsOf(words).slice(isInOption ? 0 : 1))
  }],
  [list('find'), (words) => {
    const deletes = words.includes('-delete') || words.some((word, i) => word === 'rm' && /^-exec/.test(words[i - 1]!))
    const end = words.findIndex((word) => /^[-(!]/.test(word))
    return deletes ? all('removes', words.slice(1, end < 0 ? undefined : end)) : []
  }],
  [list('prettier eslint biome ruff gofmt rustfmt black'), (words) => {
    const [program = ''] = words
    const changes = ['rustfmt', 'black'].includes(program) || words.some((word) => /^(?:--write|--fix|-w|format)$/.test(word))
    if (!changes || words.includes('--check')) return []
    return all('writes', operandsOf(words).slice(['biome', 'ruff'].includes(program) ? 1 : 0))
  }],
  [list('git'), touchedByGit],
] // biome-ignore format: a table

/** The files that a command writes, moves or removes, as far as its words say. What a program does by itself goes unseen. */
export function touchedBy({ words, writes, dir }: Command): Touch[] {
  const program = programOf(words)
  const by = TOUCHES.find(([programs]) => programs.has(program[0] ?? ''))?.[1](program) ?? []
  const at = program[0] === 'git' && program[1] === '-C' ? dir !== undefined && under(dir, program[2] ?? '') : dir
  return [...by, ...all('writes', writes)].flatMap(([how, said = '', into]): Touch[] => {
    const path = under(at === false ? undefined : at, said)
    if (how === 'resets' && said === '') return [{ how, path: path?.replace(/^\.$/, '') ?? '', isTree: true }]
    return path === undefined || /^\/dev\/(?!shm\/)/.test(path) ? [] : [{ how, path, ...(into && { into }) }]
  })
}
