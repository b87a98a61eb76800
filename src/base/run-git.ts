import { promisify } from 'node:util'
import { UserError } from './errors.ts'
import { isShallow } from './git.ts'

/** What a repository's own configuration could start stays off: pager, signatures, hooks, fetches of what is missing. */
const SAFE = '-c core.fsmonitor=false -c log.showSignature=false -c core.hooksPath=/dev/null --no-pager'.split(' ')
const ENVIRONMENT = {
  // git sets these for its own hooks, whatever repository is asked about
  GIT_DIR: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_WORK_TREE: undefined,
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

type GitOptions = Readonly<{ env?: Readonly<Record<string, string>>; input?: string }>

type Failed = Readonly<{ code?: unknown; killed?: boolean; stdout?: string; stderr?: string }>

/** git is not there, or did not do what it was asked. */
function gitError({ code, killed, stdout = '', stderr }: Failed) {
  const lines = (stderr || `it ended with ${code}`).trim().split('\n')
  let said = lines.find((line) => line.startsWith('fatal:')) ?? lines[0]!
  if (code === 'ENOENT') said = 'there is no git in PATH'
  if (killed) said = 'it took more than a minute'
  const error = new UserError('no-git', `git does not answer: ${said}`, 'see that `git status` works here')
  return Object.assign(error, { said, stdout, exit: code })
}

export type GitError = ReturnType<typeof gitError>

/** What git tells of a history. @throws GitError where there is no git, or no history. */
export const runGit = (root: string, ...args: string[]): Promise<string> => runGitWith(root, {}, ...args)

/** What git answers at once; nothing where it does not. */
function gitNow(root: string, ...args: string[]): string[] {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const env = { ...process.env, ...ENVIRONMENT }
  const limits = { timeout: 2_000, maxBuffer: 16 * 1024 * 1024, windowsHide: true }
  const { stdout, status } = spawnSync('git', [...SAFE, ...args], { cwd: root, env, encoding: 'utf8', ...limits })
  return status === 0 ? stdout.split('\n') : []
}

/** Files that git has, by path from `root`, of these patterns; none where there is no repository. */
export const trackedFiles = (root: string, patterns: readonly string[]): string[] =>
  gitNow(root, '-c', 'core.quotePath=false', 'ls-files', '--', ...patterns).filter(Boolean)

/** Branches, here and at `origin`, with commits that the checked out one has not. */
export const unmerged = (root: string): ReadonlySet<string> =>
  new Set(gitNow(root, 'for-each-ref', '--no-merged=HEAD', '--format=%(refname)', 'refs/heads', 'refs/remotes/origin'))

/** The day on which each file below a folder was first committed, also by another name there, by its path from `root`; none where the history was cut off. */
export function firstCommitted(root: string, folder: string): Map<string, string> {
  const days = new Map<string, string>()
  if (isShallow(root)) return days
  const log = [
    '-c',
    'core.quotePath=false',
    'log',
    '--diff-filter=AR',
    '-M',
    '--relative',
    '--name-status',
    '--format=@%as',
  ]
  const namedNow = new Map<string, string>()
  let day = ''
  // the newest first: what is set last is the oldest
  for (const line of gitNow(root, ...log, '--', folder)) {
    const [status, from = '', to = from] = line.split('\t')
    if (line.startsWith('@')) day = line.slice(1)
    else if (status !== '') {
      const now = namedNow.get(to) ?? to
      namedNow.set(from, now)
      days.set(now, day)
    }
  }
  return days
}

export async function runGitWith(root: string, { env, input }: GitOptions, ...args: string[]): Promise<string> {
  // taken when it is called: an import would load it at the start of every command
  const { execFile } = process.getBuiltinModule('node:child_process')
  const running = promisify(execFile)('git', [...SAFE, ...args], {
    cwd: root,
    env: { ...process.env, ...ENVIRONMENT, ...env },
    maxBuffer: 256 * 1024 * 1024,
    timeout: 60_000,
    windowsHide: true,
  })
  running.child.stdin?.on('error', () => {}).end(input ?? '')
  return running.then(
    ({ stdout }) => stdout,
    (failed) => Promise.reject(gitError(failed)),
  )
}
