import { readInside } from '../../../base/files.ts'
import { trackedPaths } from '../../../base/git.ts'
import { keptIn } from '../../../base/lookup.ts'
import { CodeTree } from '../../../find/code/code-files.ts'
import type { Level } from '../rules.ts'
import { type Commit, type History, historyOf } from './git-log.ts'

/** One thing that a level asks for, whether the repository shows it, and what to do if not. Without a must the level is not reached. */
export type Finding = readonly [level: Exclude<Level, 'poc'>, isMust: 'must' | '', isMet: boolean, step: string]

/** One side of the way of working. `evidence`: what was seen of it, in a few words. */
export interface Dimension {
  readonly name: string
  look(repo: Repository): { readonly evidence: string; readonly findings: readonly Finding[] }
}

/** What a repository shows, read once. */
export interface Repository {
  readonly paths: readonly string[]
  /** The text of a file; empty where it cannot be read. */
  text(path: string): string
  readonly history: History | undefined
  readonly commits: readonly Commit[]
  /** Files with code that is no test, and those with tests that test something. */
  readonly sources: readonly string[]
  readonly tests: readonly string[]
  /** Lines of tests for each line of source. */
  readonly ratio: number
  /** Of what came to the main branch and changes source, the share that comes with a change of tests, or right after one. */
  readonly testedCommits: { readonly of: number; readonly share: number }
  /** Of the same, the share that changes documents too. */
  readonly documentedCommits: number
}

const CODE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|scala|rb|php|cs|fs|c|cc|cpp|h|hpp|m|swift|dart|ex|exs|erl|clj|hs|ml|lua|pl|r|jl|zig|vue|svelte|sh|bats|sql|tf)$/i
const NO_SOURCE =
  /(?:^|\/)(?:node_modules|vendor|third_party|dist|build|out|target|\.venv|venv|coverage|fixtures?|__snapshots__|examples?|docs?|migrations)\/|\.d\.[cm]?ts$|\.min\.js$|\.config\.[cm]?[jt]s$/i
const TEST_PATH =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|testing|e2e|cypress|integration[-_]tests?)\/|(?:^|\/)test_[^/]*$|(?:^|\/)conftest\.py$|[._-](?:test|tests|spec)\.[^/.]+$|(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|swift|php)$/
/** What stands in a file that tests something. */
const TESTS_SOMETHING =
  /\b(?:test|it|describe|expect|should|assert\w*)\s?[.(!]|\bassert |\bdef test|\bfunc Test|@Test\b|#\[(?:\w+::)?test|\bTEST(?:_F|_P)?\(|\bt\.\w+\(|\bit ['"]|@test /
const INLINE_TESTS = /#\[cfg\(test\)\]/
export const DOCUMENT = /\.(?:md|mdx|rst|adoc|txt)$/i

/** Of more files every so many is read. */
const SAMPLE = 3_000
const MOST_BYTES = 400_000
const MOST_FILES = 200_000

const isCode = (path: string): boolean => CODE.test(path) && !NO_SOURCE.test(path)

/** The files of a directory without git. */
function filesIn(root: string): string[] {
  const found: string[] = []
  for (const { path } of new CodeTree(root).files()) if (found.push(path) === MOST_FILES) break
  return found
}

const sample = (paths: readonly string[]): readonly string[] => {
  const every = Math.ceil(paths.length / SAMPLE)
  return every <= 1 ? paths : paths.filter((_, i) => i % every === 0)
}

export const percent = (share: number): string => `${Math.floor(share * 100)} %`

/** Reads what a repository shows. What it says of itself, such as a badge or a level in a file, is not looked at. */
export async function readRepository(root: string): Promise<Repository> {
  const paths = (trackedPaths(root) ?? filesIn(root)).filter((p) => !p.endsWith('/') && !p.startsWith('.tidemark/'))
  const texts = new Map<string, string>()
  const text = (path: string): string =>
    keptIn(texts, path, () => readInside(root, path, MOST_BYTES)?.toString('utf8') ?? '')
  const lines = { source: 0, test: 0 }
  const sources: string[] = []
  const tests: string[] = []
  for (const path of sample(paths.filter(isCode))) {
    const content = text(path)
    texts.delete(path)
    const n = content.split('\n').filter((line) => line.trim() !== '').length
    const [inline] = INLINE_TESTS.exec(content) ?? []
    if (TEST_PATH.test(path)) {
      if (!TESTS_SOMETHING.test(content)) continue
      tests.push(path)
      lines.test += n
      continue
    }
    if (n > 0) sources.push(path)
    const after = inline === undefined ? '' : content.slice(content.lastIndexOf(inline))
    const inner = TESTS_SOMETHING.test(after) ? after.split('\n').filter((line) => line.trim() !== '').length : 0
    if (inner > 0) tests.push(path)
    lines.test += inner
    lines.source += n - inner
  }
  const history = await historyOf(root)
  const inner = new Set(tests.filter((p) => !TEST_PATH.test(p)))
  const isTest = (p: string) => (TEST_PATH.test(p) && CODE.test(p)) || inner.has(p)
  const line = history?.changes ?? []
  const isSource = ({ paths: some }: Commit) => some.some((p) => isCode(p) && !TEST_PATH.test(p))
  const changes = line.filter(isSource)
  // a test may come first, and the code that meets it right after
  const tested = line.filter(
    (c, i) => isSource(c) && (c.paths.some(isTest) || (line[i + 1]?.paths.length && line[i + 1]!.paths.every(isTest))),
  )
  const share = (some: readonly Commit[]) => (changes.length === 0 ? 0 : some.length / changes.length)
  return {
    paths,
    text,
    history,
    commits: history?.commits ?? [],
    sources,
    tests,
    ratio: lines.source === 0 ? 0 : lines.test / lines.source,
    testedCommits: { of: changes.length, share: share(tested) },
    documentedCommits: share(changes.filter((c) => c.paths.some((p) => DOCUMENT.test(p)))),
  }
}
