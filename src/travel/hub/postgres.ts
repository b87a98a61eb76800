import { userInfo } from 'node:os'
import type { ClientBase, ClientConfig, Pool, QueryConfig } from 'pg'
import type { Env } from '../../base/env.ts'
import { UserError } from '../../base/errors.ts'
import { type HubStore, type Query, schema, type Value } from './store.ts'

const CHANNEL = 'tidemark_hub'
const CONNECTIONS = 8
const LISTEN_AGAIN_MS = 1_000
/** BIGINT and NUMERIC come as text; ours are exact as numbers. */
const COUNTED = [20, 1700]

/** Statements have `?` for values; PostgreSQL counts them. None of ours has a question mark in a text. */
const prepared = new Map<string, QueryConfig>()
function withNumbers(sql: string): QueryConfig {
  let statement = prepared.get(sql)
  if (statement === undefined) {
    let n = 0
    const text = sql.replace(/\?/g, () => `$${++n}`)
    statement = { text, ...(prepared.size < 500 && { name: `tidemark_${prepared.size}` }) }
    if ('name' in statement) prepared.set(sql, statement)
  }
  return statement
}

const run = async <T>(on: Pick<ClientBase, 'query'>, text: string, values: readonly Value[]): Promise<T[]> =>
  (await on.query({ ...withNumbers(text), values: [...values] })).rows as T[]

async function allOrNothing<T>(pool: Pool, body: (q: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let failed = true
  try {
    await client.query('BEGIN')
    const result = await body({ all: (text, ...values) => run(client, text, values) })
    await client.query('COMMIT')
    failed = false
    return result
  } finally {
    // a connection that ends takes its transaction back
    client.release(failed)
  }
}

/** The hub's database in PostgreSQL, shared by any number of hub processes. It may go away and come back. */
export async function openPostgresStore(url: string, env: Env, options: { listen?: boolean } = {}): Promise<HubStore> {
  const pg = (await import('pg').catch(() => undefined))?.default
  if (!pg)
    throw new UserError('no-postgres', 'the package `pg` is not installed', 'run `npm install pg` beside tidemark')
  pg.defaults.user ||= userInfo().username // as psql does; a service may have no USER
  const config: ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'tidemark-hub',
    // what is acknowledged is on the disk, whatever the server's own setting is
    options: '-c synchronous_commit=on',
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        COUNTED.includes(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  }
  const pool = new pg.Pool({ ...config, max: CONNECTIONS })
  // a connection that breaks fails the statement that uses it; the pool opens another one
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const transaction = <T>(body: (q: Query) => Promise<T>): Promise<T> => allOrNothing(pool, body)
  const listeners: ((topic: string, text: string) => void)[] = []
  const hear = (payload: string) => {
    const at = payload.indexOf(' ')
    for (const listener of listeners) listener(payload.slice(0, at), payload.slice(at + 1))
  }
  try {
    // several processes that start at once would make the same tables
    await transaction(async (q) => {
      await q.all('SELECT pg_advisory_xact_lock(7446518)')
      const column = "SELECT 1 FROM pg_attribute WHERE attrelid=to_regclass('hub_claims') AND attname='n'"
      if ((await q.all(column)).length === 0) for (const statement of schema(true)) await q.all(statement)
    })
  } catch (error) {
    await pool.end()
    const hint = 'check the address, and that the user may create tables there'
    throw new UserError('no-postgres', `the database cannot be used: ${(error as Error).message}`, hint)
  }

  let ear: InstanceType<typeof pg.Client> | undefined
  let tells = false
  let isClosed = false
  const listen = async (): Promise<void> => {
    const client = new pg.Client({ ...config, keepAlive: true })
    client.on('notification', ({ payload = '' }) => hear(payload))
    client.on('error', () => {}) // it ends as well
    client.on('end', () => {
      if (ear === client) again()
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      void client.end()
      throw error
    }
    ear = client
    tells = true
    hear('again ') // what was told while the connection was away was missed
  }
  const again = (): void => {
    tells = false
    ear = undefined
    if (!isClosed) setTimeout(() => void listen().catch(again), LISTEN_AGAIN_MS).unref()
  }
  if (options.listen !== false)
    await listen().catch((error: Error) =>
      env.log(`tidemark hub: no LISTEN here, so it looks for news instead: ${error.message}`),
    )
  return {
    lock: ' FOR UPDATE',
    now: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
    get tells() {
      return tells
    },
    all: (text, ...values) => run(pool, text, values),
    transaction,
    async tell(topic, text) {
      if (tells) await run(pool, 'SELECT pg_notify(?, ?)', [CHANNEL, `${topic} ${text}`])
      else hear(`${topic} ${text}`)
    },
    hear: (listener) => void listeners.push(listener),
    scrub: async () => {}, // VACUUM is the administrator's
    async close() {
      if (isClosed) return
      isClosed = true
      await Promise.all([ear?.end(), pool.end()])
    },
  }
}
