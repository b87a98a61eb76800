import { promisify } from 'node:util'
import { messageOf, UserError } from '../../base/errors.ts'

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

/** What git said when it failed. */
export function gitSaid(error: unknown): string {
  const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string }
  if (code === 'ENOENT') return 'there is no git in PATH'
  if (killed) return 'it took more than a minute'
  const said = (stderr || messageOf(error)).trim().split('\n')
  return said.find((line) => line.startsWith('fatal:')) ?? said[0]!
}

/** Whether it was git that failed. */
export const isOfGit = (error: unknown): boolean => error instanceof Error && 'cmd' in error

export const gitFailed = (error: unknown): UserError =>
  new UserError('no-git', `git does not answer: ${gitSaid(error)}`, 'see that `git status` works here')

/** What git tells of a history. @throws where there is no git, or no history. */
export const runGit = (root: string, ...args: string[]): Promise<string> => runGitWith(root, {}, ...args)

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
  return (await running).stdout
}
