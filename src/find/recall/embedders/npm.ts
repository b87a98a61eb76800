import { spawn } from 'node:child_process'
import { UserError } from '../../../base/errors.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Runs the user's own npm, with the registry and proxy it is set up for. */
export function npm(args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, fail) => {
    // npm is a script on Windows, which only a shell starts; nothing in `args` comes from outside
    const child = spawn('npm', [...args, '--fetch-retries=1', '--fetch-timeout=60000'], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32',
    })
    // whoever ends this process ends what it started
    const end = (signal: NodeJS.Signals) => {
      child.kill(signal)
      process.exitCode = 1
    }
    for (const signal of SIGNALS) process.once(signal, end)
    const done = () => {
      for (const signal of SIGNALS) process.removeListener(signal, end)
    }
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2000)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      done()
      fail(
        error.code === 'ENOENT'
          ? new UserError('no-npm', 'npm is not on the PATH', 'install npm, which comes with Node.js, and try again')
          : error,
      )
    })
    child.on('close', (code, signal) => {
      done()
      if (code === 0) return resolve()
      if (signal) return fail(new UserError('stopped', `stopped by ${signal}`, 'nothing was kept; start it again'))
      const why =
        said
          .match(/^npm (?:error|ERR!) .+$/gm)
          ?.slice(0, 3)
          .join('; ') ??
        said.trim().split('\n').at(-1) ??
        ''
      fail(
        new UserError(
          'npm-failed',
          `npm ${args.slice(0, 2).join(' ')} failed${why ? `: ${why}` : ''}`,
          'check the network and `npm config get registry`, and try again',
        ),
      )
    })
  })
}
