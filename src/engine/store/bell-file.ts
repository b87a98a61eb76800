import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { attempt } from '../../base/errors.ts'

/** The length of what a writer leaves in the doorbell: the file's inode, the number of arrival and the batch. */
const MARK_LENGTH = 64

export const bellPath = (storePath: string) => `${storePath}.bell`

/** Opens the doorbell. Refuses a link, a second name and anything but a plain file. */
export function openBell(storePath: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const bell = openSync(bellPath(storePath), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  const stat = fstatSync(bell)
  if (stat.isFile() && stat.nlink === 1) return bell
  closeSync(bell)
  throw new Error(`${bellPath(storePath)} is no plain file`)
}

/** Rings without anything to say: other processes look for what is new. */
export const ring = (bell: number): void => void writeSync(bell, ' ', MARK_LENGTH)

/** Rings, and leaves what was written last into the file with this inode. */
export const ringWith = (bell: number, inode: number, n: number, batch: string): void =>
  void writeSync(bell, `${inode} ${n} ${batch}`.padEnd(MARK_LENGTH), 0)

/** What was written last, and into the file with which inode. */
export interface Mark {
  readonly inode: number
  /** The number of arrival, and the batch. */
  readonly n: number
  readonly batch: string
}

/** What the doorbell says was written last; nothing if nobody has rung yet. */
export function readMark(path: string): Mark | undefined {
  const [file, n, batch = ''] = (attempt(() => readFileSync(bellPath(path), 'latin1')) ?? '').trim().split(' ')
  const mark = { inode: Number(file), n: Number(n), batch }
  return mark.inode > 0 && Number.isSafeInteger(mark.n) ? mark : undefined
}
