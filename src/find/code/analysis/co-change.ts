import { runGit } from '../run-git.ts'

/** Two files that history changed together. */
export interface CoChange {
  readonly files: readonly [string, string]
  /** Commits that changed both. */
  readonly together: number
  /** Commits that changed the one that changed less often. */
  readonly of: number
}

/** So far back history is looked at. */
const COMMITS = 2_000
/** A commit of more files is a rename, a format or an import. */
const MOST_FILES = 20
/** So often, and in so large a share of its commits, the rarer one changed with the other. */
const MIN_TOGETHER = 5
const MIN_SHARE = 0.6

/** Pairs of files that commits changed together, the surest first; `commits` are lists of paths. */
export function coChangesIn(commits: Iterable<readonly string[]>): CoChange[] {
  const alone = new Map<string, number>()
  const pairs = new Map<string, number>()
  for (const paths of commits) {
    const files = [...new Set(paths)].sort()
    for (const file of files) alone.set(file, (alone.get(file) ?? 0) + 1)
    if (files.length > MOST_FILES) continue
    for (const [i, a] of files.entries())
      for (const b of files.slice(i + 1)) pairs.set(`${a}\0${b}`, (pairs.get(`${a}\0${b}`) ?? 0) + 1)
  }
  return [...pairs]
    .flatMap(([key, together]): CoChange[] => {
      const [a, b] = key.split('\0') as [string, string]
      const of = Math.min(alone.get(a)!, alone.get(b)!)
      return together >= MIN_TOGETHER && together / of >= MIN_SHARE ? [{ files: [a, b], together, of }] : []
    })
    .sort((x, y) => y.together / y.of - x.together / x.of || y.together - x.together)
}

/** The paths of each commit of the last two thousand; none where there is no git, or no history. */
export async function commitsOf(root: string): Promise<string[][]> {
  const log = ['log', `-n${COMMITS}`, '--no-merges', '--no-renames', '--name-only', '-z', '--format=%x01', '--relative']
  try {
    return (await runGit(root, ...log))
      .split('\x01')
      .map((commit) => commit.split('\0').flatMap((path) => (path.trim() === '' ? [] : [path.trim()])))
      .filter((paths) => paths.length > 0)
  } catch {
    return []
  }
}
