import { fstatSync, openSync } from 'node:fs'
import { UserError } from '../../base/errors.ts'
import { closing } from '../../base/files.ts'
import { parseExact } from '../../model/exact-json.ts'
import { readAll, readStdin } from '../tools/stdin.ts'

export { readStdin }

/** A value as people type it: JSON where it is that, else the text itself, and `-` what stands on standard input. */
export function looseJson(given: string): unknown {
  const text = given === '-' ? readStdin().trim() : given
  try {
    return parseExact(text)
  } catch (error) {
    if (error instanceof UserError) throw error
    if (!/^\s*["[{]/.test(text)) return text
    throw new UserError(
      'not-json',
      `it begins like JSON but is none: ${(error as Error).message}`,
      `put it in single quotes, so that the shell leaves it alone: '["a", "b"]', '{"a": 1}'; a text that begins so is quoted twice: '"[x"'`,
    )
  }
}

/** JSON given as text, as a file's name, or as `-` (or nothing) for standard input. */
export function jsonInput(given: string | undefined): unknown {
  let text = given
  let what = 'the argument'
  if (given === undefined || given === '-') {
    if (given === undefined && process.stdin.isTTY)
      throw new UserError('no-input', 'a batch is missing', 'give it as text, as a file, or on standard input')
    text = readStdin()
    what = 'standard input'
  } else if (!/^\s*[[{"]/.test(given)) {
    what = given
    let fd: number
    try {
      fd = openSync(given, 'r')
    } catch (error) {
      throw new UserError(
        'unreadable',
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? `${given} cannot be read: it is no JSON, and there is no file of that name`
          : `${given} cannot be read: ${(error as NodeJS.ErrnoException).code}`,
        'give JSON, the name of a file with JSON, or - for standard input',
      )
    }
    using _open = closing(fd)
    if (fstatSync(fd).isDirectory())
      throw new UserError('unreadable', `${given} is a directory`, 'give the name of a file with JSON')
    text = readAll(fd, given)
  }
  try {
    return parseExact(text!)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('not-json', `${what} is not JSON: ${(error as Error).message}`, 'a batch is [["verb", {…}], …]')
  }
}
