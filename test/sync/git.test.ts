import { appendFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProject, ignoreViews } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { status as statusTool } from '../../src/surfaces/tools/status.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { checkSegments } from '../../src/travel/sync/check-segments.ts'
import { publish } from '../../src/travel/sync/publish.ts'
import { hasChanged, receive } from '../../src/travel/sync/receive.ts'
import { Clone, decision, git, knowledge, team, travelling } from './clones.ts'

const known = (c: Clone) =>
  c.memory.reader
    .list('decision')
    .map((e) => e.name)
    .sort()

const status = ({ memory, dir }: Clone) => (statusTool.run({ memory, project: findProject(dir) }, {}) as Output).text

/** Everybody pulls and reads until all have everything. */
function settle(...clones: Clone[]): void {
  for (let round = 0; round < 2; round++) for (const c of clones) c.share()
  for (const c of clones) c.receive()
  for (const c of clones) expect(knowledge(c)).toBe(knowledge(clones[0]!))
}

function two() {
  const t = team()
  return { ...t, ana: t.clone('ana'), ben: t.clone('ben') }
}

test('[K16] a replica that works on two branches: both hold all of its lines, and merge without a conflict', () => {
  const { ana, ben } = two()
  ana.act([decision('on-main')])
  ana.share()
  ana.git('switch', '-qc', 'topic')
  ana.act([decision('on-topic')])
  ana.sync()
  ana.commit()
  ana.git('switch', '-q', 'main')
  expect(hasChanged(ana.memory, ana.dir)).toBe(true)
  expect(ana.receive().applied).toBe(0)
  expect(known(ana)).toEqual(['on-main', 'on-topic'])
  ana.act([decision('later-on-main')])
  ana.sync()
  ana.commit()
  expect(ana.text(ana.segments.at(-1)!).split('\n').filter(Boolean)).toHaveLength(2)
  ana.git('merge', '-q', '--no-edit', 'topic')
  settle(ana, ben)
  expect(known(ben)).toEqual(['later-on-main', 'on-main', 'on-topic'])
})

test('[K17] a rebase, and a rebase that drops commits, take nothing back', () => {
  const { ana, ben } = two()
  ben.act([decision('of-ben')])
  ben.share()
  for (const name of ['one', 'two', 'three']) {
    ana.act([decision(name)])
    ana.sync()
    ana.commit()
  }
  ana.git('fetch', '-q')
  ana.git('rebase', '-q', '--onto', 'origin/main', 'HEAD~1') // of three commits the last one stays
  ana.receive()
  expect(known(ana)).toEqual(['of-ben', 'one', 'three', 'two'])
  settle(ana, ben)
  expect(known(ben)).toEqual(['of-ben', 'one', 'three', 'two'])
})

test('[K17] a cherry-picked commit brings its lines, and those before them are named', () => {
  const { ana, ben } = two()
  ben.clock.now += 2 * 86_400_000
  ana.act([decision('first')])
  ana.sync()
  ana.commit()
  ana.clock.now += 86_400_000
  // large enough to be a segment of its own beside the first
  ana.act([decision('filler', { description: 'x'.repeat(12_000) })])
  ana.sync()
  ana.commit()
  ana.clock.now += 86_400_000
  ana.act([decision('picked')])
  ana.sync()
  ana.commit()
  ana.git('push', '-q', 'origin', 'HEAD:refs/heads/topic')
  ben.git('fetch', '-q')
  const paths = ben.git('ls-tree', '-r', '--name-only', 'origin/topic', '.tidemark/log').trim().split('\n')
  const last = paths.find((p) => /\/3-3-/.test(p)) ?? paths.at(-1)!
  ben.git('checkout', 'origin/topic', '--', last)
  expect(ben.receive()).toMatchObject({ applied: 1, gaps: 1 })
  expect(known(ben)).toEqual(['picked'])
  // said as long as it is so, not only once
  expect(ben.receive()).toMatchObject({ applied: 0 })
  expect(status(ben)).toContain('1 batch of others is missing here: `tidemark doctor` names them')
  ben.git('checkout', 'origin/topic', '--', '.tidemark/log')
  expect(ben.receive().gaps).toBe(0)
  expect(status(ben)).not.toContain('missing here')
  expect(known(ben)).toEqual(['filler', 'first', 'picked'])
  ben.commit()
  settle(ana, ben)
})

