import { measuresCoverage, runsChecks, runsTests } from '../../../model/commands.ts'
import { runs } from './commands.ts'
import type { Dimension, Repository } from './repository.ts'
import { shareReviewed } from './review.ts'

const GITHUB = /^\.(?:github|gitea|forgejo)\/workflows\/[^/]+\.ya?ml$/
const OTHER =
  /^(?:\.gitlab-ci\.yml|\.circleci\/config\.yml|\.travis\.yml|azure-pipelines\.yml|Jenkinsfile|bitbucket-pipelines\.yml|\.cirrus\.yml|\.drone\.yml|\.woodpecker\.yml|\.?appveyor\.yml|\.buildkite\/[^/]+\.yml)$/
/** What a CI without a file of its own is told to run; when it runs shows nowhere. */
const SCRIPT = /^(?:\.?ci\/(?:run|test|check|build|[\w-]+\.sh)|(?:(?:bin|scripts?)\/)?ci(?:\.sh)?)$/

/** Keys whose value is what is run. */
const RUN_KEY = /^(?:run|script|command|commands|test_script|arguments|args|goals|sh|pwsh|bash)$/
const KEY = /^([\w.-]+):(?:\s+(.*))?$/
const IGNORED = /^(?:continue-on-error|allow_failure|ignore_failure):\s*true\b/
const NEVER = /^if:\s*(?:\$\{\{\s*)?false\b/
const SWALLOWED = /\|\|\s*(?:true|:|echo|exit 0)|;\s*(?:true|exit 0)\s*$/

/** Lines of shell, and whether the failure of one fails the job. */
function commandsOf(file: string): { line: string; fails: boolean }[] {
  const lines = file.split('\n').flatMap((raw) => {
    const text = raw.trim()
    const isStep = text.startsWith('- ')
    const said = text.replace(/^- +/, '')
    return text === '' || text.startsWith('#')
      ? []
      : [{ said, isStep, indent: raw.search(/\S/), column: raw.indexOf(said) }]
  })
  /** The lines of the steps and jobs that carry a mark. */
  const marked = (mark: RegExp): Set<number> => {
    const all = new Set<number>()
    for (const [i, { said, column }] of lines.entries()) {
      if (!mark.test(said) || all.has(i)) continue
      const begins = (at: number) => lines[at]!.isStep && lines[at]!.column === column
      let from = i
      while (from > 0 && !begins(from) && (lines[from - 1]!.indent >= column || begins(from - 1))) from--
      for (let to = from; to < lines.length && (to <= i || lines[to]!.indent >= column); to++) all.add(to)
    }
    return all
  }
  const ignored = marked(IGNORED)
  const never = marked(NEVER)
  return lines.flatMap(({ said }, i) => {
    const [, key, value = ''] = KEY.exec(said) ?? []
    const line =
      key === undefined
        ? (/^(?:sh|bat)[ (]{1,3}['"](.*)['"]/.exec(said)?.[1] ?? said)
        : value.replace(/^(['"])(.*)\1$/, '$2')
    if (never.has(i) || line === '' || (key !== undefined && !RUN_KEY.test(key))) return []
    return [{ line, fails: !SWALLOWED.test(line) && !ignored.has(i) }]
  })
}

/** The part of a workflow that says when it runs. */
function triggersOf(file: string): string {
  const lines = file.split('\n')
  const start = lines.findIndex((l) => /^['"]?on['"]?:/.test(l))
  if (start < 0) return ''
  const end = lines.findIndex((l, i) => i > start && /^[^\s#-]/.test(l))
  return lines
    .slice(start, end < 0 ? undefined : end)
    .filter((l) => !l.trim().startsWith('#'))
    .join('\n')
}

/** Whether it runs before a change is merged. */
const isBefore = (when: string): boolean =>
  /\b(?:pull_request|merge_group)/.test(when) || (/\bpush\b/.test(when) && !/\b(?:branches|tags)\b/.test(when))

/** What the CI does, of what its files say that it runs; steps that only carry a name do not count. */
export function ciOf(repo: Pick<Repository, 'paths' | 'text'>) {
  const configured = repo.paths
    .filter((p) => GITHUB.test(p) || OTHER.test(p))
    .map((path) => ({ path, text: repo.text(path) }))
  /** A workflow that others call runs when they do. */
  const whenOf = ({ path, text }: { path: string; text: string }): string => {
    if (!GITHUB.test(path)) return 'pull_request'
    const callers = configured.filter((o) => o.path !== path && o.text.includes(`/${path.split('/').at(-1)}`))
    const own = triggersOf(text)
    return [own, ...(/\bworkflow_call\b/.test(own) ? callers.map((o) => triggersOf(o.text)) : [])].join('\n')
  }
  const files = configured
    .map((f) => ({ ...f, when: whenOf(f), commands: commandsOf(f.text) }))
    .filter(({ when, commands }) => /\b(?:pull_request|merge_group|push)/.test(when) && commands.length > 0)
  const scripts = repo.paths
    .filter((p) => SCRIPT.test(p))
    .map((path) => ({ path, text: repo.text(path), when: '', commands: commandsOf(repo.text(path)) }))
    .filter(({ commands }) => commands.some((c) => runs(repo, c.line, runsTests) || runs(repo, c.line, runsChecks)))
  const all = [...files, ...scripts]
  const withTests = all.filter(({ commands }) => commands.some((c) => runs(repo, c.line, runsTests)))
  const any = (is: typeof runsTests) => all.some((f) => f.commands.some((c) => runs(repo, c.line, is)))
  return {
    files: all.length,
    /** Whether a file says when any of it runs. */
    isStarted: files.length > 0,
    tests: withTests.length > 0,
    /** Before a change is merged, and a failure counts. */
    gates: withTests.some((f) => isBefore(f.when) && f.commands.some((c) => c.fails && runs(repo, c.line, runsTests))),
    checks: any(runsChecks),
    coverage: any(measuresCoverage) || files.some(({ text }) => /uses:\s*(?:codecov|coverallsapp|codacy)\//.test(text)),
    matrix: withTests.some(({ text }) => /^ *(?:matrix|parallel|jdk|node_js|python|go|rvm):/m.test(text)),
  }
}

export const ci: Dimension = {
  name: 'ci',
  look(repo) {
    const { files, isStarted, tests, gates, checks, matrix } = ciOf(repo)
    const hook = repo.paths.some((p) =>
      /^(?:\.pre-commit-config\.yaml|lefthook\.yml|\.husky\/pre-(?:commit|push))$/.test(p),
    )
    const does = [
      tests && 'runs tests',
      checks && 'checks style or types',
      gates && 'before a merge',
      matrix && 'on several platforms',
    ].filter(Boolean)
    const when = isStarted ? '' : '; what starts it shows nowhere'
    return {
      evidence:
        files === 0
          ? 'no CI that runs on a change'
          : `${files} ${files === 1 ? 'file' : 'files'}: ${does.join(', ') || 'runs no tests'}${when}`,
      findings: [
        ['alpha', '', files > 0 || hook, 'let a CI or a pre-commit hook run on each change'],
        [
          'beta',
          'must',
          tests && (isStarted || shareReviewed(repo) >= 0.5),
          'let a CI that starts by itself run the tests',
        ],
        ['beta', '', gates, 'run the CI on pull requests, and let a failing test fail it'],
        ['beta', '', checks || hook, 'let the CI check style or types'],
        ['ga', 'must', gates, 'no merge without a passing CI'],
        ['ga', '', matrix, 'test on every platform or version that you promise'],
      ],
    }
  },
}
