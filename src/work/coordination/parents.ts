import { UserError } from '../../base/errors.ts'
import type { Db } from '../../engine/store/db.ts'
import { getSession, listSessions, type SessionRow } from '../../engine/store/presence.ts'

/** Whether a session stands below another, or is it; parents that nobody knows yet stand below none. */
export function isBelow(db: Db, id: string, above: string): boolean {
  const seen = new Set<string>()
  for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = getSession(db, at)?.parent) {
    if (at === above) return true
    seen.add(at)
  }
  return false
}

/** @throws UserError where a session would be its own ancestor: what ends with its parent would never end. */
export function checkParent(db: Db, id: string, parent: string | undefined): void {
  if (parent === undefined || !isBelow(db, parent, id)) return
  throw new UserError(
    'bad-argument',
    parent === id ? 'a session is not its own parent' : `${parent} stands below ${id}, so it cannot be its parent`,
    'name the session that started this one, or none; `tidemark session list` shows who is whose child',
  )
}

/** What a caller says of a session, without a parent that would make it its own ancestor. */
export function withoutCycle<S extends { parent?: string | undefined }>(db: Db, id: string, said: S): S {
  if (said.parent === undefined || !isBelow(db, said.parent, id)) return said
  const { parent: _own, ...rest } = said
  return rest as S
}

/** Children, and theirs, of a session that have not ended. `resolve`: what an id means now, after `/clear`. */
export function descendants(db: Db, id: string, resolve: (id: string) => string): SessionRow[] {
  const rows = listSessions(db).filter((r) => r.parent !== undefined)
  const found = new Map<string, SessionRow>()
  const add = (above: string): void => {
    for (const row of rows) {
      if (row.id === id || found.has(row.id) || (row.parent !== above && resolve(row.parent!) !== above)) continue
      found.set(row.id, row)
      add(row.id)
    }
  }
  add(id)
  return [...found.values()]
}
