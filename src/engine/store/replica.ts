import type { Env } from '../../base/env.ts'
import type { Clock } from '../log/clock.ts'
import { type Db, inodeOf } from './db.ts'
import { newTag, publicKey } from './keys.ts'
import { type Head, head } from './log.ts'
import { getMeta, setMeta } from './meta.ts'
import { keepOwn } from './own-lines.ts'

export function mintReplica(db: Db, env: Env): string {
  const project = getMeta(db, 'project')
  const tag = newTag(env.random(4), project === undefined ? undefined : publicKey(project))
  const before = getMeta(db, 'replica')
  if (before !== undefined) keepOwn(db, before, head(db, before).seq)
  setMeta(db, 'replica', tag)
  setMeta(db, 'ctr', '0')
  setMeta(db, 'shared', '')
  setMeta(db, 'inode', String(inodeOf(db.path)))
  return tag
}

/** The last own line that leaves: the next one that does follows it. */
export function lastShared(db: Db): Head {
  const [seq = '', hash = ''] = (getMeta(db, 'shared') ?? '').split(' ')
  return { seq: Number(seq), hash }
}

/** How the next own line names the one that it follows. */
export function followingShared(db: Db): { from: number; prev: string } {
  const { seq, hash } = lastShared(db)
  return { from: seq + 1, prev: hash }
}

export const keepShared = (db: Db, { seq, hash }: Head): void => setMeta(db, 'shared', `${seq} ${hash}`)

/**
 * This store's identity in the log: its tag names the key that its lines are signed with (`keys.ts`). A copied or restored
 * store, known by its inode, gets a new one.
 */
export function replicaFor(db: Db, env: Env): { tag: string; clock: Clock } {
  let tag = getMeta(db, 'replica')
  if (tag === undefined || getMeta(db, 'inode') !== String(inodeOf(db.path))) tag = mintReplica(db, env)
  return { tag, clock: { ms: Number(getMeta(db, 'clock_ms') ?? 0), ctr: Number(getMeta(db, 'ctr') ?? 0) } }
}

export function saveClock(db: Db, clock: Clock): void {
  setMeta(db, 'clock_ms', String(clock.ms))
  setMeta(db, 'ctr', String(clock.ctr))
}

/** Takes note of a remote stamp (K13): the next own one will be later, within the allowed lead. */
export function sawStamp(db: Db, ms: number): void {
  if (ms > Number(getMeta(db, 'clock_ms') ?? 0)) setMeta(db, 'clock_ms', String(ms))
}

/** What keeps others from guessing by its digest what stays on this machine. */
export const newSalt = (env: Env): string => Buffer.from(env.random(SALT_BYTES)).toString('base64url')
const SALT_BYTES = 12
