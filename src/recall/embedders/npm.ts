import { spawn } from 'node:child_process'
import { UserError } from '../../errors.ts'

/** Runs the user's own npm, with the registry and proxy it is set up for. */
export function npm(args: readonly string[], cwd: string): Promise<void> {
  return new Promise((done, fail) => {
    // npm is a script on Windows, which only a shell starts; nothing in `args` comes from outside
    const child = spawn('npm', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2000)
    })
    child.on('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'ENOENT'
          ? new UserError('no-npm', 'npm is not on the PATH', 'install npm, which comes with Node.js, and try again')
          : error,
      ),
    )
    child.on('close', (code) => {
      if (code === 0) return done()
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
