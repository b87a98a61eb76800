import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { waitingChanges } from '../../src/engine/replication/waiting.ts'
import { snapshots } from '../../src/engine/store/backup.ts'
import { parseLine, printSigned, seal } from '../../src/engine/store/line.ts'
import * as log from '../../src/engine/store/log.ts'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { keepHub } from '../../src/engine/store/user-state.ts'
import { openProject } from '../../src/project/open.ts'
import type { Check } from '../../src/session/hooks/doctor-line.ts'
import { checkMemory } from '../../src/surfaces/cli/doctor-checks.ts'
import { settleDropped } from '../../src/travel/sync/dropped.ts'
import { HubExchange } from '../../src/travel/sync/hub-exchange.ts'
import { receiveAgain } from '../../src/travel/sync/receive.ts'
import { type ProjectRestored, receiveCommitted, restoreProject } from '../../src/travel/sync/restore.ts'
import { hubOn, sqliteStore } from '../hub/harness.ts'
import { type Clone, decision, elsewhere, knowledge, team, travelling } from './clones.ts'

/** What `tidemark doctor --restore` does. */
async function restore(c: Clone): Promise<ProjectRestored> {
  c.memory.close()
  const project = findProject(c.dir)
  const open = (path: string) =>
    openProject({ ...project, storePath: path }, { env: c.env, author: { user: c.name }, unlisted: true, isOurs: true })
  const done = await restoreProject(project, c.env, open)
  c.reopen()
  expect(c.memory.faults()).toEqual([])
  return done
}

/** What `tidemark sync` does. */
async function sync(c: Clone) {
  const received = receiveAgain(c.memory, c.dir)
  received.back += await receiveCommitted(c.memory, c.dir, log.missingLines(c.memory.db))
  await settleDropped(c.memory, c.dir)
  return { ...received, ...c.publish() }
}

/** What `tidemark doctor` marks with FIX. */
async function wrongIn(c: Clone): Promise<string[]> {
  const checks: Check[] = []
  await checkMemory(c.memory, findProject(c.dir), (check) => checks.push(check))
  return checks.filter((check) => check.state === 'wrong').map((check) => check.text)
}

/** Changes the store's file as a bad disk does. */
function damage(c: Clone, ...statements: string[]): void {
  const { path } = c.memory
  c.memory.close()
  const db = new DatabaseSync(path)
  for (const sql of statements) db.exec(sql)
  db.close()
}

/** Puts an older file in the place of the store, or garbage. */
function replaceStore(c: Clone, bytes: Buffer): void {
  const { path } = c.memory
  c.memory.close()
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  writeFileSync(path, bytes)
}
/** Removes what earlier restores put aside. */
function forgetCopies({ memory: { path } }: Clone): void {
  for (const f of readdirSync(dirname(path))) if (f.includes('.damaged-')) rmSync(join(dirname(path), f))
}
const GARBAGE = Buffer.alloc(40_000, 7)

const observation = (what: string) => ['record-observation', { what }]
const tagOf = (c: Clone) => ownIdentities(c.memory.db).at(-1)!.replica
const has = (c: Clone, name: string) => c.memory.reader.byName(name).length > 0
const of = (c: Clone, id: string) => c.memory.reader.entity(id)

/** Two people, each on a machine of their own, who have shared everything. */
function met() {
  const { clone } = team()
  const ana = clone('ana')
  ana.act([decision('one')])
  ana.act([decision('two', { tags: ['a'] }), observation('stays here')])
  ana.act([decision('three'), decision('two', { tags: ['b'] })])
  ana.share()
  const ben = clone('ben')
  elsewhere(ben, () => {
    ben.receive()
    ben.act([decision('of ben'), decision('two', { tags: ['c'] })])
    ben.share()
  })
  ana.pull()
  ana.receive()
  return { ana, ben, tag: tagOf(ana) }
}

