import { spawn } from 'node:child_process'

const WAIT_MS = 700
const LINE_MAX = 2_000

/** The first line that the user's own status line command prints for the same payload; nothing if it is late. */
export function chained(command: readonly string[], payload: string): Promise<string> {
  if (command.length === 0) return Promise.resolve('')
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  const child = spawn(command.join(' '), { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  const done = () => {
    clearTimeout(timer)
    resolve(said.split('\n')[0]!.slice(0, LINE_MAX))
  }
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    done()
  }, WAIT_MS)
  child.stdout.on('data', (d) => {
    if (said.length < LINE_MAX * 4) said += String(d)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(payload)
  child.on('error', done)
  child.on('close', done)
  return promise
}
