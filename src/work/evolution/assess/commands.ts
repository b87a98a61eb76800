import { commandsIn, programOf, scriptOf, scriptsIn } from '../../../model/commands.ts'
import type { Repository } from './repository.ts'

/** Whether a line of shell runs something, itself or by a script of package.json. */
export const runs = (
  repo: Pick<Repository, 'text'>,
  line: string,
  is: (words: readonly string[]) => boolean,
  depth = 3,
): boolean =>
  commandsIn(line).some((command) => {
    const words = programOf(command.words)
    const [first = ''] = words
    if (!['npm', 'pnpm', 'yarn', 'bun'].includes(first) || depth === 0) return is(words)
    const name = scriptOf(words) ?? ''
    const script = scriptsIn(repo.text('package.json'))[name === 't' ? 'test' : name]
    if (script !== undefined) return runs(repo, script, is, depth - 1)
    return first !== 'npm' && !words.includes('run') && is(words)
  })

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

export function commandOfTests(repo: Repository): string | undefined {
  const { test } = scriptsIn(repo.text('package.json'))
  if (test !== undefined && runs(repo, test, () => true) && !/no test specified/.test(test)) return 'npm test'
  if (MAKEFILE_TEST.test(repo.text('Makefile'))) return 'make test'
  if (/\bpytest\b/.test(repo.text('pyproject.toml') + repo.text('setup.cfg'))) return 'pytest'
  return KNOWN.find(([file]) => repo.paths.some((p) => file.test(p)))?.[1]
}
