import { readSync } from 'node:fs'
import { attempt, UserError } from '../../base/errors.ts'

/** Larger input is no batch: an import reads files of its own. */
const MAX_INPUT = 10 * 1024 * 1024

export function readAll(fd: number, what: string): string {
  const chunks: Buffer[] = []
  let total = 0
  const chunk = Buffer.alloc(1 << 16)
  for (;;) {
    let n: number
    try {
      n = readSync(fd, chunk, 0, chunk.length, null)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EOF') break
      if (code === 'EAGAIN') {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) // a terminal or pipe that has nothing yet
        continue
      }
      throw new UserError(
        'unreadable',
        `${what} cannot be read: ${code ?? String(error)}`,
        'check the file and its permissions',
      )
    }
    if (n === 0) break
    total += n
    if (total > MAX_INPUT)
      throw new UserError(
        'too-large',
        `${what} is larger than ${MAX_INPUT / 1024 / 1024} MB`,
        'a batch has at most 50 actions; import reads larger files',
      )
    chunks.push(Buffer.from(chunk.subarray(0, n)))
  }
  const text = attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  if (text !== undefined) return text
  throw new UserError('not-utf8', `${what} is not valid UTF-8`, 'send text as UTF-8')
}

export const readStdin = (): string => readAll(0, 'standard input')
