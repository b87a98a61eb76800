import { type Stats, statSync } from 'node:fs'
import { basename, relative, sep } from 'node:path'
import { attempt, messageOf, UserError } from '../../../base/errors.ts'
import { inspect, pathIn, readInside, readRegular } from '../../../base/files.ts'

/** A larger file is no notes and no export; reading it whole would take the process's memory. */
const MAX_FILE = 64 * 1024 * 1024

const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`

function statOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const hint = 'give a path that exists, relative to the working directory'
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UserError('no-file', `there is no ${path}`, hint)
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, error: unknown) =>
  new UserError('unreadable', `${path} cannot be read: ${messageOf(error)}`, 'check its permissions')

export function mustBeDirectory(path: string, hint: string): void {
  if (!statOf(path).isDirectory()) throw new UserError('not-a-directory', `${path} is a file, not a directory`, hint)
}

/** @throws UserError when a path leads through a link inside a directory whose content others may have made. */
export function mustBeInside(path: string, root: string): void {
  const way = pathIn(root, path)
  const found = way === undefined ? undefined : inspect(root, way)
  const hint = 'inside a project no link is followed: name the file that it leads to'
  if (found?.is === 'unsafe') throw new UserError('unsafe-path', found.why, hint)
}

/** The bytes of a file; inside `root` no link is followed. @throws UserError when it is missing, no regular file or too large. */
export function readBytes(path: string, root: string): Buffer {
  mustBeInside(path, root)
  const stat = statOf(path)
  const refuse = (code: string, what: string, hint: string) => new UserError(code, `${path} ${what}`, hint)
  if (stat.isDirectory()) throw refuse('not-a-file', 'is a directory', 'give the file in it that is to be imported')
  if (!stat.isFile()) throw refuse('not-a-file', 'is no regular file', 'copy its content into a file first')
  if (stat.size > MAX_FILE)
    throw refuse('too-large', `has ${mb(stat.size)}; the limit is ${mb(MAX_FILE)}`, 'split it, and import the parts')
  const way = pathIn(root, path)
  let bytes: Buffer | undefined
  try {
    bytes = way === undefined ? readRegular(path) : readInside(root, way, MAX_FILE)
  } catch (error) {
    throw unreadable(path, error)
  }
  if (!bytes) throw refuse('unreadable', 'was replaced while it was read', 'try again')
  return bytes
}

/** The text of a file, read in the same way. @throws UserError also when it is binary or not UTF-8. */
export function readText(path: string, root: string): string {
  const bytes = readBytes(path, root)
  if (bytes.includes(0))
    throw new UserError('binary', `${path} is a binary file: it has NUL bytes`, 'import takes text in UTF-8')
  const text = attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  if (text !== undefined) return text.replaceAll('\r\n', '\n')
  throw new UserError('not-utf8', `${path} is not UTF-8 text`, 'save it as UTF-8 and import it again')
}

/** A path as locations and messages name it: from the project's root, with forward slashes. */
export function labelOf(path: string, root: string): string {
  const label = relative(root, path).split(sep).join('/')
  return label === '' ? basename(path) : label
}
