import { UserError } from '../../base/errors.ts'
import { createInside, readInside, writeInside } from '../../base/files.ts'
import { digest } from '../../model/digest.ts'

const backupOf = (base: string): string => `.tidemark/local/mutations/${base.slice(0, 16)}.md`

/** Keeps a file as it is, so that it can be restored. @throws UserError where something else is in the copy's place. */
export function keepBackup(root: string, text: string): void {
  const base = digest(Buffer.from(text))
  createInside(root, backupOf(base), text, { sync: true })
  if (digest(readInside(root, backupOf(base)) ?? '') !== base)
    throw new UserError('no-backup', `${backupOf(base)} is not the file as it was`, 'move it away')
}

/** The bytes of a file as they were, by their hash; nothing where this machine has no copy of them. */
export function backedUp(root: string, base: string): Buffer | undefined {
  const bytes = readInside(root, backupOf(base))
  return bytes !== undefined && digest(bytes) === base ? bytes : undefined
}

/** @throws UserError where the file is not the one that was shown. */
export function mustBeUnchanged(root: string, path: string, base: string): void {
  if (digest(readInside(root, path) ?? '') !== base)
    throw new UserError('target-changed', `${path} was changed in this moment`, 'the same command shows it anew')
}

/** Replaces a file in one step, if it still is the one that was shown. */
export function replaceShown(root: string, path: string, base: string, after: string): void {
  mustBeUnchanged(root, path, base)
  writeInside(root, path, after, { sync: true })
}