/** Reads what others have pushed, on a machine of its own. */
function pullTo(c: Clone): void {
  elsewhere(c, () => {
    c.pull()
    c.receive()
  })
}

const ROWS_OF_TWO = (column: string) => `${column}=replace(${column}, '"two"', '"tvo"')`

test('[Y4] a batch that is zeros in the store comes back from its segment, signed and in its place; own ones and those of others', async () => {
  for (const place of ['seq=3', 'seq=1']) {
    const { ana } = met()
    const before = knowledge(ana)
    const lines = () => ana.memory.db.all('SELECT n, replica, seq, hash FROM log ORDER BY n')
    const order = lines()
    damage(ana, `UPDATE log SET line=zeroblob(length(line)) WHERE ${place}`, `DELETE FROM events WHERE ${place}`)
    const done = await restore(ana)
    expect(done).toMatchObject({ remade: [], missing: [], parts: [] })
    expect(done.shared).toBe(place === 'seq=3' ? 1 : 2)
    expect(knowledge(ana)).toBe(before)
    expect(lines()).toEqual(order)
    expect(await wrongIn(ana)).toEqual([])
    expect((await sync(ana)).lines).toEqual([])
  }
})

test('[Y4] a text that one bit changed everywhere in the store is restored as it was signed, not as it is found', async () => {
  const { ana } = met()
  const before = knowledge(ana)
  damage(ana, ...['log SET line', 'events SET body', 'entities SET body'].map((of) => `UPDATE ${of}=replace(${of.split(' ')[2]}, 'three', 'thref')`)) // biome-ignore format: one thought
  expect(await restore(ana)).toMatchObject({ remade: [], missing: [] })
  expect(knowledge(ana)).toBe(before)
  expect(await wrongIn(ana)).toEqual([])
})

test('[Y4] of a batch that others have in part, what stays here comes from its events; if they are gone too, that is said', async () => {
  const { ana, tag } = met()
  const before = knowledge(ana)
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2')
  expect(await restore(ana)).toMatchObject({ remade: [], missing: [], parts: [] })
  expect(knowledge(ana)).toBe(before)
  // the text that travels is that of the segment, whatever the events say
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2', `UPDATE events SET ${ROWS_OF_TWO('body')}`)
  await restore(ana)
  expect(knowledge(ana)).toBe(before)
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2', 'DELETE FROM events WHERE seq=2')
  forgetCopies(ana)
  expect(await restore(ana)).toMatchObject({ remade: [], missing: [], parts: [`${tag}:2`] })
  expect(ana.memory.reader.list('observation')).toEqual([])
  expect(of(ana, 'decision:two')?.fields.tags).toEqual(['a', 'b', 'c'])
})

test('[Y4] rows that are gone come back with the next sync, and the message ends', async () => {
  const { ana, tag } = met()
  const before = knowledge(ana)
  damage(ana, 'DELETE FROM log WHERE seq IN (1,3)', 'DELETE FROM events WHERE seq IN (1,3)')
  ana.reopen()
  expect(await wrongIn(ana)).toContainEqual(expect.stringContaining(`batch ${tag}:1 is missing`))
  expect(await wrongIn(ana)).toContainEqual(expect.stringContaining('the store has lost 3 batches'))
  expect(await sync(ana)).toMatchObject({ applied: 3, back: 2, lines: [] })
  ana.memory.rebuild()
  expect(knowledge(ana)).toBe(before)
  expect(await wrongIn(ana)).toEqual([])
  expect(await sync(ana)).toMatchObject({ applied: 0, back: 0 })
})

