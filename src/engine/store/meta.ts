import { type Db, stored } from './db.ts'

export const getMeta = (db: Db, key: string): string | undefined =>
  db.value<string>('SELECT value FROM meta WHERE key=?', key)

export const setMeta = (db: Db, key: string, value: string): void =>
  db.run('INSERT OR REPLACE INTO meta VALUES (?,?)', key, value)

export const dropMeta = (db: Db, key: string): void => db.run('DELETE FROM meta WHERE key=?', key)

/** How far the exchange with others has come: the segments that were read, of each work tree how it was, and the place in a hub's log. */
export const EXCHANGE = { segments: 'sync_known', tree: 'sync_tree:', hub: 'hub' }

/** Has all that others hold read again: what is there already stays as it is. */
export function forgetExchange(db: Db): void {
  dropMeta(db, EXCHANGE.segments)
  db.run('DELETE FROM meta WHERE substr(key, 1, ?)=?', EXCHANGE.tree.length, EXCHANGE.tree)
  const hub = getMeta(db, EXCHANGE.hub)
  if (hub !== undefined) setMeta(db, EXCHANGE.hub, JSON.stringify({ ...stored<object>(hub), n: 0, mark: undefined }))
}
