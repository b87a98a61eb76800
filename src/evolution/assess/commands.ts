import type { Repository } from './repository.ts'

const RUNNERS = new Set(
  'pytest vitest jest mocha ava tap borp tox nox rspec phpunit ctest karma cypress playwright gotestsum nose2 unittest behave cucumber bats prove testem xcodebuild'.split(
    ' ',
  ),
)
const NAMED_TEST = /(?:^|[-_:./])(?:unit-?|run-?|e2e-?)?tests?(?:$|[-_:.])/i
const JVM = /(?:^|\/)(?:mvnw?|gradlew?)(?:\.cmd)?$/
const JVM_TESTS = new Set(['verify', 'package', 'install', 'check', 'build', 'test'])
/** They may name tests, and run none. */
const RUNS_NONE = new Set(
  'echo printf cd cp mv rm mkdir cat ls grep git curl wget apt apt-get brew export test [ [[ if for while true : docker-compose gh codecov set pip pip3 corepack chmod tar du find'.split(
    ' ',
  ),
)
const CHECKS =
  /(?:^|[-_:./ ])(?:lint|eslint|tsc|typecheck|type-check|typing|types|mypy|pyright|ruff|black|flake8|pylint|biome|prettier|clippy|fmt|rustfmt|gofmt|golangci-lint|vet|checkstyle|spotless\w*|spotbugs|rubocop|standard|xo|phpstan|pre-commit|style|format)(?:$|[-_:. ])/i

/** Commands of a line of shell, each as its words. */
const commandsIn = (line: string): string[][] =>
  line
    .split(/&&|\|\||[;|]/)
    .map((part) => part.split(/[\s"'`()]+/).filter((w) => w !== '' && !/^\w+=/.test(w)))
    .filter((words) => words.length > 0)

/** The scripts of package.json. */
function scriptsOf({ text }: Pick<Repository, 'text'>): Record<string, unknown> {
  try {
    const { scripts } = JSON.parse(text('package.json')) as { scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

type Looks = (words: readonly string[]) => boolean

/** Whether a line of shell runs something, itself or by a script of package.json. */
function runs(repo: Pick<Repository, 'text'>, line: string, isIt: Looks, depth = 3): boolean {
  return commandsIn(line).some((words) => {
    const at = words.findIndex((w) => !['sudo', 'time', 'env', 'xvfb-run', '-', 'run:'].includes(w))
    const [first = '', ...rest] = words.slice(Math.max(0, at))
    if (RUNS_NONE.has(first) || rest.includes('install') || rest.includes('add')) {
      // Maven installs what it has tested
      if (!JVM.test(first)) return false
    }
    if (['npm', 'pnpm', 'yarn', 'bun'].includes(first) && depth > 0) {
      const name = rest.find((w) => !w.startsWith('-') && !['run', 'run-script'].includes(w)) ?? ''
      const script = scriptsOf(repo)[name === 't' ? 'test' : name]
      if (typeof script === 'string') return runs(repo, script, isIt, depth - 1)
      if (first === 'npm' || rest.includes('run')) return false
    }
    return isIt([first, ...rest])
  })
}

const isTest: Looks = (words) => {
  if (words.some((w) => /^-D(?:skipTests|maven\.test\.skip)/.test(w))) return false
  if (JVM.test(words[0] ?? '')) return words.some((w) => JVM_TESTS.has(w.split(':').at(-1)!))
  if (words.includes('--test')) return true
  return words.some(
    (w) => RUNNERS.has(w) || (NAMED_TEST.test(w) && !w.startsWith('-')) || (w === 'check' && words[0] === 'make'),
  )
}

export const runsTests = (repo: Pick<Repository, 'text'>, line: string): boolean => runs(repo, line, isTest)
export const runsChecks = (repo: Pick<Repository, 'text'>, line: string): boolean =>
  runs(repo, line, (words) => CHECKS.test(words.join(' ')))
export const measuresCoverage = (repo: Pick<Repository, 'text'>, line: string): boolean =>
  runs(repo, line, (words) =>
    /(?:^|[-_:./ ])(?:cov|coverage|codecov|coveralls|c8|nyc|tarpaulin|llvm-cov|jacoco\w*|simplecov|coverprofile)(?:$|[-_:.= ])/i.test(
      words.join(' '),
    ),
  )

const MAKEFILE_TEST = /^(?:test|tests|check)\s*:/m
/** Files of tools that run all tests by one known command. */
const KNOWN: readonly [RegExp, string][] = [
  [/^go\.mod$/, 'go test ./...'],
  [/^Cargo\.toml$/, 'cargo test'],
  [/^pom\.xml$/, 'mvn test'],
  [/^build\.gradle(?:\.kts)?$/, 'gradle test'],
  [/^(?:pytest\.ini|conftest\.py|tests\/conftest\.py)$/, 'pytest'],
  [/^tox\.ini$/, 'tox'],
  [/^noxfile\.py$/, 'nox'],
  [/^mix\.exs$/, 'mix test'],
  [/^Package\.swift$/, 'swift test'],
  [/^deno\.jsonc?$/, 'deno test'],
  [/\.sln$/, 'dotnet test'],
  [/^(?:\.rspec|Rakefile)$/, 'rake'],
  [/^phpunit\.xml(?:\.dist)?$/, 'phpunit'],
]

/** The command that runs all tests. */
export function commandOfTests(repo: Repository): string | undefined {
  const { test } = scriptsOf(repo)
  if (typeof test === 'string' && runs(repo, test, () => true) && !/no test specified/.test(test)) return 'npm test'
  if (MAKEFILE_TEST.test(repo.text('Makefile'))) return 'make test'
  if (/\bpytest\b/.test(repo.text('pyproject.toml') + repo.text('setup.cfg'))) return 'pytest'
  return KNOWN.find(([file]) => repo.paths.some((p) => file.test(p)))?.[1]
}