test('[Y4] an older file in the place of the store: what it lacks comes back as one’s own, nothing is said to be wrong, and work goes on', async () => {
  for (const keepsInode of [true, false]) {
    const { ana, ben } = met()
    ana.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const old = readFileSync(ana.memory.path)
    ana.act([['record-fact', { fact: 'we use pnpm', category: 'tool' }]])
    ana.act([decision('five')])
    ana.share()
    const before = travelling(ana)
    const inode = ana.memory.path
    if (!keepsInode) {
      ana.memory.close()
      rmSync(inode)
    }
    replaceStore(ana, old)
    ana.reopen()
    expect(has(ana, 'five')).toBe(false)
    expect(await sync(ana)).toMatchObject({ applied: 2, back: 2, lines: [] })
    expect(travelling(ana)).toBe(before)
    expect(vouchedFor(ana.memory, ['decision:five', 'fact:we-use-pnpm'])).toHaveLength(2)
    expect(await wrongIn(ana)).toEqual([])
    ana.act([decision('five', { tags: ['again'] })])
    ana.share()
    pullTo(ben)
    expect(travelling(ben)).toBe(travelling(ana))
    expect(await wrongIn(ana)).toEqual([])
    expect((await wrongIn(ben)).filter((text) => text.includes('two stores'))).toEqual([])
  }
})

test('[Y4] garbage, and a snapshot from before: all that git has comes back, own words as own, and nothing is called missing', async () => {
  const { ana, ben } = met()
  ana.memory.maintain()
  ana.act([decision('four')])
  ana.act([observation('here alone')])
  ana.act([decision('five')])
  ana.share()
  pullTo(ben)
  elsewhere(ben, () => {
    ben.act([decision('four', { tags: ['of ben'] })])
    ben.share()
  })
  ana.pull() // and has not read it yet
  const { tag } = { tag: tagOf(ana) }
  replaceStore(ana, GARBAGE)
  const done = await restore(ana)
  expect(done.missing).toMatchObject([{ replica: tag, from: 5, to: 5 }]) // it never left
  expect(done).toMatchObject({ shared: 3, remade: [], parts: [] })
  for (const name of ['one', 'of ben', 'four', 'five']) expect(has(ana, name)).toBe(true)
  expect(vouchedFor(ana.memory, ['decision:five', 'decision:three'])).toHaveLength(2)
  expect(await wrongIn(ana)).toEqual([expect.stringContaining(`batch ${tag}:5 is missing`)])
  ana.act([decision('five', { tags: ['again'] })])
  ana.share()
  pullTo(ben)
  expect(travelling(ben)).toBe(travelling(ana))
})

test('[Y4] a store that is gone, with all its copies: git has the knowledge, and the key tells whose it was', async () => {
  const { ana, ben } = met()
  ana.act([['record-fact', { fact: 'we use pnpm', category: 'tool' }]])
  ana.share()
  const before = travelling(ana)
  for (const left of ['nothing', 'garbage']) {
    if (left === 'garbage') replaceStore(ana, GARBAGE)
    ana.memory.close()
    const dir = dirname(ana.memory.path)
    for (const f of readdirSync(dir))
      if (!/^store\.db(\.owner)?$/.test(f) || left === 'nothing') rmSync(join(dir, f), { recursive: true })
    await restore(ana)
    expect(travelling(ana)).toBe(before)
    expect(vouchedFor(ana.memory, ['fact:we-use-pnpm', 'decision:of-ben'])).toEqual(new Set(['fact:we-use-pnpm']))
    expect(await wrongIn(ana)).toEqual([])
  }
  ana.act([decision('later')])
  ana.share()
  pullTo(ben)
  expect(travelling(ben)).toBe(travelling(ana))
})

