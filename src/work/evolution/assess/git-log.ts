import { workTreeOf } from '../../../base/git.ts'
import { runGit } from '../../../base/run-git.ts'

/** One commit, as far as the way of working shows in it. */
export interface Commit {
  readonly isMerge: boolean
  /** ms since the epoch. */
  readonly at: number
  readonly author: string
  readonly subject: string
  /** It names somebody who reviewed it. */
  readonly reviewed: boolean
  readonly paths: readonly string[]
  /** Changed lines, without those of generated files. */
  readonly lines: number
}

export interface History {
  /** All, without merges, the newest first. */
  readonly commits: readonly Commit[]
  /** What came to the main branch, one by one: a merge has the paths of all that it brings. */
  readonly changes: readonly Commit[]
  readonly tags: number
}

/** The present way of working shows in so many commits. */
const COMMITS = 500
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum)$|(?:^|\/)(?:dist|vendor)\/|\.snap$|\.min\.(?:js|css)$/
/** Robots bump versions: that is no work of the team. */
const ROBOT = /\[bot\]|^(?:dependabot|renovate|greenkeeper|pre-commit-ci|github-actions)\b/i

const FORMAT =
  '%x01%P%x02%at%x02%ae%x02%an%x02%(trailers:key=Reviewed-by,valueonly,separator=%x20)%(trailers:key=Reviewed-on,valueonly,separator=%x20)%x02%s'

/** The last commits around a root; nothing where there is no git, or no history. */
export async function historyOf(root: string): Promise<History | undefined> {
  // a `.git` that belongs elsewhere is not followed
  if (!workTreeOf(root)) return undefined
  const log = ['log', `-n${COMMITS}`, '--no-renames', '--no-ext-diff', '--no-textconv', '--relative']
  const commits = async (...which: string[]) => {
    const read = (what: string) => runGit(root, ...log, what, ...which, `--format=${FORMAT}`, 'HEAD')
    // a partial clone has no old contents, so sizes are unknown there
    return (await read('--numstat').catch(() => read('--name-only'))).split('\x01').slice(1).flatMap(commitOf)
  }
  try {
    const tags = await runGit(root, 'for-each-ref', '--count=1000', '--format=%(refname)', 'refs/tags')
    return {
      commits: await commits('--no-merges'),
      changes: await commits('--first-parent', '-m'),
      tags: tags.split('\n').filter((t) => t !== '').length,
    }
  } catch {
    return undefined
  }
}

function commitOf(text: string): Commit[] {
  const [head = '', ...changes] = text.split('\n')
  const [parents = '', at = '', email = '', name = '', reviewed = '', ...subject] = head.split('\x02')
  if (ROBOT.test(email) || ROBOT.test(name)) return []
  const files = changes.flatMap((line) => {
    const [added, removed, path = line] = line.split('\t')
    if (path === '') return []
    return [{ path, lines: GENERATED.test(path) ? 0 : (Number(added) || 0) + (Number(removed) || 0) }]
  })
  return [
    {
      isMerge: parents.includes(' '),
      at: Number(at) * 1000,
      author: email.toLowerCase(),
      subject: subject.join(' '),
      reviewed: reviewed.trim() !== '',
      paths: files.map((f) => f.path),
      lines: files.reduce((n, f) => n + f.lines, 0),
    },
  ]
}
