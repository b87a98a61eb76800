import type { Env } from '../env.ts'
import { UserError } from '../errors.ts'
import { type HubStore, type Query, schema, type Value } from './store.ts'

const CHANNEL = 'tidemark_hub'
const CONNECTIONS = 8

/** Statements have `?` for values; PostgreSQL counts them. None of ours has a question mark in a text. */
const numbered = new Map<string, string>()
function withNumbers(sql: string): string {
  let text = numbered.get(sql)
  if (text === undefined) {
    let n = 0
    text = sql.replace(/\?/g, () => `$${++n}`)
    if (numbered.size < 500) numbered.set(sql, text)
  }
  return text
}

/** The hub's database in PostgreSQL, shared by any number of hub processes. */
export async function openPostgresStore(url: string, env: Env, options: { listen?: boolean } = {}): Promise<HubStore> {
  const postgres = await import('postgres').then(
    (m) => m.default,
    () => {
      throw new UserError(
        'no-postgres',
        'the package `postgres` is not installed',
        'run `npm install postgres` beside tidemark',
      )
    },
  )
  const sql = postgres(url, {
    max: CONNECTIONS,
    onnotice: () => {},
    connect_timeout: 10,
    // what is acknowledged is on the disk, whatever the server's own setting is
    connection: { application_name: 'tidemark-hub', synchronous_commit: 'on' },
    types: { bigint: { to: 20, from: [20, 1700], serialize: String, parse: Number } },
  })
  type Runner = Pick<typeof sql, 'unsafe'>
  const run = async <T>(on: Runner, text: string, values: readonly Value[]): Promise<T[]> =>
    (await on.unsafe(withNumbers(text), [...values], { prepare: true })) as unknown as T[]

  const listeners: ((topic: string, text: string) => void)[] = []
  const hear = (payload: string) => {
    const at = payload.indexOf(' ')
    for (const listener of listeners) listener(payload.slice(0, at), payload.slice(at + 1))
  }
  let tells = false
  try {
    // several processes that start at once would make the same tables
    await sql.begin(async (tx) => {
      await tx.unsafe('SELECT pg_advisory_xact_lock(7446518)')
      const [there] = await tx.unsafe("SELECT to_regclass('hub_audit_at') AS made")
      if (there?.made == null) for (const statement of schema(true)) await tx.unsafe(statement)
    })
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw new UserError(
      'no-postgres',
      `the database cannot be used: ${(error as Error).message}`,
      'check the address, and that the user may create tables there',
    )
  }
  if (options.listen !== false)
    try {
      await sql.listen(CHANNEL, hear, () => {
        tells = true
        hear('again ') // what was told while the connection was away was missed
      })
    } catch (error) {
      env.log(`tidemark hub: no LISTEN here, so it looks for news instead: ${(error as Error).message}`)
    }
  return {
    lock: ' FOR UPDATE',
    get tells() {
      return tells
    },
    all: (text, ...values) => run(sql, text, values),
    transaction: <T>(body: (q: Query) => Promise<T>) =>
      sql.begin((tx) => body({ all: (text, ...values) => run(tx, text, values) })) as Promise<T>,
    async tell(topic, text) {
      if (tells) await run(sql, 'SELECT pg_notify(?, ?)', [CHANNEL, `${topic} ${text}`])
      else hear(`${topic} ${text}`)
    },
    hear: (listener) => void listeners.push(listener),
    scrub: async () => {}, // VACUUM is the administrator's
    close: () => sql.end({ timeout: 5 }),
  }
}
