import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempt, UserError } from '../../base/errors.ts'
import { lockWait } from './lock-wait.ts'
import { isMisdefined } from './schema.ts'

/** SQLite's primary result code (sqlite.org/rescode.html); 0 for any other error. */
export const codeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff
export const [READONLY, CANTOPEN] = [8, 14]
const [ERROR, BUSY, LOCKED, IOERR, CORRUPT, FULL, NOTADB] = [1, 5, 6, 10, 11, 13, 26]

export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY || codeOf(error) === LOCKED

export const isDamage = (error: unknown): boolean => codeOf(error) === CORRUPT || codeOf(error) === NOTADB

/** SQLite cannot make sense of a statement, or of the definition of a table that it touches. */
export const isSenseless = (error: unknown): boolean => codeOf(error) === ERROR

export const damaged = (what: string): UserError => {
  const hint =
    '`tidemark doctor` says what is damaged; `tidemark doctor --restore` brings back everything that can be read; nothing was changed'
  return new UserError('store-damaged', what, hint)
}

/** Less than what a database needs to be opened. */
const TOO_LITTLE = 1 << 17

function isFull(directory: string): boolean {
  const disk = attempt(() => statfsSync(directory))
  return disk !== undefined && disk.bavail * disk.bsize < TOO_LITTLE
}

/** Whether the store could not be read or written: no fault of what was to be written, which is to be tried again. */
export const isOfStore = (error: unknown): boolean => error instanceof UserError && /^(?:store|disk)-/.test(error.code)

const closed = (path: string, why: string, hint: string) =>
  new UserError('store-unreadable', `the store ${path} cannot be opened${why}`, hint)
const fixed = (path: string, why: string, hint: string) =>
  new UserError('store-read-only', `the store ${path} cannot be written${why}`, hint)
const noSpace = (path: string) => {
  const hint = 'free some space and try again; what was written before is safe'
  return new UserError('disk-full', `no space left for the store ${path}`, hint)
}

/** Turns what SQLite says of a file into what the caller can do about it. */
export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error
  if (isSenseless(error) && isMisdefined(path))
    return damaged(`the store ${path} is damaged: the definition of a table is not what was written`)
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
      return closed(path, ': permission denied', 'check that you may read and write it and its directory')
    case 'EEXIST':
    case 'ENOTDIR':
      return closed(
        path,
        ': a file lies where its directory should be',
        'check the path: persistencePath, or TIDEMARK_STORE',
      )
    case 'EROFS':
      return fixed(
        path,
        ': the disk is mounted read-only',
        'put the store elsewhere with TIDEMARK_STORE, or mount the disk writable',
      )
    case 'ENOSPC':
    case 'EDQUOT':
      return noSpace(path)
  }
  const code = codeOf(error)
  if (code === CORRUPT || code === NOTADB) return damaged(`the store ${path} is damaged: ${error.message}`)
  if (code === READONLY) {
    const hint = 'check the permissions of the file and its directory, and that the disk is not mounted read-only'
    return fixed(path, '', hint)
  }
  // where no file can grow, opening the database already fails, as an error of reading or writing
  if (code === FULL || (code === IOERR && isFull(dirname(path)))) return noSpace(path)
  if (code === CANTOPEN) return closed(path, '', 'check that the directory exists and that you may read and write it')
  if (code === IOERR) {
    const hint = 'check the disk; nothing was changed'
    return new UserError('disk-error', `reading or writing ${path} failed: ${error.message}`, hint)
  }
  if (isBusy(error)) {
    const hint =
      '`tidemark doctor` says which process it is, where the system tells; else try again. Nothing was written'
    return new UserError('store-busy', `another process has held the store ${path} for ${lockWait.ms / 1000} s`, hint)
  }
  return error
}

/** What `body` gives; what SQLite says of the file instead is turned into what the caller can do about it. */
export const ofStore = <T>(path: string, body: () => T): T =>
  attempt(body, (error) => {
    throw storeError(error, path)
  })
