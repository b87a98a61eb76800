import { fstatSync, read, readFileSync } from 'node:fs'
import { jsonIn } from '../../model/object.ts'

/** No client sends a larger payload. */
const STDIN_MAX = 16 * 1024 * 1024

/** What a pipe holds on Linux. */
const AT_ONCE = 64 * 1024

/** Whether a read waits for bytes that may never come. */
let isReading = false

/** What stands on stdin up to its end, where it is whole (some clients leave it open), or when the time is up. */
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
  /** How much there was when it was last looked at whether it is whole: at each chunk would take quadratic time. */
  let looked = 0
  let isDone = false
  let stop = () => {}
  const done = () => {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    stop()
    resolve(size > STDIN_MAX ? '' : Buffer.concat(chunks).toString('utf8'))
  }
  const timer = setTimeout(done, ms)
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > STDIN_MAX) return done()
    const end = chunk.toString('latin1', Math.max(0, chunk.length - 64)).trimEnd()
    if (size < 1.5 * looked || !end.endsWith('}')) return
    looked = size
    if (jsonIn(Buffer.concat(chunks).toString('utf8')) !== undefined) done()
  }
  const stream = () => {
    const stdin = process.stdin
    stop = () => {
      stdin.removeAllListeners()
      stdin.on('error', () => {})
      stdin.pause()
    }
    stdin.on('data', take)
    stdin.on('end', done)
    stdin.on('error', done)
  }
  // Plain reads spare the loading of Node's streams: 5 ms of the 25 that an empty process takes. One that waits cannot be
  // called off, so this is for where the process can be left with one: see leave.
  const next = () => {
    isReading = true
    read(0, Buffer.allocUnsafe(AT_ONCE), 0, AT_ONCE, null, (error, n, buffer) => {
      isReading = false
      if (isDone) return
      if (error?.code === 'EAGAIN') return stream() // whoever shares it does not want reads to wait
      if (error || n === 0) return done()
      take(buffer.subarray(0, n))
      if (!isDone) next()
    })
  }
  if (process.execve === undefined) stream()
  else next()
  return promise
}

/** Ends the process with exit code 0; `process.exit` would wait for a read that waits. */
export function leave(): never {
  if (isReading && process.execve !== undefined) {
    process.emitWarning = () => {} // that it is experimental
    try {
      process.execve(process.execPath, [process.execPath, '-e', '0'], {})
    } catch {} // not on this system, or not allowed
  }
  process.exit(0)
}