test('[K16] squash, revert and force-push: the next sync writes what the tree lacks', () => {
  const { ana, ben } = two()
  ana.act([decision('one')])
  ana.share()
  ben.pull()
  ben.receive()
  ana.git('switch', '-qc', 'topic')
  for (const name of ['two', 'three']) {
    ana.act([decision(name)])
    ana.sync()
    ana.commit()
  }
  ana.git('switch', '-q', 'main')
  ana.git('merge', '-q', '--squash', 'topic')
  ana.commit()
  ana.share()
  ana.git('revert', '--no-edit', 'HEAD')
  ana.receive()
  expect(known(ana)).toEqual(['one', 'three', 'two'])
  ana.git('reset', '-q', '--hard', 'HEAD~2')
  ana.git('push', '-qf', 'origin', 'HEAD:main')
  ben.git('fetch', '-q')
  ben.git('reset', '-q', '--hard', 'origin/main')
  ben.receive()
  settle(ana, ben)
  expect(known(ben)).toEqual(['one', 'three', 'two'])
})

test('[K17] stash and checkout of an old commit take nothing back', () => {
  const { ana, ben } = two()
  ana.act([decision('one')])
  ana.share()
  ana.act([decision('two')])
  ana.sync()
  ana.git('stash', '-qu')
  ana.receive()
  expect(known(ana)).toEqual(['one', 'two'])
  ana.git('stash', 'pop', '-q')
  ana.commit()
  ana.git('checkout', '-q', 'HEAD~1')
  ana.receive()
  ana.git('switch', '-q', 'main')
  settle(ana, ben)
})

test('[K17] a shallow clone knows everything', () => {
  const { clone, ana, ben } = two()
  for (const name of ['one', 'two', 'three']) {
    ana.act([decision(name)])
    ana.share()
  }
  const cid = clone('cid', '--depth', '1')
  cid.receive()
  expect(knowledge(cid)).toBe(knowledge(ana))
  cid.act([decision('of-cid')])
  cid.sync()
  cid.commit()
  cid.git('push', '-q', 'origin', 'HEAD:main')
  settle(ana, ben)
  expect(known(ben)).toContain('of-cid')
})

test('[K16] [K18] a linked work tree shares the store: its commits hold what was recorded in either', () => {
  const { ana, ben } = two()
  ana.act([decision('in-main')])
  ana.share()
  const tree = join(ana.dir, '..', 'tree')
  ana.git('worktree', 'add', '-q', '-b', 'topic', tree)
  const memory = openProject(findProject(tree), { env: ana.memory.env, unlisted: true })
  expect(memory.path).toBe(ana.memory.path)
  memory.act([decision('in-tree')], { user: 'ana' })
  receive(memory, tree)
  publish(memory, tree)
  memory.close()
  git(tree, 'add', '-A')
  git(tree, 'commit', '-qm', 'in the tree')
  ana.git('merge', '-q', '--no-edit', 'topic')
  expect(ana.publish().written).toEqual([])
  settle(ana, ben)
  expect(known(ben)).toEqual(['in-main', 'in-tree'])
})