test.each(['restore', 'sync'])('[Y4] [T112] a yes outlives the store that it was given in (%s)', async (way) => {
  const { ana, ben } = met()
  elsewhere(ben, () => {
    ben.pull()
    ben.receive()
    ben.act([['record-decision', { name: 'one', rationale: 'so says Ben' }]])
    ben.share()
  })
  ana.pull()
  ana.receive()
  expect(waitingChanges(ana.memory.db).all).toHaveLength(1)
  ana.act([['confirm', { ref: 'decision:one' }]], { by: 'person' })
  ana.share()
  ana.memory.close()
  rmSync(dirname(ana.memory.path), { recursive: true })
  if (way === 'restore') await restore(ana)
  else {
    ana.reopen()
    await sync(ana)
  }
  expect(waitingChanges(ana.memory.db).all).toEqual([])
  expect(of(ana, 'decision:one')!.fields.rationale).toBe('so says Ben')
  expect(vouchedFor(ana.memory, ['decision:one'])).toEqual(new Set(['decision:one']))
  // what comes later is asked of
  elsewhere(ben, () => {
    ben.pull()
    ben.receive()
    ben.act([['record-decision', { name: 'one', rationale: 'Ben again' }]])
    ben.share()
  })
  ana.pull()
  ana.receive()
  expect(waitingChanges(ana.memory.db).all).toHaveLength(1)
})

test('[Y4] what a restore made again and never left is said again, so that others get it and all after it', async () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('one', { tags: ['a', 'b'] }), observation('stays here')])
  ana.act([decision('one', { tags: { remove: ['b'] } })])
  ana.act([observation('here alone')])
  ana.act([decision('two')])
  const before = travelling(ana)
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq IN (1,3)')
  expect((await restore(ana)).remade).toHaveLength(2)
  const { lines } = await sync(ana)
  expect(lines).toHaveLength(3)
  for (const segment of ana.segments)
    for (const text of ana.text(segment).trimEnd().split('\n')) {
      expect(text).not.toContain('"sub"')
      expect(text).not.toContain('stays here')
    }
  ana.share()
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 3, damaged: [] })
  for (const c of [ana, ben]) expect(of(c, 'decision:one')?.fields.tags).toEqual(['a'])
  expect(travelling(ana)).toBe(travelling(ben))
  const names = (text: string) => JSON.parse(text)[0].map((e: { id: string }) => e.id)
  expect(names(travelling(ana))).toEqual(names(before))
  expect(ana.memory.reader.list('observation')).toHaveLength(2)
  expect(ana.memory.faults()).toEqual([])
  expect(await wrongIn(ana)).toEqual([])
})

test('[Y4] what was made again gives way to what its author had signed, once that comes', async () => {
  for (const hash of ['', ", hash='of-no-line'"]) {
    const ana = team().clone('ana')
    for (const name of ['one', 'two', 'three']) ana.act([decision(name)])
    ana.sync()
    const before = knowledge(ana)
    const path = join(ana.dir, '.tidemark/log', ana.segments[0]!)
    const text = readFileSync(path)
    rmSync(path) // it was written for git, and lies elsewhere now
    damage(ana, `UPDATE log SET line=zeroblob(9)${hash} WHERE seq=2`, `UPDATE events SET ${ROWS_OF_TWO('body')}`)
    expect((await restore(ana)).remade).toHaveLength(1)
    expect(knowledge(ana)).not.toBe(before)
    writeFileSync(path, text)
    expect(await sync(ana)).toMatchObject({ applied: 1, back: 1 })
    expect(knowledge(ana)).toBe(before)
    expect(await wrongIn(ana)).toEqual([])
  }
})

test('[Y4] what a person has declined stays declined after a restore from before, and what a branch removed is not written again', async () => {
  const { ana, ben } = met()
  ana.memory.maintain()
  ana.act([decision('four')])
  ana.share()
  ana.git('rm', '-q', `.tidemark/log/${ana.segments.find((s) => s.includes('/4-4-'))}`)
  ana.git('commit', '-qm', 'not this')
  await sync(ana)
  const { replica, seq } = log.linesAfter(ana.memory.db, 0).find((l) => l.author.user === 'ben')!
  ana.memory.decline([`${replica}:${seq}`])
  expect(has(ana, 'of ben')).toBe(false)
  const before = knowledge(ana)
  for (const how of ['garbage in the log', 'an older copy']) {
    if (how === 'an older copy') {
      ana.memory.close()
      const [snapshot] = snapshots(ana.memory.path, ana.clock.now)
      const dir = dirname(ana.memory.path)
      // of the store SQLite reads tables alone
      copyFileSync(ana.memory.path, join(dir, 'store.db.damaged-7'))
      copyFileSync(snapshot!.path, ana.memory.path)
    } else damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2')
    await restore(ana)
    expect(knowledge(ana)).toBe(before)
    expect(has(ana, 'of ben')).toBe(false)
    expect((await sync(ana)).lines).toEqual([])
    expect(knowledge(ana)).toBe(before)
  }
  expect(has(ben, 'of ben')).toBe(true)
})

