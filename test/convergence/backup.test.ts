import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { restoreStore } from '../../src/engine/replication/restore.ts'
import { snapshots } from '../../src/engine/store/backup.ts'
import { createStore } from '../../src/engine/store/open-db.ts'
import { salvage } from '../../src/engine/store/salvage.ts'
import { dump, exchange, open, Replica, START, send, tempDir } from './harness.ts'

const DAY = 86_400_000

function inDir<T>(body: (dir: string) => T): T {
  const dir = tempDir()
  try {
    return body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const fact = (n: number) => [['record-fact', { fact: `fact ${n} ${'x'.repeat(200)}` }]]

const restore = (r: Replica) => restoreStore(r.path, r.env, (path) => open(path, r.env))

const facts = (r: Replica) => r.memory.reader.list('fact').length

/** What opening says. */
function refusal(path: string, now = START): UserError {
  try {
    open(path, { now: () => now, random: (n) => new Uint8Array(n), log: () => {} }).close()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error(`${path} was opened`)
}

const bytesOf = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir)
      .filter((f) => statSync(join(dir, f)).isFile() && !f.endsWith('-shm') && !f.endsWith('.bell'))
      .map((f) => [f, readFileSync(join(dir, f)).toString('base64')]),
  )

describe('[C7] snapshots', () => {
  test('are taken once a day when something was written, three are kept', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      for (let day = 0; day < 6; day++) {
        a.act(fact(day))
        a.memory.maintain()
        a.memory.maintain()
        a.now += DAY / 2
        a.memory.maintain()
        a.now += DAY / 2 + 1
      }
      const kept = snapshots(a.path, a.now)
      expect(kept.length).toBe(3)
      for (const s of kept) {
        const snapshot = open(s.path, a.env)
        expect(snapshot.faults()).toEqual([])
        snapshot.close()
      }
      expect(kept[0]!.at - kept[1]!.at).toBeGreaterThanOrEqual(DAY)
      expect(readdirSync(join(dir, 'backups')).filter((f) => f.includes('partial'))).toEqual([])
      a.memory.close()
    })
  })

  test('one is brought back: the damaged files are kept, and what it lacks comes back from another replica', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      const b = new Replica(dir, 'b', 2)
      a.act(fact(1))
      a.memory.maintain()
      a.now += 1000
      a.act(fact(2))
      send(a, b)
      a.act(fact(3))
      a.memory.close()
      writeFileSync(a.path, Buffer.alloc(40_000, 7))
      rmSync(`${a.path}-wal`, { force: true })
      expect(refusal(a.path).code).toBe('store-damaged')
      const restored = restore(a)
      expect(restored.kept.every((f) => existsSync(f))).toBe(true)
      a.memory = open(a.path, a.env)
      expect(facts(a)).toBe(1)
      // the same moment again, by another process: an identity of its own, nothing of the old one is overwritten
      a.act(fact(4))
      exchange(a, b)
      expect(facts(a)).toBe(3)
      expect(dump(a.memory)).toEqual(dump(b.memory))
      a.memory.close()
      b.memory.close()
    })
  })

  test('lines that a damaged store still shows can be read out', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      for (let i = 0; i < 50; i++) a.act(fact(i))
      a.memory.close()
      const whole = salvage(a.path).length
      expect(whole).toBe(50)
      truncateSync(a.path, Math.floor(statSync(a.path).size * 0.9))
      expect(() => salvage(a.path)).not.toThrow()
      truncateSync(a.path, 100)
      expect(salvage(a.path)).toEqual([])
    })
  })

  test('a damaged snapshot is passed over for the one before it; with none the caller is told', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act(fact(1))
      a.memory.maintain()
      a.now += DAY + 1
      a.act(fact(2))
      a.memory.maintain()
      a.memory.close()
      const [newest, older] = snapshots(a.path, a.now)
      truncateSync(newest!.path, 5000)
      rmSync(a.path)
      expect(restore(a).from).toBe(older!.path)
      truncateSync(older!.path, 0)
      for (const f of readdirSync(dir)) if (f.startsWith('a.db')) truncateSync(join(dir, f), 0)
      expect(() => restore(a)).toThrow(UserError)
      expect(existsSync(a.path)).toBe(true)
    })
  })
})

