import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { CLAIM_TTL_MS, SILENT_MS } from '../../src/engine/claims/lease.ts'
import type { Memory } from '../../src/engine/memory.ts'
import { type Restored, restoreStore } from '../../src/engine/replication/restore.ts'
import { snapshots } from '../../src/engine/store/backup.ts'
import { createProject } from '../../src/engine/store/project.ts'
import { allRows } from '../../src/engine/store/rows.ts'
import { openProject } from '../../src/project/open.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { folded, open, Replica, START, seeded, tempDir } from './harness.ts'

const FLIPS = Number(process.env.TIDEMARK_FLIPS ?? 40)
const SEED = Number(process.env.TIDEMARK_SEED ?? 7)

/** A store with all that a store may hold: a snapshot of yesterday, a compaction, an erasure, sessions, a write-ahead log. */
function make(dir: string): Replica {
  const a = new Replica(dir, 'store')
  const say = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      a.now += 60_000
      a.act([
        ['record-fact', { fact: `fact ${i} is about topic ${i % 5}`, category: 'tool' }],
        ['record-principle', { name: 'shared', evidence: [`saw ${i}`], confidence: (i % 10) / 10 }],
      ])
      if (i % 6 === 0) a.act([['record-decision', { name: `choice ${i}`, rationale: `${'because '.repeat(90)}${i}` }]])
      if (i % 18 === 0) a.act([['link-entities', { from: `choice ${i}`, type: 'supports', to: 'shared' }]])
    }
  }
  say(0, 30)
  a.memory.compact(a.now - 15 * 60_000)
  a.act([['purge', { ref: 'fact 25 is about topic 0', reason: 'wrong' }]])
  a.memory.maintain()
  say(30, 40)
  a.pack()
  sessionsOf(a.memory).start({ id: 'one', role: 'reviewer' })
  a.act([['claim', { paths: ['src/**'] }]])
  a.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  say(40, 50)
  return a
}

/** What can be asked of a store, as text. */
function answers(m: Memory): string {
  const search = ['topic', 'because', 'shared', 'choice'].map((q) => m.reader.search(q, 20).map((e) => [e.id]))
  return JSON.stringify({
    rows: allRows(m.db),
    past: folded(m),
    links: m.db.all('SELECT * FROM links ORDER BY id'),
    search,
    history: m.history('principle:shared').map((h) => [h.id, h.event]),
    // presence is no knowledge: nothing is kept that its words could be compared with
    sessions: sessionsOf(m).list({ all: true }).length,
  })
}

type Outcome = 'no harm' | 'made again' | 'restored' | 'restored, the rest named' | 'refused' | 'SILENTLY WRONG'

/** What `doctor` says, and what it advises, until it says nothing any more. */
function heal(path: string, env: Replica['env'], right: string): { outcome: Outcome; why?: string } {
  const reopen = () => open(path, env, false)
  const restore = (): { outcome: Outcome; why?: string } => {
    let done: Restored
    try {
      done = restoreStore(path, env, (p) => open(p, env, false))
    } catch (error) {
      if (error instanceof UserError) return { outcome: 'refused', why: error.message }
      throw error
    }
    const m = reopen()
    try {
      expect(m.faults()).toEqual([])
      if (answers(m) === right) return { outcome: 'restored' }
      const told = done.missing.length > 0 || done.remade.length > 0 || done.unread.length > 0
      return told
        ? { outcome: 'restored, the rest named' }
        : { outcome: 'SILENTLY WRONG', why: firstDifference(answers(m), right) }
    } finally {
      m.close()
    }
  }
  let m: Memory
  try {
    m = reopen()
  } catch (error) {
    if (error instanceof UserError) return restore()
    throw error
  }
  try {
    const lost = m.db.lost !== undefined
    const faults = m.faults()
    if (faults.length === 0 && !lost) {
      const now = answers(m)
      return now === right ? { outcome: 'no harm' } : { outcome: 'SILENTLY WRONG', why: firstDifference(now, right) }
    }
    if (faults.some((f) => f.in === 'log') || lost) {
      m.close()
      return restore()
    }
    m.rebuild()
    if (m.faults().length > 0) throw new Error(`a rebuild did not mend it: ${JSON.stringify(m.faults())}`)
    const now = answers(m)
    return now === right ? { outcome: 'made again' } : { outcome: 'SILENTLY WRONG', why: firstDifference(now, right) }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    m.close()
    return restore()
  } finally {
    m.close()
  }
}

function firstDifference(a: string, b: string): string {
  let i = 0
  while (a[i] === b[i]) i++
  return `${a.slice(Math.max(0, i - 60), i + 60)} instead of ${b.slice(Math.max(0, i - 20), i + 60)}`
}