const SECRET = 'the-word-that-had-to-go'

/** Files of a clone that hold a text, besides git's own. */
function holding(c: Clone, text: string): string[] {
  const dirs = [dirname(c.memory.path), join(c.dir, '.tidemark')]
  return dirs.flatMap((dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((f) => f.isFile() && readFileSync(join(f.parentPath, f.name)).includes(text))
      .map((f) => f.name),
  )
}

test('[Y4] [T63] what was erased stays erased, whichever source still has it and whichever says so', async () => {
  const { ana, ben } = met()
  ana.act([decision(SECRET), ['record-fact', { fact: 'kept', category: 'tool' }]])
  ana.share()
  ana.memory.close()
  const copy = readFileSync(ana.memory.path) // as a backup of one's own holds it
  ana.reopen()
  pullTo(ben)
  ana.act([['purge', { ref: `decision:${SECRET}`, reason: 'secret' }]])
  ana.sync()
  const entities = () => JSON.parse(travelling(ana))[0]
  const erased = entities()
  const put = (name: string) => writeFileSync(join(dirname(ana.memory.path), name), copy, { mode: 0o600 })
  for (const [what, prepare] of Object.entries({
    'the mark in the store, the text in an older copy': () => {
      put('store.db.damaged-7')
      damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2')
    },
    'the mark in git alone': () => replaceStore(ana, copy),
    'the mark in git alone, and a damaged store': () => {
      replaceStore(ana, copy)
      damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=2', 'DELETE FROM events WHERE seq=2')
    },
    'the mark in another copy, and no store': () => {
      ana.memory.close()
      copyFileSync(ana.memory.path, join(dirname(ana.memory.path), 'store.db.damaged-8'))
      put('store.db.damaged-9')
      rmSync(ana.memory.path)
    },
    'a line with the text, of which the mark tells': () =>
      damage(
        ana,
        'UPDATE log SET line=zeroblob(9) WHERE line LIKE \'%"x":%\'',
        'UPDATE log SET line=zeroblob(9) WHERE seq=4',
      ),
  })) {
    prepare()
    await restore(ana)
    expect(JSON.stringify(ana.memory.db.all('SELECT * FROM log')), what).not.toContain(SECRET)
    expect(holding(ana, SECRET), what).toEqual([])
    expect(entities(), what).toEqual(erased)
    expect(await wrongIn(ana), what).toEqual([])
  }
  pullTo(ben)
  ana.share()
  pullTo(ben)
  expect(holding(ben, SECRET)).toEqual([])
  expect(travelling(ben)).toBe(travelling(ana))
})

test('[Y4] [Y1] a restore believes signed lines, and unsigned ones whose hash is known: nothing that somebody put into the files', async () => {
  const { ana, tag } = met()
  const before = knowledge(ana)
  const [own] = ana.segments.filter((s) => s.startsWith(tag.slice(0, 7)))
  const path = join(ana.dir, '.tidemark/log', own!)
  const texts = readFileSync(path, 'utf8').trimEnd().split('\n')
  const lines = texts.map((text) => parseLine(text))
  // the signature of the second is damaged, and instead of the third there is one that nobody has signed
  const third = lines[2]!
  const forged = seal({
    ...third,
    author: { user: 'ana' },
    events: third.events.map((e) => (e.value === 'three' ? { ...e, value: 'forged' } : e)),
  })
  const unsigned = printSigned(forged, { key: '', sig: '' })
  writeFileSync(path, [texts[0], texts[1]!.replace(/"s":"..../, '"s":"AAAA'), unsigned, ''].join('\n'))
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq IN (2,3)', 'DELETE FROM events WHERE seq=3')
  const done = await restore(ana)
  expect(done).toMatchObject({ remade: [], missing: [] })
  expect(has(ana, 'forged')).toBe(false)
  expect(knowledge(ana)).toBe(before) // the third is in the history of git
  const { written } = await sync(ana)
  expect(written).toHaveLength(1)
  expect(readFileSync(join(ana.dir, written[0]!), 'utf8').trimEnd().split('\n')).toEqual(texts)
  expect(await wrongIn(ana)).toEqual([])
})

test('[Y4] what another branch or an older commit has comes back by a restore, and by the next sync', async () => {
  const syncAgain = async (c: Clone) => {
    c.reopen()
    await sync(c)
  }
  for (const by of [restore, syncAgain]) {
    const { ana, tag } = met()
    ana.git('switch', '-qc', 'topic')
    ana.act([decision('on topic')])
    await sync(ana)
    ana.commit()
    ana.git('switch', '-q', 'main')
    ana.act([decision('last')])
    const before = knowledge(ana)
    damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq=4', 'DELETE FROM events WHERE seq=4')
    if (by !== restore) {
      // an earlier restore could not read git
      const git = join(ana.dir, '.git')
      writeFileSync(join(git, 'HEAD'), 'nothing')
      expect((await restore(ana)).missing).toMatchObject([{ replica: tag, from: 4, to: 4 }])
      writeFileSync(join(git, 'HEAD'), 'ref: refs/heads/main\n')
      expect(await wrongIn(ana)).toEqual([expect.stringContaining(`batch ${tag}:4 is missing`)])
      ana.memory.close()
    }
    await by(ana)
    expect(knowledge(ana)).toBe(before)
    expect(await wrongIn(ana)).toEqual([])
  }
})

test('[Y4] a segment that is damaged while the store is sound is said, and comes back as doctor says', async () => {
  const { ana, tag } = met()
  ana.commit()
  for (const change of [
    (b: Buffer) => b.fill(0, 20, 60),
    (b: Buffer) => b.subarray(0, b.length - 30),
    () => Buffer.alloc(0),
  ]) {
    const whole = ana.segments.map((s) => ana.text(s))
    const own = ana.segments.find((s) => s.startsWith(tag.slice(0, 7)))!
    for (const s of ana.segments) {
      const path = join(ana.dir, '.tidemark/log', s)
      writeFileSync(path, change(readFileSync(path)))
    }
    expect((await wrongIn(ana)).filter((text) => text.startsWith('.tidemark/log/'))).not.toEqual([])
    expect((await sync(ana)).damaged).toHaveLength(2)
    expect(ana.text(own)).toBe(whole[ana.segments.indexOf(own)])
    ana.git('checkout', '--', '.tidemark/log')
    expect(ana.segments.map((s) => ana.text(s))).toEqual(whole)
    expect(await wrongIn(ana)).toEqual([])
  }
  expect(ana.git('status', '--porcelain')).toBe('')
})

test('[Y4] [N3] what the hub holds comes back by a restore, or by the next exchange after one without the hub', async () => {
  const ana = team().clone('ana')
  const { url, token, hub } = await hubOn(await sqliteStore())
  const joined = { url, token: await token('ana', 'writer', [ana.memory.projectId]), member: 'ana' }
  keepHub(ana.memory.projectId, ana.memory.path, joined)
  const exchange = async () => {
    const exchange = new HubExchange(ana.memory, joined)
    await exchange.start()
    await exchange.push()
    exchange.link.close()
    return exchange.out
  }
  ana.act([decision('one'), observation('stays here')])
  ana.act([decision('two')])
  ana.act([decision('three')])
  await exchange()
  const before = knowledge(ana)
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq IN (1,2)', 'DELETE FROM events WHERE seq=2')
  expect(await restore(ana)).toMatchObject({ shared: 2, remade: [], missing: [], parts: [] })
  expect(knowledge(ana)).toBe(before)
  forgetCopies(ana)
  damage(ana, 'UPDATE log SET line=zeroblob(9) WHERE seq IN (1,2)', 'DELETE FROM events WHERE seq=2')
  keepHub(ana.memory.projectId, ana.memory.path, { ...joined, url: 'ws://127.0.0.1:1/' })
  const done = await restore(ana)
  expect(done).toMatchObject({ missing: [{ from: 2, to: 2 }], hub: expect.stringContaining('cannot be reached') })
  expect(done.remade).toHaveLength(1)
  expect(await exchange()).toMatchObject({ applied: 2, back: 2 })
  expect(knowledge(ana)).toBe(before)
  expect(await wrongIn(ana)).toEqual([])
  await hub.close()
})

test('[Y4] a snapshot and a segment that disagree: both stores’ words stay, and what is said of it asks for nothing', async () => {
  const { ana, ben } = met()
  ana.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const { path } = ana.memory
  const old = readFileSync(path)
  ana.act([decision('four')])
  ana.share()
  pullTo(ben)
  // the machine goes back to an image of before, inode and all, and writes on before it hears of anybody
  replaceStore(ana, old)
  rmSync(`${path}.bell`, { force: true })
  ana.reopen()
  ana.act([decision('four, otherwise')])
  expect(tagOf(ana)).toBe(log.linesAfter(ana.memory.db, 0).at(-1)!.replica)
  ana.memory.maintain()
  replaceStore(ana, GARBAGE)
  await restore(ana)
  expect(await wrongIn(ana)).toEqual([])
  await sync(ana)
  for (const name of ['four', 'four, otherwise', 'one', 'of ben']) expect(has(ana, name), name).toBe(true)
  expect(await wrongIn(ana)).toEqual([])
  ana.share()
  pullTo(ben)
  elsewhere(ben, () => ben.share())
  ana.pull()
  ana.receive()
  expect(has(ben, 'four, otherwise')).toBe(true)
  expect(travelling(ben)).toBe(travelling(ana))
  for (const c of [ana, ben]) expect(await wrongIn(c)).toEqual([])
})

test('[Y4] own lines that were folded before they left come back as the state that git holds', async () => {
  const { ana } = met()
  ana.act([decision('four')])
  ana.clock.now += 60_000
  ana.memory.compact(ana.clock.now)
  ana.act([decision('five')])
  ana.share()
  const before = travelling(ana)
  replaceStore(ana, GARBAGE)
  await restore(ana)
  expect(travelling(ana)).toBe(before)
  expect(await wrongIn(ana)).toEqual([])
})

test.each(['garbage', 'an older file', 'no store at all'])(
  '[Y1] [Y4] [T110] where %s is left of a store, what others want to take away waits as before',
  async (left) => {
    const { ana, ben } = met()
    ana.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const older = readFileSync(ana.memory.path)
    ana.act([decision('stays', { rationale: 'by ana' })])
    ana.share()
    elsewhere(ben, () => {
      ben.pull()
      ben.receive()
      ben.act([['retire', { ref: 'decision:stays', reason: 'ben says so' }]])
      ben.share()
    })
    ana.pull()
    ana.receive()
    const here = () => [
      of(ana, 'decision:stays')?.fields.retired,
      waitingChanges(ana.memory.db).all.length,
      vouchedFor(ana.memory, ['decision:stays']).size,
    ]
    expect(here()).toEqual([undefined, 1, 1])
    replaceStore(ana, left === 'garbage' ? GARBAGE : older)
    if (left === 'no store at all') rmSync(dirname(ana.memory.path), { recursive: true })
    if (left === 'garbage') await restore(ana)
    else {
      ana.reopen()
      await sync(ana)
    }
    expect(here()).toEqual([undefined, 1, 1])
  },
)
