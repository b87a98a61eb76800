import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { entity } from '../../bench/knowledge.ts'
import { systemEnv } from '../../src/base/env.ts'
import { SCHEMA_VERSION } from '../../src/engine/store/migrations.ts'
import { open, tempDir } from '../convergence/harness.ts'
import { noMount, testUnless } from '../needs.ts'
import { runs } from '../runs.ts'
import { digestOf, intoFirstForm, killMigrations, openElsewhere } from './old-store.ts'

/** So many entities: what takes long, by `npm run test:long` alone. */
const MANY = runs(500, 10_000)
/** Of each size; `npm run bench -- migration` kills more. */
const KILLS = 6

let top: string
beforeAll(() => {
  top = tempDir()
})
afterAll(() => rmSync(top, { recursive: true, force: true }))

/** A store of 0.1.0 with so many entities. */
function oldStore(entities: number): string {
  const path = join(top, `old-${entities}.db`)
  if (existsSync(path)) return path
  const memory = open(path, systemEnv)
  memory.db.exec('PRAGMA synchronous=OFF')
  for (let i = 0; i < entities; i += 10) memory.act(Array.from({ length: 10 }, (_, j) => entity(i + j)))
  intoFirstForm(memory)
  return path
}

function copyOf(entities: number): string {
  const dir = tempDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  copyFileSync(oldStore(entities), join(dir, 'store.db'))
  return join(dir, 'store.db')
}

const backups = (path: string) => readdirSync(join(dirname(path), 'backups'))

describe('[C5] a store of 0.1.0', () => {
  test('says after its migration what it said before, and its log says the same', { tags: ['property'] }, () => {
    const path = copyOf(MANY)
    const memory = open(path, systemEnv)
    expect(memory.faults()).toEqual([])
    expect(memory.db.all('SELECT * FROM findings')).toEqual([])
    expect(memory.reader.counts().reduce((sum, { n }) => sum + n, 0)).toBe(MANY)
    memory.close()
  })

  test.each([10, 10_000])(
    '[A8] with %i entities is the old one or the new one wherever its migration is killed',
    { tags: ['long'] },
    async (entities) => {
      const { killed, old } = await killMigrations(oldStore(entities), join(top, 'killed'), KILLS)
      process.stderr.write(
        `[C5] ${entities} entities: ${killed} of ${KILLS} ended by the kill, ${old} left the old store\n`,
      )
      expect(killed).toBeGreaterThan(0)
    },
  )

  test('is migrated once by two processes that open it at once', { tags: ['property'] }, async () => {
    const path = copyOf(MANY)
    const alone = copyOf(MANY)
    await openElsewhere(alone)
    const both = await Promise.all([openElsewhere(path), openElsewhere(path)])
    expect(both).toEqual([
      { killed: false, seconds: expect.any(Number), mb: expect.any(Number) },
      { killed: false, seconds: expect.any(Number), mb: expect.any(Number) },
    ])
    expect(digestOf(path)).toEqual(digestOf(alone))
    expect(backups(path).filter((f) => !/^store-\d+\.db$/.test(f))).toEqual([])
  })

  testUnless(noMount())(
    'stays the old one on a full disk, with nothing left beside it, and is migrated once there is room',
    { tags: ['long'] },
    async () => {
      const path = copyOf(10_000)
      const before = digestOf(path)
      const [mb, dir] = [Math.ceil(statSync(path).size / 2 ** 20), join(dirname(path), 'small')]
      // there is room for the store and: half of a snapshot; the snapshot and some of the transaction
      for (const room of [mb * 1.5, mb * 2 + 4]) {
        mkdirSync(dir, { recursive: true })
        const inSmall = `mount -t tmpfs -o mode=700,size=${Math.round(room)}m none "$2" && cp "$1" "$2" && "$3" "$4" "$2/store.db"
        find "$2/backups" -name '*partial*' && cp "$2"/store.db* "$2/.."`
        const args = [path, dir, process.execPath, join(import.meta.dirname, 'migrate.ts')]
        const ran = spawnSync('unshare', ['-rm', 'bash', '-c', inSmall, 'bash', ...args], { encoding: 'utf8' })
        expect(ran.stdout.split('\n')).toEqual(['ready', '{"refused":"disk-full"}'])
        expect(digestOf(path)).toEqual(before)
      }
      expect(await openElsewhere(path)).toMatchObject({ killed: false })
      expect(digestOf(path).version).toBe(SCHEMA_VERSION)
    },
  )
})