test('[K16] [K18] a project that is a submodule has its store with its own repository, and shares through that', () => {
  const { top, hub, ana, ben } = two()
  const outer = join(top, 'outer')
  git(top, 'init', '-q', '-b', 'main', outer)
  git(outer, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', `file://${hub}`, 'part')
  git(outer, 'commit', '-qm', 'a part')
  const part = new Clone(join(outer, 'part'), 'cid', 77)
  expect(part.memory.path).toBe(join(outer, '.git/modules/part/tidemark/store.db'))
  ana.act([decision('of-ana')])
  ana.share()
  part.act([decision('in-the-part')])
  part.share()
  settle(ana, ben, part)
  expect(known(ben)).toEqual(['in-the-part', 'of-ana'])
  expect(knowledge(part)).toBe(knowledge(ben))
  // the outer repository moves the part to a commit: nothing is taken back
  git(join(outer, 'part'), 'checkout', '-q', 'HEAD~1')
  part.receive()
  expect(known(part)).toEqual(['in-the-part', 'of-ana'])
})

test('[K17] converted line ends do no harm, and .gitattributes keeps git from it', () => {
  const { ana, ben } = two()
  ana.act([decision('one'), decision('two')])
  ana.share()
  ben.git('config', 'core.autocrlf', 'true')
  ben.pull()
  expect(ben.text(ben.segments[0]!)).not.toContain('\r')
  for (const segment of ben.segments) {
    const path = join(ben.dir, '.tidemark/log', segment)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('\n', '\r\n'))
  }
  expect(ben.receive()).toMatchObject({ applied: 1, damaged: [] })
  expect(knowledge(ben)).toBe(knowledge(ana))
  const ignore = join(ben.dir, '.tidemark/.gitignore')
  const converted = readFileSync(ignore, 'utf8').replaceAll('\n', '\r\n')
  writeFileSync(ignore, converted)
  ignoreViews(ben.dir)
  expect(readFileSync(ignore, 'utf8')).toBe(converted)
})

test('[K17] a segment that was cut off is named, what is sound in it is read, and its author writes it anew', () => {
  const { ana, ben } = two()
  for (const name of ['one', 'two', 'three']) ana.act([decision(name)])
  ana.share()
  const path = join(ana.dir, '.tidemark/log', ana.segments[0]!)
  truncateSync(path, readFileSync(path).length - 40)
  ana.commit()
  ana.git('push', '-q', 'origin', 'HEAD:main')
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 2, damaged: [{ path: expect.stringContaining('1-3-') }] })
  expect(known(ben)).toEqual(['one', 'two'])
  expect(checkSegments(ben.dir).problems).toHaveLength(1)
  settle(ana, ben)
  expect(known(ben)).toEqual(['one', 'three', 'two'])
  expect(checkSegments(ben.dir).problems).toEqual([])
})

test('[K17] marks of a conflict within a segment are left out', () => {
  const { ana, ben } = two()
  ana.act([decision('one')])
  ana.act([decision('two')])
  ana.sync()
  const path = join(ana.dir, '.tidemark/log', ana.segments[0]!)
  const [first, second] = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, `<<<<<<< HEAD\n${first}\n=======\n${second}\n>>>>>>> topic\n`)
  ana.commit()
  ana.git('push', '-q', 'origin', 'HEAD:main')
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 2, damaged: [{ path: expect.anything() }] })
  settle(ana, ben)
})

test('[K17] a forged line is left out, and keeps nobody from the rest', () => {
  const { ana, ben } = two()
  ana.act([decision('one')])
  ana.act([decision('two')])
  ben.act([decision('of-ben')])
  ben.share()
  ana.share()
  const replica = ana.segments.find((s) => ana.text(s).includes('"two"'))!
  const path = join(ana.dir, '.tidemark/log', replica)
  const sound = readFileSync(path, 'utf8')
  writeFileSync(path, sound.replace('because', 'becausE'))
  appendFileSync(path, '{"v":1,"r":"x","n":1}\nnull\n[]\n{"v":1,"r":{},"n":"1","p":0,"at":"x","u":[],"e":{},"h":1}\n')
  ben.git('pull', '-q', ana.dir, 'main')
  const theirs = join(ben.dir, '.tidemark/log', replica)
  writeFileSync(theirs, readFileSync(path))
  expect(ben.receive().damaged).toHaveLength(1)
  expect(known(ben)).not.toContain('one')
  writeFileSync(theirs, sound)
  ben.receive()
  expect(known(ben)).toEqual(['of-ben', 'one', 'two'])
})

