import { type Command, commandsIn, programOf, runsTests, scriptOf, ships, verifies } from '../../model/commands.ts'
import { cut } from '../../model/text.ts'

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

const SHOWN = 80

export const TESTS = /(?:^|[^a-z])(?:tests?|specs?|vitest|jest|mocha|pytest|rspec|phpunit)(?:[^a-z]|$)/i
/** A script that checks everything often runs them. */
const MAY_TEST = /^(?:check|verify)(?:[:_-]|$)/

function operation(command: Command): Pick<Operation, 'does' | 'as' | 'text' | 'tests'> | undefined {
  const words = programOf(command.words)
  const text = words.join(' ').slice(0, 400)
  const shown = cut(text, SHOWN)
  const plain = words
    .filter((w, i) => i === 0 || !w.startsWith('-'))
    .join(' ')
    .slice(0, 400)
  if (/^(?:echo|printf|cat|grep|rg|git commit|git log|git diff|git show)(?: |$)/.test(plain))
    return plain.startsWith('git commit') && !words.includes('--dry-run')
      ? { does: 'commit', text: shown, tests: false }
      : undefined
  const tests = runsTests(words)
  const sort = verifies(words)
  if (sort !== undefined)
    return { does: 'verify', text: shown, tests: tests || (sort === 'checks' && MAY_TEST.test(scriptOf(words) ?? '')) }
  if (/^git (?:revert|reset --hard)(?: |$)/.test(text)) return { does: 'undo', text, tests: false }
  const as = ships(words)
  if (as !== undefined) return { does: 'ship', as, text: shown, tests: false }
  return tests ? { does: 'verify', text: '', tests } : undefined // a script of the project, say
}

/** Picks some of the tests: what follows it is a name or a pattern. */
const PICKS = /^(?:--|-t|-k|-run|--grep|--filter|--test-name-pattern|--testNamePattern)(?:=.*)?$/

/** Whether a command line runs all that another one runs: the same checks, of more files or tests. `npm test` covers `npm test -- a`. */
export function runsAllOf(wide: string, narrow: string): boolean {
  const [whole, some] = [commandsIn(wide), commandsIn(narrow)]
  const before = whole.slice(0, Math.max(0, whole.length - some.length))
  const all = whole.slice(before.length)
  return (
    all.length === some.length &&
    before.every((part) => part.then === '&&') &&
    all.every((part, i) => {
      const words = programOf(part.words)
      const others = programOf(some[i]!.words)
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

export function operationsOf(line: string): Operation[] {
  const parts = commandsIn(line)
  return parts.flatMap((part, i) => {
    const found = operation(part)
    if (found === undefined) return []
    const before = parts.slice(0, i)
    const after = parts.slice(i)
    const passes = after.every((p) => p.then === '&&' || p.then === '') && before.at(-1)?.then !== '||'
    const isLast = after.length === 1 && part.then === ''
    const own = before.slice(before.findLastIndex((p) => p.then === ';') + 1)
    return [{ ...found, passes, fails: isLast && own.every((p) => p.then === '&&' && PREPARES.has(p.words[0]!)) }]
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