describe('[C7] a damaged store is refused, and left as it is', () => {
  const damages: Record<string, (path: string) => void> = {
    'cut to nothing': (p) => truncateSync(p, 0),
    'cut to a half': (p) => truncateSync(p, Math.floor(statSync(p).size / 2 / 4096) * 4096),
    'cut in the middle of a page': (p) => truncateSync(p, Math.floor(statSync(p).size / 2) + 77),
    'a header of garbage': (p) => {
      const b = readFileSync(p)
      b.fill(0xa5, 0, 100)
      writeFileSync(p, b)
    },
    'a first page of zeros': (p) => {
      const b = readFileSync(p)
      b.fill(0, 0, 4096)
      writeFileSync(p, b)
    },
    'all garbage': (p) => writeFileSync(p, Buffer.alloc(statSync(p).size, 'garbage')),
    'a text file': (p) => writeFileSync(p, 'hello\n'),
    'another database': (p) => {
      rmSync(p)

      const db = new DatabaseSync(p)
      db.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1); PRAGMA user_version=1')
      db.close()
    },
  }

  test.each(Object.entries(damages))('%s', (_, damage) => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      for (let i = 0; i < 50; i++) a.act(fact(i))
      a.memory.close()
      damage(a.path)
      const before = bytesOf(dir)
      const error = use(a.path)
      expect(error?.code).toBe('store-damaged')
      expect(error?.hint).toMatch(/doctor --restore/)
      expect(bytesOf(dir)).toEqual(before)
    })
  })

  /** Opens it, reads everything and writes: the first thing that says no. */
  function use(path: string, wrote = { any: false }): UserError | undefined {
    try {
      const m = open(path, { now: () => START, random: (n) => new Uint8Array(n).fill(9), log: () => {} })
      try {
        m.reader.list('fact')
        m.reader.search('fact', 100)
        m.asOf(START + DAY).list('fact')
        m.rebuild()
        wrote.any = true
        m.act(fact(999))
      } finally {
        m.close()
      }
    } catch (error) {
      if (error instanceof UserError) return error
      throw error
    }
    return undefined
  }

  test('garbage in any page in the middle: refused when it is met, never answered wrongly, never re-made', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      for (let i = 0; i < 80; i++) a.act(fact(i))
      a.memory.close()
      const good = readFileSync(a.path)
      const pages = good.length / 4096
      let refused = 0
      for (let page = 1; page < pages; page += 3) {
        const bad = Buffer.from(good)
        bad.fill(0xff, page * 4096, (page + 1) * 4096)
        writeFileSync(a.path, bad)
        for (const f of ['-wal', '-shm', '.bell']) rmSync(a.path + f, { force: true })
        const wrote = { any: false }
        const error = use(a.path, wrote)
        if (error) {
          refused++
          expect(['store-damaged', 'line-damaged']).toContain(error.code)
          if (!wrote.any) expect(readFileSync(a.path).equals(bad)).toBe(true)
        }
      }
      // pages that nothing reads any more, or that a rebuild makes again, do no harm
      expect(refused).toBeGreaterThan(pages / 12)
    })
  })

  test('a bit turned over in a line of the log is noticed when the line is used', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act([['record-fact', { fact: 'the needle in the hay' }]])
      a.memory.db.run("UPDATE log SET line=replace(line, 'needle', 'noodle')")
      expect(() => a.memory.rebuild()).toThrow(/damaged/)
      expect(a.memory.reader.list('fact').map((e) => e.name)).toEqual(['the needle in the hay'])
      a.memory.close()
    })
  })

  test('gone, with its snapshots or its write-ahead log still there', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act(fact(1))
      a.memory.maintain()
      a.memory.close()
      rmSync(a.path)
      expect(refusal(a.path).code).toBe('store-missing')
      expect(existsSync(a.path)).toBe(false)
      rmSync(join(dir, 'backups'), { recursive: true })
      writeFileSync(`${a.path}-wal`, 'left behind')
      expect(refusal(a.path).code).toBe('store-missing')
    })
  })

  test('[A8] a store that another process made between the look and the making is taken, write-ahead log and all', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act(fact(1))
      expect(existsSync(`${a.path}-wal`)).toBe(true)
      createStore(a.path) // what a process does that had looked a moment before
      expect(a.memory.reader.list('fact').map((e) => e.name)).toHaveLength(1)
      a.memory.close()
    })
  })

  test('without its write-ahead log it opens with what was checkpointed', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      for (let i = 0; i < 5; i++) a.act(fact(i))
      a.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      a.act(fact(6))
      const crashed = join(dir, 'crashed.db')
      copyFileSync(a.path, crashed)
      const c = new Replica(dir, 'crashed', 3)
      expect(facts(c)).toBe(5)
      c.memory.close()
      a.memory.close()
    })
  })

  test('written by a newer version: refused with what to do, and left as it is', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act(fact(1))
      a.memory.db.raw.exec("PRAGMA user_version=999; INSERT OR REPLACE INTO meta VALUES ('oldest_writer', '999')")
      a.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      // a process that had it open stops writing as well
      expect(() => a.act(fact(2))).toThrow(/newer Tidemark/)
      a.memory.close()
      const before = bytesOf(dir)
      const error = refusal(a.path)
      expect(error.code).toBe('store-newer')
      expect(error.hint).toMatch(/newer version/)
      expect(bytesOf(dir)).toEqual(before)
    })
  })

  test('a newer one that says old code may write is used', () => {
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act(fact(1))
      a.memory.db.raw.exec("PRAGMA user_version=999; INSERT OR REPLACE INTO meta VALUES ('oldest_writer', '1')")
      a.memory.close()
      a.memory = open(a.path, a.env)
      a.act(fact(2))
      expect(facts(a)).toBe(2)
      expect(a.memory.db.get('PRAGMA user_version')).toEqual({ user_version: 999 })
      a.memory.close()
    })
  })

  // root may write where nobody may: the child gives up its rights first
  test('a file or a directory that may not be written is told of', (context) => {
    inDir((dir) => {
      chmodSync(dir, 0o755)
      const root = process.getuid?.() === 0
      for (const what of ['file', 'directory'] as const) {
        const place = join(dir, what)
        mkdirSync(place)
        const a = new Replica(place, 'a')
        a.act(fact(1))
        a.memory.close()
        for (const f of readdirSync(place)) chmodSync(join(place, f), what === 'file' ? 0o444 : 0o644)
        chmodSync(place, what === 'file' ? 0o755 : 0o555)
        const state = join(place, 'state') // of the user who runs the child: the store is to be his
        mkdirSync(state)
        rmSync(`${a.path}.owner`)
        if (root) for (const f of [place, ...readdirSync(place).map((f) => join(place, f))]) chownSync(f, 65534, 65534)
        const script = `
          ${root ? 'process.setgid(65534); process.setuid(65534);' : ''}
          const { open } = await import(${JSON.stringify(join(import.meta.dirname, 'harness.ts'))})
          try {
            const m = open(${JSON.stringify(a.path)}, { now: () => ${START}, random: (n) => new Uint8Array(n), log() {} })
            m.act(${JSON.stringify(fact(2))})
            console.log('written')
          } catch (error) { console.log(JSON.stringify({ name: error.name, code: error.code, hint: error.hint, message: error.message })) }`
        const env = { ...process.env, TIDEMARK_STATE: state }
        const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env })
        if (/EACCES|ERR_MODULE_NOT_FOUND/.test(child.stderr)) {
          context.skip('the sources are not readable for the user nobody, and root may write everywhere')
          return
        }
        const said = JSON.parse(child.stdout) as { name: string; code: string; hint: string }
        expect(said, child.stderr).toMatchObject({ name: 'UserError' })
        expect(['store-read-only', 'store-unreadable']).toContain(said.code)
        expect(said.hint).toMatch(/permissions|read and write/)
        chmodSync(place, 0o755)
      }
    })
  })

  test('a directory in its place, and a path through a file', () => {
    inDir((dir) => {
      const path = join(dir, 'store.db')
      mkdirSync(path)
      expect(refusal(path).code).toMatch(/^store-/)
      writeFileSync(join(dir, 'file'), 'x')
      expect(refusal(join(dir, 'file', 'store.db')).code).toMatch(/^store-/)
      expect(dirname(path)).toBe(dir)
    })
  })
})