test(`[T72] [C7] after what doctor advises, no answer of a damaged store is silently wrong (${FLIPS} damages, seed ${SEED})`, {
  tags: ['long'],
  timeout: 60_000 + FLIPS * 10_000,
}, () => {
  const dir = tempDir()
  try {
    const whole = join(dir, 'whole')
    mkdirSync(whole)
    const a = make(whole)
    const right = answers(a.memory)
    expect(a.memory.faults()).toEqual([])
    const crashed = join(dir, 'crashed') // as a killed process leaves it
    copyAll(whole, crashed)
    a.memory.close()
    const random = seeded(SEED)
    const number = (below: number) => new DataView(random(4).buffer).getUint32(0) % below
    const table = new Map<string, Map<Outcome, number>>()
    const wrong: string[] = []
    for (let i = 0; i < FLIPS; i++) {
      const place = join(dir, `damaged-${i}`)
      copyAll(crashed, place)
      const snapshot = readdirSync(join(place, 'backups'))[0]!
      const file = join(place, ['store.db', 'store.db', 'store.db-wal', `backups/${snapshot}`][i % 4]!)
      const bytes = readFileSync(file)
      const page = Math.floor(i / 4) % 4 === 3
      const at = page ? number(Math.floor(bytes.length / 4096)) * 4096 : number(bytes.length)
      if (page) bytes.fill(random(1)[0]!, at, at + 4096)
      else bytes[at]! ^= 1 << number(8)
      writeFileSync(file, bytes)
      const what = `${page ? 'page' : 'bit'} of ${basename(dirname(file)) === 'backups' ? 'a snapshot' : basename(file)}`
      let outcome: Outcome
      let why: string | undefined
      try {
        ;({ outcome, why } = heal(join(place, 'store.db'), { ...a.env, now: () => a.now }, right))
      } catch (error) {
        throw new Error(`damage ${i}, ${what} at ${at}: ${(error as Error).stack}`)
      }
      if (outcome === 'SILENTLY WRONG') wrong.push(`damage ${i}, ${what} at ${at}: ${why}`)
      const counts = table.get(what) ?? table.set(what, new Map()).get(what)!
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      rmSync(place, { recursive: true })
    }
    const lines = [...table].map(
      ([what, counts]) => `  ${what}: ${[...counts].map(([o, n]) => `${n} ${o}`).join(', ')}`,
    )
    process.stderr.write(`[T72] ${FLIPS} damages, seed ${SEED}\n${lines.sort().join('\n')}\n`)
    expect(wrong).toEqual([])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

function copyAll(from: string, to: string): void {
  mkdirSync(join(to, 'backups'), { recursive: true })
  for (const f of readdirSync(from)) if (/^store\.db(-wal)?$/.test(f)) copyFileSync(join(from, f), join(to, f))
  for (const f of readdirSync(join(from, 'backups'))) copyFileSync(join(from, 'backups', f), join(to, 'backups', f))
  // the doorbell names the file it is of
  const bell = join(from, 'store.db.bell')
  if (existsSync(bell)) writeBell(bell, join(to, 'store.db'))
}

function writeBell(bell: string, store: string): void {
  const [, ...rest] = readFileSync(bell, 'latin1').split(' ')
  writeFileSync(`${store}.bell`, [String(inode(store)), ...rest].join(' '))
}

const inode = (path: string): number => statSync(path).ino

const restore = (r: Replica) => restoreStore(r.path, r.env, (p) => open(p, r.env, false))

const within = (body: (dir: string, a: Replica) => void): void => {
  const dir = tempDir()
  const a = new Replica(dir, 'store')
  try {
    body(dir, a)
  } finally {
    a.memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

const manyFacts = (a: Replica, from: number, to: number) => {
  for (let i = from; i < to; i++) a.act([['record-fact', { fact: `fact ${i}`, category: 'tool' }]])
}

const counted = (a: Replica) => a.memory.reader.list('fact').length

test('[T72] a claim that cannot be read is named, keeps nobody from opening the store, and is left out', () => {
  within((_dir, a) => {
    sessionsOf(a.memory).start({ id: 'one' })
    a.act([['claim', { paths: ['src/**'] }]], { session: 'one' })
    a.act([['claim', { paths: ['test/**'] }]], { session: 'one' })
    a.memory.db.exec('UPDATE claims SET body=replace(body, \'"on":"src\', \'"on:"src\')')
    a.memory.close()
    a.memory = open(a.path, a.env, false)
    expect(a.memory.faults()).toEqual([{ in: 'index', text: '1 of claims cannot be read, and will be left out' }])
    a.memory.rebuild()
    expect(a.memory.faults()).toEqual([])
    expect(
      claimsOf(a.memory)
        .held()
        .map((c) => c.on),
    ).toEqual(['test/**'])
  })
})

describe('[T70] a restore that was interrupted loses nothing', () => {
  const states: Record<string, (a: Replica, snapshot: string) => void> = {
    'the database was put aside, its write-ahead log was not': (a) => renameSync(a.path, `${a.path}.damaged-7`),
    'both were put aside': (a) => {
      for (const s of ['', '-wal']) renameSync(a.path + s, `${a.path}.damaged-7${s}`)
    },
    'an older version put both aside, and only its snapshot in their place': (a, snapshot) => {
      for (const s of ['', '-wal']) renameSync(a.path + s, `${a.path}.damaged-7${s}`)
      copyFileSync(snapshot, a.path)
    },
  }
  test.each(Object.entries(states))('%s', (what, interrupt) => {
    within((dir, a) => {
      manyFacts(a, 0, 20)
      a.memory.maintain()
      manyFacts(a, 20, 60)
      a.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      manyFacts(a, 60, 80) // these stand in the write-ahead log alone
      const killed = join(dir, 'killed')
      copyAll(dir, killed)
      a.memory.close()
      const b = Object.assign(Object.create(Replica.prototype), a, { path: join(killed, 'store.db') }) as Replica
      interrupt(b, join(killed, 'backups', readdirSync(join(killed, 'backups'))[0]!))
      if (!what.startsWith('an older')) expect(() => open(b.path, b.env)).toThrow(/gone, but/)
      const done = restore(b)
      expect(done.missing).toEqual([])
      const m = open(b.path, b.env, false)
      expect([m.reader.list('fact').length, m.faults()]).toEqual([80, []])
      m.close()
      expect(restore(b)).toMatchObject({ unchanged: true, missing: [] })
      expect(existsSync(`${b.path}.damaged-7-wal`)).toBe(true)
    })
  })

  test('without a snapshot, and with a file that SQLite does not know, the batches are read off its pages', () => {
    within((_dir, a) => {
      manyFacts(a, 0, 30)
      a.act([['record-decision', { name: 'long', rationale: 'because '.repeat(2000) }]]) // on pages of its own
      a.memory.close()
      const bytes = readFileSync(a.path)
      bytes.fill(0xa5, 0, 4096)
      writeFileSync(a.path, bytes)
      expect(() => open(a.path, a.env, false)).toThrow(/damaged/)
      expect(restore(a)).toMatchObject({ from: null, salvaged: 31, missing: [] })
      a.memory = open(a.path, a.env, false)
      expect([counted(a), a.memory.faults()]).toEqual([30, []])
      expect(String(a.fields('decision:long').rationale)).toHaveLength(16_000)
    })
  })

  test('a damaged line is made again from what it did; one of which nothing is left is named, and hides no later one', () => {
    within((_dir, a) => {
      manyFacts(a, 0, 30)
      a.memory.db.exec("UPDATE log SET line=replace(line, 'fact 9', 'fact X') WHERE seq=10")
      a.memory.db.exec("UPDATE log SET line='' WHERE seq=20; DELETE FROM events WHERE seq=20")
      expect(a.memory.faults().map((f) => f.in)).toEqual(['log', 'log'])
      const replica = a.tag
      a.memory.close()
      const done = restore(a)
      expect(done.remade).toEqual([`${replica}:10`])
      expect(done.missing).toMatchObject([{ replica, from: 20, to: 20, after: START + 18, before: START + 20 }])
      a.memory = open(a.path, a.env, false)
      expect(a.memory.faults()).toEqual([])
      expect(counted(a)).toBe(29)
      expect(a.fields('fact:fact-9').fact).toBe('fact 9')
      expect(a.memory.db.all('SELECT text FROM findings')).toMatchObject([
        { text: expect.stringContaining(`batch ${replica}:20 is missing`) },
      ])
    })
  })

  test('a process that has the old file open is refused, and writes nothing into it', () => {
    within((_dir, a) => {
      manyFacts(a, 0, 5)
      a.memory.db.exec("UPDATE log SET line=replace(line, 'fact 3', 'fact X') WHERE seq=4")
      restore(a)
      expect(() => manyFacts(a, 5, 6)).toThrow(/was replaced or removed/)
      a.memory.maintain()
      expect(existsSync(join(dirname(a.path), 'backups'))).toBe(false)
    })
  })
})

test('[T74] [C6] beside a long reader and a compaction no write is refused, and none waits for the reader', {
  tags: ['long'],
}, async () => {
  const dir = tempDir()
  try {
    const { project } = createProject(dir)
    const memory = openProject(project, { author: { session: 'here' } })
    for (let i = 0; i < 60; i++) memory.act([['record-fact', { fact: `before ${i}`, category: 'tool' }]])
    const reader = new DatabaseSync(project.storePath, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM log').get()
    const child = join(import.meta.dirname, 'torture-child.ts')
    const writers = ['a', 'b'].map((name) => {
      const own = spawn(process.execPath, [child, 'write', dir, name, '80'], { stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      own.stdout.on('data', (d) => (said += d))
      own.stderr.on('data', (d) => (said += d))
      return { said: () => said, started: once(own.stdout, 'data'), ended: once(own, 'close') }
    })
    for (const w of writers) await w.started
    const begun = performance.now()
    for (let i = 0; i < 3; i++) memory.compact(Date.now() - 200)
    // SQLite would have waited a minute for the reader, and kept all writers out
    expect(performance.now() - begun).toBeLessThan(50_000)
    for (const w of writers) {
      expect((await w.ended)[0], w.said()).toBe(0)
      expect(w.said().match(/^ack /gm)?.length).toBe(80)
    }
    reader.close()
    expect(memory.reader.list('fact')).toHaveLength(60 + 160)
    expect(memory.faults()).toEqual([])
    memory.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

describe('[T73] after the clock was ten years ahead', () => {
  const YEARS = 10 * 365 * 86_400_000

  test('snapshots are taken as before, and those of the future go first', () => {
    within((_dir, a) => {
      manyFacts(a, 0, 2)
      a.now += YEARS
      a.memory.maintain()
      const [future] = snapshots(a.path, a.now)
      a.now -= YEARS
      for (let day = 0; day < 4; day++) {
        manyFacts(a, 10 * day, 10 * day + 2)
        a.memory.maintain()
        expect(snapshots(a.path, a.now)[0]!.at).toBe(a.now)
        a.now += 86_400_001
      }
      expect(snapshots(a.path, a.now)).toHaveLength(3)
      expect(existsSync(future!.path)).toBe(false)
    })
  })

  test('no lease runs longer than its time, and nobody is alive for ten years', () => {
    within((_dir, a) => {
      a.now += YEARS
      a.act([['claim', { paths: ['src/**'] }]], { session: 'one' })
      sessionsOf(a.memory).start({ id: 'two' })
      a.now -= YEARS
      a.crash() // the next process
      const claim = () => a.act([['claim', { paths: ['src/a.ts'] }]], { session: 'other' })
      expect(claim).toThrow(/claimed by/)
      expect(a.memory.db.get<{ until: number }>('SELECT until FROM claims')!.until).toBeLessThanOrEqual(
        a.now + CLAIM_TTL_MS,
      )
      a.now += SILENT_MS + CLAIM_TTL_MS
      expect(claim().results).toHaveLength(1)
      expect(sessionsOf(a.memory).get('two')!.state).toBe('crashed')
    })
  })
})

test('[T73] a store that was copied elsewhere without its newest batches names them, and writes under another identity', () => {
  const dir = tempDir()
  try {
    const a = new Replica(dir, 'a')
    a.act([['record-decision', { name: 'kept', rationale: 'r' }]])
    a.memory.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    a.act([['record-decision', { name: 'lost', rationale: 'r' }]])
    const last = a.act([['record-decision', { name: 'lost too', rationale: 'r' }]]).batch!
    // all files but the write-ahead log
    for (const suffix of ['', '.bell', '.owner'])
      if (existsSync(a.path + suffix)) copyFileSync(a.path + suffix, join(dir, `copy.db${suffix}`))
    const told: string[] = []
    const copy = open(join(dir, 'copy.db'), { ...a.env, log: (line) => void told.push(line) })
    const first = `${a.tag}:2`
    expect(told.join()).toContain(`batches ${first} to ${last} were acknowledged and are not in the store`)
    expect(copy.act([['record-decision', { name: 'next', rationale: 'r' }]]).batch!.split(':')[0]).not.toBe(a.tag)
    copy.close()
    // a whole copy has lost nothing
    a.memory.close()
    for (const suffix of ['', '.bell', '.owner'])
      if (existsSync(a.path + suffix)) copyFileSync(a.path + suffix, join(dir, `whole.db${suffix}`))
    told.length = 0
    open(join(dir, 'whole.db'), { ...a.env, log: (line) => void told.push(line) }).close()
    expect(told).toEqual([])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
