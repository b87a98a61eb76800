import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findProject } from '../../src/engine/store/project.ts'
import type { Joined } from '../../src/engine/store/user-state.ts'
import type { Role } from '../../src/travel/hub/access-tokens.ts'
import { openSqliteStore } from '../../src/travel/hub/sqlite.ts'
import type { HubStore } from '../../src/travel/hub/store.ts'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { holding, says } from '../holding.ts'
import { hubOn, Peer, postgresStore, sqlitePath } from '../hub/harness.ts'
import { findPostgres, type Postgres } from '../hub/postgres.ts'
import { type Clone, decision, git, knowledge, team, travelling } from './clones.ts'

const SECRET = 'quetzal "feather" | 7731 of tenochtitlan'
const BY_TEXT = [['purge', { secret: SECRET, reason: 'leaked' }]]
const BY_REF = [['purge', { ref: 'decision:leak', reason: 'leaked' }]]

let found: Postgres | { missing: string }
beforeAll(async () => {
  found = await findPostgres()
  if ('missing' in found) console.log(`skipped on PostgreSQL: ${found.missing}`)
})
afterAll(() => {
  if (!('missing' in found)) found.stop()
})

/** A hub, and the places in it where the secret stands: files of SQLite, tables of PostgreSQL. */
async function hubWith(which: string) {
  const path = sqlitePath()
  const store: HubStore =
    which === 'SQLite' ? await openSqliteStore(path) : await postgresStore(await (found as Postgres).database())
  const { url, token } = await hubOn(store)
  onTestFinished(() => store.close())
  const tables = ['meta', 'projects', 'log', 'replicas', 'tokens', 'claims', 'audit'].map((t) => `hub_${t}`)
  const inTables = async () => {
    const rows = await Promise.all(tables.map((t) => store.all(`SELECT * FROM ${t}`)))
    return tables.filter((_, i) => rows[i]!.some((row) => Object.values(row).some((v) => says(Buffer.from(String(v)), SECRET)))) // biome-ignore format: one row
  }
  const holds = async () => [...(await inTables()), ...(which === 'SQLite' ? holding(SECRET, dirname(path)) : [])]
  const joined = async (c: Clone, role: Role = 'writer'): Promise<Joined> => ({
    url,
    token: await token(c.name, role, [c.memory.projectId]),
    member: c.name,
  })
  return { holds, joined, url }
}

/** What this machine writes beside its store. */
function tend(c: Clone): void {
  refreshViews(c.memory, findProject(c.dir))
  c.memory.maintain()
}

/** Files of a clone that hold the secret; git's own history is told of, not reached. */
const left = (c: Clone): string[] => holding(SECRET, c.dir).filter((f) => !f.includes('/.git/objects/'))

test('[K15] [N1] [T63] purge writes its own segments anew, and the commands that it prints make a history without it', () => {
  const { clone, hub } = team()
  const ana = clone('ana')
  ana.act([decision('leak', { rationale: `the key is ${SECRET}` }), decision('stays')])
  ana.git('switch', '-qc', 'topic') // that branch has a segment of its own
  ana.publish()
  ana.commit()
  ana.git('push', '-q', 'origin', 'topic')
  ana.git('switch', '-q', 'main')
  ana.git('branch', '-qD', 'topic')
  ana.act([decision('second')])
  ana.share()
  ana.act([decision('later')])
  ana.share()
  const { notes } = ana.act(BY_TEXT, { by: 'person' })
  expect(left(ana)).toEqual([])
  expect(notes.join('\n')).toContain('Exports and commits are not reached')
  ana.commit()
  ana.share()
  const objects = (dir: string) => execFileSync('git', ['-C', dir, 'cat-file', '--batch', '--batch-all-objects'])
  expect([ana.dir, hub].map((dir) => says(objects(dir), SECRET))).toEqual([true, true])
  const commands = notes.join('\n').split('\n').filter((line) => line.startsWith('  ')) // biome-ignore format: one row
  const by = { GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@t', GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@t' }
  for (const command of commands)
    execFileSync('sh', ['-c', command], { cwd: ana.dir, env: { ...process.env, ...by }, stdio: 'ignore' })
  git(hub, 'gc', '-q', '--prune=now') // what its host does
  expect([ana.dir, hub].map((dir) => says(objects(dir), SECRET))).toEqual([false, false])
  const dan = clone('dan')
  dan.receive()
  expect(knowledge(dan)).toBe(knowledge(ana))
  expect(left(dan)).toEqual([])
})

