import { attempt, when } from '../../base/errors.ts'
import { leaseTime, sameTree } from '../../engine/claims/lease.ts'
import type { Part } from '../../engine/claims/part.ts'
import { isRefusedFor } from '../../engine/write/batch.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import type { Hook } from './hook.ts'
import type { Look } from './merges.ts'

/** One that was renewed so lately is not renewed again. */
const RENEW_MS = 60_000

/** Claims the files of an edit for the session, and for the subagent's role unless it has claimed one itself. Whether others were in the way. */
export function claimImplicitly(hook: Hook, paths: readonly string[], looks?: ReadonlyMap<string, Look>): boolean {
  const { config, session, memory } = hook
  if (!config.implicitClaims || session === '') return false
  const now = leaseTime(memory.db, memory.env)
  const held = claimsOf(memory)
    .held()
    .filter((c) => c.session === session)
  const role = held.some((c) => c.role !== undefined && !c.implicit) ? undefined : hook.role
  const said = (part: Part | undefined) => JSON.stringify([part?.base, part?.lines])
  const fresh = (path: string, part: Part | undefined) =>
    held
      .filter((c) => c.what === 'path' && c.on === path && c.part === undefined && sameTree(c, hook))
      .some((c) => !c.implicit || (c.until - now > c.ttl - RENEW_MS && said(c) === said(part)))
  let isRefused = false
  for (const path of paths) {
    const part = looks?.get(path)?.held
    if (fresh(path, part)) continue
    const lines = part && { [path]: part as unknown as JsonObject }
    const wanted = defined({ paths: [path], implicit: true, root: hook.root, role, held: lines })
    const isClaimed = (error: unknown) => isRefusedFor(error, 'claimed')
    const refused = () => void (isRefused = true)
    const claim = () => void memory.act([['claim', wanted]], hook.author)
    hook.attempt('implicit claim', () => attempt(claim, when(isClaimed, refused)))
  }
  return isRefused
}
