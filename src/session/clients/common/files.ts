import { accessSync, constants, existsSync, lstatSync, realpathSync, rmdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { attempt, UserError, whenCode } from '../../../base/errors.ts'
import { codeOf, readRegular } from '../../../base/files.ts'

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && way !== path
}

/** The text of a file, or null if there is none. @throws UserError where it is no readable UTF-8 file. */
export function readText(file: string): string | null {
  let bytes: Buffer
  try {
    const regular = readRegular(file)
    if (!regular) {
      const what = statSync(file).isDirectory() ? 'a folder' : 'no regular file'
      throw new UserError('not-a-file', `${file} is ${what}`, 'move it away; nothing was changed')
    }
    bytes = regular
  } catch (error) {
    if (error instanceof UserError) throw error
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new UserError('unreadable', `${file} cannot be read: ${(error as Error).message}`, 'nothing was changed')
  }
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes))
    throw new UserError('not-utf8', `${file} is not UTF-8 text`, 'save it as UTF-8; nothing was changed')
  return text
}

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

/** Where a write to `file` lands. @throws UserError where that is outside `boundary` or cannot be written. */
export function landing(file: string, boundary: string): string {
  let dir = dirname(file)
  const missing: string[] = []
  for (; !existsSync(dir) && statOf(dir) === undefined; dir = dirname(dir)) missing.unshift(basename(dir))
  let edge = boundary
  while (!existsSync(edge)) edge = dirname(edge)
  const home = realpathSync(edge)
  const refuse = (code: string, what: string, hint: string): never => {
    throw new UserError(code, `${file} ${what}`, `${hint}; nothing was changed`, { file })
  }
  const real = (path: string): string =>
    attempt(() => realpathSync(path)) ??
    refuse('dangling-link', `leads through a symbolic link to nothing (${path})`, 'remove or mend the link')
  const inside = (path: string) => {
    if (isInside(path, home)) return path
    const what = `is a symbolic link out of ${boundary}, to ${path}`
    return refuse('outside', what, 'edit that file by hand, or replace the link')
  }
  const folder = inside(real(dir))
  if (!statSync(folder).isDirectory()) refuse('not-a-folder', `cannot be made: ${dir} is no folder`, 'move it away')
  const target = missing.length === 0 && statOf(file) ? inside(real(file)) : join(folder, ...missing, basename(file))
  const stat = statOf(target)
  if (stat && !stat.isFile()) refuse('not-a-file', 'is not a regular file', 'move it away')
  // root may write anything, so the mode is asked too: read-only is the owner's word
  const writable = (path: string) =>
    attempt(() => {
      accessSync(path, constants.W_OK)
      return (statSync(path).mode & 0o222) !== 0
    })
  if (stat && !writable(target)) refuse('not-writable', 'is not writable', `make it so (chmod u+w ${target})`)
  const parent = stat ? dirname(target) : folder
  if (!writable(parent)) refuse('not-writable', `cannot be written: ${parent} is read-only`, `make it writable`)
  return target
}

export function missingDirs(file: string): string[] {
  const dirs: string[] = []
  for (let dir = dirname(file); !existsSync(dir); dir = dirname(dir)) dirs.unshift(dir)
  return dirs
}

export const removeIfEmpty = (dir: string): void =>
  attempt(() => rmdirSync(dir), whenCode(['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR']))
