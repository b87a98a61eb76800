import { type ExecFileException, execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { UserError } from '../../../base/errors.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Runs the user's own npm, with the registry and proxy it is set up for. */
export async function npm(args: readonly string[], cwd: string): Promise<void> {
  // npm is a script on Windows, which only a shell starts; nothing in `args` comes from outside
  const options = { cwd, shell: process.platform === 'win32', maxBuffer: Number.POSITIVE_INFINITY }
  const running = promisify(execFile)('npm', [...args, '--fetch-retries=1', '--fetch-timeout=60000'], options)
  // whoever ends this process ends what it started
  const end = (signal: NodeJS.Signals) => {
    running.child.kill(signal)
    process.exitCode = 1
  }
  for (const signal of SIGNALS) process.once(signal, end)
  try {
    await running
  } catch (error) {
    const { code, signal, stderr: said = '' } = error as ExecFileException
    if (code === 'ENOENT')
      throw new UserError('no-npm', 'npm is not on the PATH', 'install npm, which comes with Node.js, and try again')
    if (signal) throw new UserError('stopped', `stopped by ${signal}`, 'nothing was kept; start it again')
    if (typeof code !== 'number') throw error
    const errors = said.match(/^npm (?:error|ERR!) .+$/gm)?.slice(0, 3)
    const why = errors?.join('; ') ?? said.trim().split('\n').at(-1)
    const what = `npm ${args.slice(0, 2).join(' ')} failed${why ? `: ${why}` : ''}`
    throw new UserError('npm-failed', what, 'check the network and `npm config get registry`, and try again')
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, end)
  }
}