test('[K12] [C6] a copy of a repository with its store gets an identity of its own, and nothing is lost', () => {
  const { top, clone, ana, ben } = two()
  ana.act([decision('before')])
  ana.act([decision('not-synced')])
  cpSync(ana.dir, join(top, 'copy'), { recursive: true })
  const copy = new Clone(join(top, 'copy'), 'copy', 99)
  copy.act([decision('of-the-copy')])
  ana.act([decision('of-the-original')])
  settle(ana, copy, ben)
  expect(known(clone('cid'))).toEqual([])
  expect(known(ben)).toEqual(['before', 'not-synced', 'of-the-copy', 'of-the-original'])
})

test('[K12] a store that was rolled back knows again what it had committed, and writes under another identity', () => {
  const { ana, ben } = two()
  ana.act([decision('one')])
  ana.memory.close()
  const store = ana.memory.path
  const before = readFileSync(store)
  ana.reopen()
  ana.act([decision('two')])
  ana.share()
  ana.memory.close()
  for (const file of [`${store}-wal`, `${store}-shm`, `${store}.bell`]) rmSync(file, { force: true })
  writeFileSync(store, before)
  ana.reopen()
  expect(known(ana)).toEqual(['one'])
  ana.act([decision('other')])
  settle(ana, ben)
  expect(known(ana)).toEqual(['one', 'other', 'two'])
})

test('[K12] the same where batches of the machine and of the project were mixed', () => {
  const { ana, ben } = two()
  const seen = (what: string) => ['record-observation', { what }]
  ana.act([decision('one'), seen('a')])
  ana.memory.close()
  const store = ana.memory.path
  const before = readFileSync(store)
  ana.reopen()
  ana.act([seen('b')])
  ana.act([decision('two'), seen('c')])
  ana.act([seen('d')])
  ana.act([decision('three', { tags: ['x'] })])
  ana.share()
  ana.memory.close()
  for (const file of [`${store}-wal`, `${store}-shm`, `${store}.bell`]) rmSync(file, { force: true })
  writeFileSync(store, before)
  ana.reopen()
  ana.act([seen('e')])
  ana.act([decision('other'), seen('f')])
  ana.act([seen('g')])
  ana.act([decision('three', { tags: ['y'] })])
  for (let round = 0; round < 3; round++) for (const c of [ana, ben]) c.share()
  ana.act([decision('after')])
  ana.share()
  ben.pull()
  expect(ben.receive()).toMatchObject({ gaps: 0, damaged: [] })
  expect(known(ana)).toEqual(['after', 'one', 'other', 'three', 'two'])
  for (const c of [ana, ben]) expect(c.memory.faults()).toEqual([])
  expect(travelling(ben)).toBe(travelling(ana))
  expect(ana.sync().written).toEqual([])
  expect(ben.sync().written).toEqual([])
})

test('[K10] a line names the work tree that it was written in: the same name each time, and no path', () => {
  const { ana } = two()
  ana.act([decision('one')])
  ana.act([decision('two')])
  const beside = join(ana.dir, '..', 'beside')
  ana.git('worktree', 'add', '-q', '-b', 'topic', beside)
  using there = openProject(findProject(beside), { author: { user: 'ana' }, unlisted: true })
  there.act([decision('three')])
  const trees = ana.memory.newsSince(0).map((n) => n.author.tree)
  expect(trees[0]).toMatch(/^[0-9a-f]{8}$/)
  expect(trees[1]).toBe(trees[0])
  expect(trees[2]).toMatch(/^[0-9a-f]{8}$/)
  expect(trees[2]).not.toBe(trees[0])
})

test('[K14] lines folded before they leave take away what they overwrote of others', () => {
  const t = team()
  const [ana, ben] = [t.clone('ana'), t.clone('ben')]
  const sets = (confidence: number) => ['record-principle', { name: 'shared', evidence: ['seen'], confidence }]
  ana.act([sets(0.1)])
  ana.share()
  ben.share()
  ben.clock.now += 60_000
  ben.act([sets(0.5)])
  ben.act([sets(0.9)])
  ben.memory.compact(ben.clock.now + 1)
  ben.share()
  const cid = t.clone('cid')
  for (const c of [ana, ben, cid]) c.share()
  for (const c of [ana, ben, cid]) {
    expect(c.memory.reader.entity('principle:shared')!.conflicts).toEqual([])
    expect(travelling(c)).toBe(travelling(ana))
  }
})
