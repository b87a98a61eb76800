import { readDb, stored } from '../../../engine/store/db.ts'

/** The sessions of opencode's own database, which is only read. */
export function opencodeSessions(path: string): { id: string; directory: string }[] {
  using db = readDb(path)
  return db.all('SELECT id, directory FROM session WHERE parent_id IS NULL ORDER BY id')
}

export function opencodeTexts(path: string, session: string): { role: unknown; text: unknown; at: unknown }[] {
  using db = readDb(path)
  const sql = `SELECT m.data AS message, p.data AS part FROM part p JOIN message m ON m.id = p.message_id
     WHERE p.session_id = ? ORDER BY m.id, p.id`
  return db.all<{ message: string; part: string }>(sql, session).flatMap(({ message, part }) => {
    const { type, text, synthetic } = stored<Record<string, unknown>>(part)
    const { role, time } = stored<{ role?: unknown; time?: { created?: unknown } }>(message)
    return type === 'text' && synthetic !== true ? [{ role, text, at: time?.created }] : []
  })
}
