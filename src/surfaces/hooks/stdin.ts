import { fstatSync, readFileSync } from 'node:fs'

/** More than this is no hook's payload. */
export const STDIN_MAX = 16 * 1024 * 1024

/**
 * What stands on stdin, up to its end or to where it is whole: some clients leave it open. Gives what has come when the
 * time is up.
 */
export function readStdin(ms: number): Promise<string> {
  try {
    const stat = fstatSync(0)
    if (stat.isFile()) return Promise.resolve(stat.size > STDIN_MAX ? '' : readFileSync(0, 'utf8'))
    if (!stat.isFIFO() && !stat.isSocket()) return Promise.resolve('') // a terminal, /dev/null: nobody sends anything
  } catch {
    return Promise.resolve('') // closed
  }
  const { promise, resolve } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let size = 0
  const stdin = process.stdin
  const done = () => {
    clearTimeout(timer)
    stdin.removeAllListeners()
    stdin.on('error', () => {})
    stdin.pause()
    resolve(size > STDIN_MAX ? '' : Buffer.concat(chunks).toString('utf8'))
  }
  const timer = setTimeout(done, ms)
  stdin.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > STDIN_MAX) return done()
    if (/\}\s*$/.test(chunk.toString('latin1', Math.max(0, chunk.length - 64))) && isWhole(Buffer.concat(chunks)))
      done()
  })
  stdin.on('end', done)
  stdin.on('error', done)
  return promise
}

function isWhole(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}
