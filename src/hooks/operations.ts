/** One simple command of a line, with what stands between it and the next. */
interface Part {
  readonly words: readonly string[]
  readonly then: '' | '&&' | '||' | '|' | ';' | '&'
}

/** What a command line does that is worth an observation, and how far its exit code tells of it. */
export interface Operation {
  readonly does: 'verify' | 'ship' | 'commit' | 'undo'
  /** Of what ships: push, publish, deploy or release. */
  readonly as?: string
  /** As it is shown. */
  readonly text: string
  /** Runs tests, or may: a check of everything often does. */
  readonly tests: boolean
  /** It passed if the line did. */
  readonly passes: boolean
  /** It failed if the line did. */
  readonly fails: boolean
}

const LONGEST = 4_000
const MOST_PARTS = 20
const SHOWN = 80

/** The simple commands of a line; what follows something that is not understood is left out. */
export function partsOf(line: string): Part[] {
  const parts: Part[] = []
  let words: string[] = []
  let [word, quote] = ['', '']
  const endWord = () => {
    if (word !== '') words.push(word)
    word = ''
  }
  const end = (then: Part['then']) => {
    endWord()
    if (words.length > 0) parts.push({ words, then })
    words = []
  }
  for (let i = 0; i < line.length && i < LONGEST && parts.length < MOST_PARTS; i++) {
    const c = line[i]!
    if (c === '<' && line[i + 1] === '<' && line[i + 2] !== '<') {
      // what stands in a here-document is no command
      const mark = /^<<-?\s{0,3}["']?(\w{1,40})/.exec(line.slice(i, i + 60))?.[1]
      const from = mark === undefined ? -1 : line.indexOf(`\n${mark}`, i)
      if (from < 0) return parts
      i = from + mark!.length
    } else if (c === '\\' && quote !== "'") word += line[++i] ?? ''
    else if (quote !== '') quote === c ? (quote = '') : (word += c)
    else if (c === '"' || c === "'") quote = c
    else if (c === '&' && (line[i + 1] === '>' || line[i - 1] === '>')) word += c
    else if ((c === '&' || c === '|') && line[i + 1] === c) {
      end(c === '&' ? '&&' : '||')
      i++
    } else if (c === '&' || c === '|') end(c)
    else if (c === ';' || c === '\n') end(';')
    else if (c === ' ' || c === '\t') endWord()
    else word += c
  }
  if (quote === '') end('')
  return parts
}

/** What only starts another command, in front of it. */
const STARTS = new Set(['sudo', 'env', 'time', 'nohup', 'command', 'exec', 'npx', 'bunx', 'uvx', 'pnpx'])
const STARTS_TWO =
  /^(?:(?:npm|pnpm|yarn|bundle|composer) exec|pnpm dlx|yarn dlx|(?:poetry|uv|pipenv|rye|hatch) run|python3? -m|bun x)$/

/** Without redirections, settings and what only starts it; the first word without its directory. */
function bare(words: readonly string[]): string[] {
  let rest = words.filter((w, i) => !/^(?:\d|&)?>/.test(w) && !/^(?:\d|&)?>{1,2}$/.test(words[i - 1] ?? ''))
  for (;;) {
    if (rest.length === 0) return rest
    if (/^\w+=/.test(rest[0]!) || STARTS.has(rest[0]!)) rest = rest.slice(1)
    else if (STARTS_TWO.test(rest.slice(0, 2).join(' '))) rest = rest.slice(rest[2] === '--' ? 3 : 2)
    else if (/^-/.test(rest[0]!)) rest = rest.slice(1)
    else return [rest[0]!.replace(/^.*\//, ''), ...rest.slice(1)]
  }
}

/** What runs the scripts of a project by their names. */
const RUNNERS = new Set([
  'npm',
  'pnpm',
  'yarn',
  'bun',
  'deno',
  'make',
  'just',
  'task',
  'composer',
  'rake',
  'mix',
  'rails',
])
const CHECKS =
  /^(?:tests?|t|spec|check|verify|lint|typecheck|type-check|types|tsc|build|compile|e2e|unit)(?:[:_-][\w:.-]{0,60})?$/
/** The script that is run: `npm run test:unit -- -t x` is `test:unit`. */
const scriptOf = ([runner = '', ...words]: readonly string[]): string | undefined =>
  RUNNERS.has(runner) ? words.filter((w) => !w.startsWith('-') && w !== 'run' && w !== 'run-script')[0] : undefined
const VERIFIES = [
  /^(?:cargo (?:test|nextest|check|clippy|build)|go (?:test|vet|build)|dotnet (?:test|build)|swift (?:test|build)|bazel (?:test|build)|(?:flutter|dart) (?:test|analyze))(?: |$)/,
  /^(?:gradle|gradlew|mvn|mvnw|sbt) (?:\S{1,80} )?(?:test|check|build|verify|package)(?: |$)/,
  /^(?:vitest|jest|mocha|ava|tap|pytest|tox|nox|unittest|mypy|pyright|flake8|pylint|rspec|phpunit|phpstan|ctest|tsc|vue-tsc|svelte-check|eslint|oxlint|stylelint|rubocop|shellcheck)(?: |$)/,
  /^(?:playwright test|cypress run|ruff check|biome (?:check|lint|ci)|golangci-lint run|node --test|manage.py test|prettier --check)(?: |$)/,
] // biome-ignore format: a line for each sort
/** A file of tests, or a command that runs some. */
export const TESTS = /(?:^|[^a-z])(?:tests?|specs?|vitest|jest|mocha|pytest|rspec|phpunit)(?:[^a-z]|$)/i
const MAY_TEST = /(?:^|[^a-z])(?:check|verify|ci|e2e|unit|tox|nox|ctest|ava|tap|playwright|cypress)(?:[^a-z]|$)/i

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

function operation(part: Part): Pick<Operation, 'does' | 'as' | 'text' | 'tests'> | undefined {
  const words = bare(part.words)
  const text = words.join(' ').slice(0, 400)
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN - 1).toWellFormed()}…` : text
  const script = scriptOf(words)
  const plain = words
    .filter((w, i) => i === 0 || !w.startsWith('-'))
    .join(' ')
    .slice(0, 400)
  if (/^(?:echo|printf|cat|grep|rg|git commit|git log|git diff|git show)(?: |$)/.test(plain))
    return plain.startsWith('git commit') && !words.includes('--dry-run')
      ? { does: 'commit', text: shown, tests: false }
      : undefined
  if (CHECKS.test(script ?? '') || VERIFIES.some((p) => p.test(text)))
    return words.some((w) => /^(?:--help|-h|--version|-v)$/.test(w))
      ? undefined
      : { does: 'verify', text: shown, tests: TESTS.test(text) || MAY_TEST.test(text) }
  if (/^git (?:revert|reset --hard)(?: |$)/.test(text)) return { does: 'undo', text, tests: false }
  if (words.some((w) => IDLE.test(w))) return undefined
  const ships = /^(deploy|release|publish)(?:[:_-]|$)/.exec(script ?? '')
  if (ships) return { does: 'ship', as: ships[1]!, text: shown, tests: false }
  for (const [pattern, as] of SHIPS) {
    const found = pattern.exec(plain)
    if (found) return { does: 'ship', as: as || found[1]!, text: shown, tests: false }
  }
  return TESTS.test(text) ? { does: 'verify', text: '', tests: true } : undefined // a script of the project, say
}

/** Picks some of the tests: what follows it is a name or a pattern. */
const PICKS = /^(?:--|-t|-k|-run|--grep|--filter|--test-name-pattern|--testNamePattern)(?:=.*)?$/

/** Whether a command line runs all that another one runs: the same checks, of more files or tests. `npm test` covers `npm test -- a`. */
export function runsAllOf(wide: string, narrow: string): boolean {
  const [all, some] = [partsOf(wide), partsOf(narrow)]
  return (
    all.length === some.length &&
    all.every((part, i) => {
      const words = bare(part.words)
      const others = bare(some[i]!.words)
      const more = others.slice(words.length)
      return (
        part.then === some[i]!.then &&
        words.every((word, j) => word === others[j]) &&
        (more.length === 0 ||
          (operation(part)?.does === 'verify' && more.every((word) => !word.startsWith('-') || PICKS.test(word))))
      )
    })
  )
}

/** Says nothing and fails seldom: the exit code is that of what it stands before. */
const PREPARES = new Set(['cd', 'pushd', 'export', 'set', 'source', '.', 'echo', 'printf', 'clear', 'true', 'mkdir'])

/** The operations of a command line, in order. */
export function operationsOf(line: string): Operation[] {
  const parts = partsOf(line)
  return parts.flatMap((part, i) => {
    const found = operation(part)
    if (found === undefined) return []
    const before = parts.slice(0, i)
    const after = parts.slice(i)
    const passes = after.every((p) => p.then === '&&' || p.then === '') && before.at(-1)?.then !== '||'
    const isLast = after.length === 1 && part.then === ''
    const own = before.slice(before.findLastIndex((p) => p.then === ';') + 1)
    const fails = isLast && own.every((p) => p.then === '&&' && PREPARES.has(p.words[0]!))
    return [{ ...found, passes, fails }]
  })
}

const SAYS_FAILED =
  /(?:^|[\s(])[1-9]\d{0,6} (?:tests? )?(?:failed|failing|failures?|errors?)\b|^[ \t]{0,8}FAIL(?:ED)?\b|test result: FAILED|npm (?:ERR!|error)|\berror TS\d|BUILD FAILED|[#ℹ] fail [1-9]/m
const SAYS_PASSED =
  /(?:^|[\s(])[1-9]\d{0,6} (?:tests? )?(?:passed|passing)\b|test result: ok|BUILD SUCCESS|\bAll checks passed|[#ℹ] fail 0\b|no issues found/m

/** How it went, by what it printed: where a pipe hides the exit code. */
export const outcomeIn = (printed: string | undefined): 'passed' | 'failed' | undefined => {
  const end = printed?.slice(-4_000) ?? ''
  return SAYS_FAILED.test(end) ? 'failed' : SAYS_PASSED.test(end) ? 'passed' : undefined
}
