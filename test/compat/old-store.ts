import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Event } from '../../src/engine/log/events.ts'
import type { Memory } from '../../src/engine/memory.ts'
import { readLine } from '../../src/engine/store/line.ts'
import { packEvent } from '../../src/engine/store/line-parts.ts'
import { LINE, lineText } from '../../src/engine/store/packed.ts'
import { canonical } from '../../src/model/canonical.ts'
import { sha256 } from '../../src/model/digest.ts'
import type { Json } from '../../src/model/field.ts'

/** The last schema of 0.1.0, and what its documents and updates took. */
const SCHEMA = 15
const DOCUMENT = 700

const rawOf = (e: Event) => ({ e: e.entity, ...packEvent(e), c: e.stamp.ctr })

/** Writes a store back into the last form of 0.1.0, in place. Closes the memory. Updates and documents are of the usual size alone. */
export function intoFirstForm(memory: Memory): void {
  const { path } = memory
  memory.close()
  const db = new DatabaseSync(path)
  db.function('line_text', lineText)
  const update = Buffer.alloc(DOCUMENT, 'update').toString('base64').slice(0, DOCUMENT)
  const put = db.prepare('UPDATE log SET line=?, hash=? WHERE n=?')
  const heads = new Map<string, string>()
  db.exec('PRAGMA synchronous=OFF; BEGIN')
  for (const { n, line } of db.prepare(`SELECT n, ${LINE} AS line FROM log ORDER BY n`).all()) {
    const { replica, seq, at, author, events } = readLine(String(line))
    const updates = Object.fromEntries(events.map((e) => [e.entity, update]))
    const said = {
      v: 1,
      r: replica,
      n: seq,
      p: heads.get(replica) ?? '',
      sum: 'as it was',
      at,
      by: author,
      u: updates,
      e: events.map(rawOf),
    }
    const h = sha256(canonical(said as unknown as Json))
    heads.set(replica, h)
    put.run(JSON.stringify({ ...said, h }), h, Number(n))
  }
  db.exec(`
    DROP TABLE gaps; DROP TABLE unproven; DROP TABLE keys; DROP TABLE declined; DROP TABLE folded; DROP TABLE covered;
    DROP VIEW entities_here; DROP VIEW links_here; DROP TABLE held; DROP TABLE endorsed; DROP TABLE asked; DROP TABLE erasers;
    DROP TRIGGER survivors_without_event; DROP TRIGGER survivors_of_changed_event; DROP TABLE survivors;
    CREATE TABLE covered (replica TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, ctr INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE base (entity TEXT PRIMARY KEY, state BLOB NOT NULL, updated INTEGER NOT NULL, counts TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE docs (entity TEXT PRIMARY KEY, state BLOB NOT NULL);
    INSERT INTO docs SELECT id, zeroblob(${DOCUMENT}) FROM entities;
    UPDATE meta SET value='14' WHERE key='oldest_writer';
    DELETE FROM meta WHERE key='packed_n';
    PRAGMA user_version=${SCHEMA};
    COMMIT; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}

/** What the log, the rows and every index of a store say, whatever its form; when something was found is left out. */
export function digestOf(path: string): { version: number; digest: string } {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const hash = createHash('sha256')
    db.function('line_text', lineText)
    const tables = db
      .prepare(
        "SELECT name, sql FROM sqlite_master WHERE type='table' AND name NOT GLOB 'sqlite_*' AND sql NOT GLOB '*VIRTUAL*' AND name NOT GLOB 'text_index*' ORDER BY name",
      )
      .all()
    for (const { name, sql } of tables) {
      hash.update(`${sql}\n`)
      const columns = db
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(String(name))
        .map((c) => String(c.name))
      const told = columns
        .filter((c) => !(name === 'findings' && c === 'at'))
        .map((c) => (c === 'line' ? LINE : `"${c}"`))
      for (const row of db.prepare(`SELECT ${told} FROM "${name}"`).iterate())
        hash.update(JSON.stringify(Object.values(row)))
    }
    return { version: Number(db.prepare('PRAGMA user_version').get()!.user_version), digest: hash.digest('hex') }
  } finally {
    db.close()
  }
}

export interface Opened {
  /** Ended by the kill. */
  readonly killed: boolean
  readonly seconds?: number
  readonly mb?: number
  readonly refused?: string
}

/** Opens a store in a process of its own, and kills that so many ms after it began to. */
export function openElsewhere(
  path: string,
  { killAfter, most }: { killAfter?: number; most?: number } = {},
): Promise<Opened> {
  const script = [process.execPath, join(import.meta.dirname, 'migrate.ts'), path]
  const [command = '', ...args] =
    most === undefined ? script : ['bash', '-c', `ulimit -f ${most}; exec "$@"`, 'bash', ...script]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said === '' && killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter)
    said += text
  })
  return new Promise((resolve) => {
    child.on('close', (_code, signal) => {
      const { 1: done = '' } = said.split('\n')
      resolve({ killed: signal === 'SIGKILL', ...(done === '' ? {} : (JSON.parse(done) as object)) })
    })
  })
}

export interface Kills {
  /** An undisturbed migration. */
  readonly plain: Opened
  readonly killed: number
  /** After how many kills it was the store of before. */
  readonly old: number
}

/** Kills migrations of a store at points that are spread over their time; each leaves the old store or the new one, or this throws. */
export async function killMigrations(store: string, dir: string, kills: number): Promise<Kills> {
  const before = digestOf(store)
  const path = join(dir, 'store.db')
  const fresh = () => {
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    copyFileSync(store, path)
  }
  fresh()
  const plain = await openElsewhere(path)
  const after = digestOf(path)
  let killed = 0
  let old = 0
  for (let i = 0; i < kills; i++) {
    fresh()
    const killAfter = ((i + 0.5) / kills) * plain.seconds! * 1000
    if ((await openElsewhere(path, { killAfter })).killed) killed++
    const now = digestOf(path)
    if (now.version === before.version) old++
    const expected = now.version === before.version ? before : after
    if (now.digest !== expected.digest)
      throw new Error(
        `killed after ${killAfter.toFixed(1)} ms: schema ${now.version}, but neither the old store nor the new one`,
      )
    await openElsewhere(path)
    if (digestOf(path).digest !== after.digest)
      throw new Error(`killed after ${killAfter.toFixed(1)} ms and opened again: not the new store`)
  }
  return { plain, killed, old }
}