describe.each([
  ['a text', BY_TEXT, false],
  ['an entity', BY_REF, false],
  ['a text that was folded away', BY_TEXT, true],
  ['an entity that was folded away', BY_REF, true],
])('[K15] [N1] [T63] erasing %s', (_what, purge, folded) => {
  test('reaches every clone at its next pull, also one that was offline and had published an edit', () => {
    const { clone } = team()
    const [ana, ben, cid] = [clone('ana'), clone('ben'), clone('cid')]
    ana.act([decision('leak', { rationale: `the key is ${SECRET}` }), decision('stays')])
    ana.share()
    for (const c of [ben, cid]) {
      c.pull()
      c.receive()
      tend(c)
      expect(left(c).length).toBeGreaterThan(3) // store, snapshot, view, segment
    }
    cid.act([decision('leak', { rationale: 'in the vault' })])
    cid.act([decision('of-cid', { rationale: `it was ${SECRET}` })])
    cid.sync()
    cid.commit()
    if (folded) cid.memory.compact(cid.clock.now)
    ana.act(purge, { by: 'person' })
    ana.share()
    expect(left(ana)).toEqual([])
    ben.share()
    expect(left(ben)).toEqual([])
    if (purge === BY_REF) cid.act([['purge', { ref: 'of-cid', reason: 'leaked' }]], { by: 'person' })
    cid.share()
    cid.share()
    if (purge === BY_TEXT) cid.act(purge, { by: 'person' }) // what it alone recorded is for its own person
    cid.share()
    for (const c of [ana, ben, cid]) {
      c.share()
      tend(c)
    }
    for (const c of [ana, ben, cid]) {
      c.share()
      expect(`${c.name}: ${left(c)}`).toBe(`${c.name}: `)
      expect(c.memory.faults()).toEqual([])
    }
    const dan = clone('dan')
    dan.receive()
    tend(dan)
    expect(left(dan)).toEqual([])
    for (const c of [ana, ben, cid]) expect(travelling(c) === travelling(dan)).toBe(true)
  })

  test.each(['SQLite', 'PostgreSQL'])('reaches a hub on %s, and nobody who joins later gets it', async (which) => {
    if (which === 'PostgreSQL' && 'missing' in found) return console.log(`skipped: ${found.missing}`)
    const { clone } = team()
    const [ana, ben, cid] = [clone('ana'), clone('ben'), clone('cid')]
    const { holds, joined, url } = await hubWith(which)
    const tokens = new Map<Clone, Joined>()
    for (const c of [ana, ben, cid]) tokens.set(c, await joined(c))
    const exchange = (c: Clone) => exchangeOnce(c.memory, tokens.get(c)!)
    ana.act([decision('leak', { rationale: `the key is ${SECRET}` }), decision('stays')])
    await exchange(ana)
    for (const c of [ben, cid]) {
      await exchange(c)
      tend(c)
      expect(left(c).length).toBeGreaterThan(2)
    }
    expect(await holds()).toContain('hub_log')
    ana.act(purge, { by: 'person' })
    // said before the erasure arrived there, or here
    cid.act([decision('leak', { rationale: 'in the vault' })])
    await exchange(cid)
    if (folded) cid.memory.compact(cid.clock.now)
    const follower = await Peer.join(url, tokens.get(ben)!.token, ben.memory.projectId)
    await exchange(ana)
    await exchange(ben)
    for (const c of [ana, ben]) expect(`${c.name}: ${left(c)}`).toBe(`${c.name}: `)
    await exchange(cid)
    expect(left(cid)).toEqual([])
    expect(await holds()).toEqual([])
    for (const c of [ana, ben, cid]) await exchange(c)
    await follower.until(() => follower.last >= 4) // the hub still has at hand what it sent
    const late = await Peer.join(url, tokens.get(ben)!.token, ben.memory.projectId)
    await late.until(() => late.last >= follower.last)
    expect(late.texts.filter((t) => says(Buffer.from(t), SECRET))).toEqual([])
    const dan = clone('dan')
    await exchangeOnce(dan.memory, await joined(dan))
    expect(left(dan)).toEqual([])
    for (const c of [ana, ben, cid]) expect(travelling(c) === travelling(dan)).toBe(true)
  })
})
