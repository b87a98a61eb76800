import { fstatSync, openSync } from 'node:fs'
import { attempt, refuse, UserError } from '../../base/errors.ts'
import { closing, codeOf } from '../../base/files.ts'
import { exactOr } from '../../model/exact-json.ts'
import { readAll, readStdin } from '../tools/stdin.ts'

export { readStdin }

/** A value as people type it: JSON where it is that, else the text itself, and `-` what stands on standard input. */
export function looseJson(given: string): unknown {
  const text = given === '-' ? readStdin().trim() : given
  return exactOr(text, (why) => {
    if (!/^\s*["[{]/.test(text)) return text
    const hint = `put it in single quotes, so that the shell leaves it alone: '["a", "b"]', '{"a": 1}'; a text that begins so is quoted twice: '"[x"'`
    return refuse('not-json', `it begins like JSON but is none: ${why}`, hint)
  })
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
    const hint = 'give JSON, the name of a file with JSON, or - for standard input'
    using open = attempt(
      () => closing(openSync(given, 'r')),
      (error) => {
        const code = codeOf(error)
        const why = code === 'ENOENT' ? 'it is no JSON, and there is no file of that name' : code
        return refuse('unreadable', `${given} cannot be read: ${why}`, hint)
      },
    )
    if (fstatSync(open.fd).isDirectory())
      throw new UserError('unreadable', `${given} is a directory`, 'give the name of a file with JSON')
    text = readAll(open.fd, given)
  }
  return exactOr(text!, (why) => refuse('not-json', `${what} is not JSON: ${why}`, 'a batch is [["verb", {…}], …]'))
}
