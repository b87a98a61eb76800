/**
 * hub: the server for teams. It stores and forwards what clients push, and never reads it. `server.ts` takes connections,
 * `room.ts` serves one project, `log.ts` has the ordered log, `access-tokens.ts` and `claims.ts` have what is arbitrated. The
 * database is behind one port, `HubStore`: `sqlite.ts` or `postgres.ts`.
 */

export type Value = string | number | null

export interface Query {
  /** Runs a statement with `?` for values; rows, if it gives any. */
  all<T = Record<string, Value>>(sql: string, ...values: Value[]): Promise<T[]>
}

/** A database of a hub. Any number of processes may share one of PostgreSQL. */
export interface HubStore extends Query {
  /** All or nothing; on the disk when it returns. */
  transaction<T>(body: (q: Query) => Promise<T>): Promise<T>
  /** What ends a SELECT of a row that others are to wait for. */
  readonly lock: string
  /** The database's own time in ms, as an expression: one clock for all processes of the hub. */
  readonly now: string
  /** Whether `tell` reaches the other processes at once; else they have to look. */
  readonly tells: boolean
  /** Says something to all processes of the hub, this one too. Nothing keeps it. */
  tell(topic: string, text: string): Promise<void>
  hear(listener: (topic: string, text: string) => void): void
  /** Drives what was just erased out of the files, where the database would leave it there. */
  scrub(): Promise<void>
  close(): Promise<void>
}

/** Longer texts cannot be told. */
export const MOST_TOLD = 7000

const PARTITIONS = 16

/** Columns of claims that came later. SQLite adds none twice: it is to be asked first. */
export const ADD = 'ALTER TABLE hub_claims ADD COLUMN'
export const LATER = { part: "TEXT NOT NULL DEFAULT ''", n: 'BIGINT NOT NULL DEFAULT 0' }

/** The tables, in standard SQL but for the partitions of PostgreSQL. Each statement may run again. */
export const schema = (postgres: boolean): string[] => [
  'CREATE TABLE IF NOT EXISTS hub_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)',
  'CREATE TABLE IF NOT EXISTS hub_projects (id TEXT PRIMARY KEY, head BIGINT NOT NULL, fence BIGINT NOT NULL)',
  `CREATE TABLE IF NOT EXISTS hub_log (project TEXT NOT NULL, n BIGINT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
       member TEXT NOT NULL, at BIGINT NOT NULL, size BIGINT NOT NULL, body TEXT,
       PRIMARY KEY (project, n), UNIQUE (project, digest))${postgres ? ' PARTITION BY HASH (project)' : ''}`,
  ...(postgres
    ? Array.from(
        { length: PARTITIONS },
        (_, i) =>
          `CREATE TABLE IF NOT EXISTS hub_log_${i} PARTITION OF hub_log FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${i})`,
      )
    : []),
  'CREATE INDEX IF NOT EXISTS hub_log_key ON hub_log (project, key)',
  `CREATE TABLE IF NOT EXISTS hub_replicas (project TEXT NOT NULL, replica TEXT NOT NULL, member TEXT NOT NULL,
       PRIMARY KEY (project, replica))`,
  `CREATE TABLE IF NOT EXISTS hub_tokens (id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, member TEXT NOT NULL,
       role TEXT NOT NULL, projects TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT)`,
  `CREATE TABLE IF NOT EXISTS hub_claims (project TEXT NOT NULL, fence BIGINT NOT NULL, what TEXT NOT NULL,
       place TEXT NOT NULL, member TEXT NOT NULL, session TEXT NOT NULL, note TEXT NOT NULL, since BIGINT NOT NULL,
       until BIGINT NOT NULL, PRIMARY KEY (project, fence))`,
  ...Object.entries(postgres ? LATER : {}).map((column) => `${ADD} IF NOT EXISTS ${column.join(' ')}`),
  `CREATE TABLE IF NOT EXISTS hub_audit (at BIGINT NOT NULL, project TEXT NOT NULL, member TEXT NOT NULL,
       what TEXT NOT NULL, detail TEXT NOT NULL)`,
  'CREATE INDEX IF NOT EXISTS hub_audit_at ON hub_audit (at)',
  `CREATE TABLE IF NOT EXISTS hub_usage (project TEXT NOT NULL, member TEXT NOT NULL, stored BIGINT NOT NULL,
       since BIGINT NOT NULL, spent BIGINT NOT NULL, PRIMARY KEY (project, member))`,
  'CREATE TABLE IF NOT EXISTS hub_dropped (project TEXT NOT NULL, replica TEXT NOT NULL, PRIMARY KEY (project, replica))',
]
