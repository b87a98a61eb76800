import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openMemory } from '../../src/surfaces/library.ts'
import { git, inProcess, scratch } from '../cli/run.ts'
import { contextOf, PATIENT, runHook } from '../hooks/run.ts'
import { call, listening, stdioClient } from '../mcp/harness.ts'

const RULE = [['record-decision', { name: 'use-queues', rationale: 'bursts' }]]

test('[T38] a store that a program keeps inside a repository never shows in git, nor does its token', async () => {
  for (const persistencePath of ['new/deep', 'there', 'ignoring', '.']) {
    const at = scratch()
    git(at.dir, 'init', '-q')
    mkdirSync(join(at.dir, 'there'))
    writeFileSync(join(at.dir, 'there', 'own.txt'), 'of the repository')
    mkdirSync(join(at.dir, 'ignoring'))
    writeFileSync(join(at.dir, 'ignoring', '.gitignore'), '/build')
    const server = await listening({ projectPath: at.dir, persistencePath })
    server.memory.act(RULE)
    server.memory.maintain()
    expect(server.token).toMatch(/^\S{40,}$/)
    git(at.dir, 'add', '-A')
    const shown = git(at.dir, 'ls-files').trim().split('\n')
    expect([persistencePath, shown.filter((f) => /store\.db|token|backups|archive|\.log/.test(f))]).toEqual([persistencePath, []]) // biome-ignore format: one thought
    expect(git(at.dir, 'status', '--porcelain', '--untracked-files=all')).not.toMatch(/store\.db|token|backups/)
    expect(shown).toContain('there/own.txt')
    const ignored = readFileSync(join(at.dir, 'ignoring', '.gitignore'), 'utf8')
    expect(ignored).toMatch(persistencePath === 'ignoring' ? /^\/build\n/ : /^\/build$/)
  }
})

test('[T38] where a program chose to keep the store every surface finds it; another choice wins, and doctor tells of two', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const memory = openMemory({ projectPath: at.dir, persistencePath: 'data', create: true })
  memory.act([['record-decision', { name: 'use-queues', rationale: 'bursts' }]])
  memory.close()
  expect((await inProcess(at, ['list', 'decision'])).out).toContain('use-queues')
  const start = await runHook(['claude', 'SessionStart'], { session_id: 's', cwd: at.dir }, { env: PATIENT })
  expect(contextOf(start)).toContain('use-queues')
  const client = await stdioClient(at.dir)
  expect((await call(client, 'brief', {})).text).toContain('use-queues')
  const sound = await inProcess(at, ['doctor'])
  expect(sound.out).toContain(join(at.dir, 'data'))
  expect(sound.out).not.toMatch(/has 2 stores/)

  const other = join(at.home, 'other')
  const named = { ...at, env: { ...at.env, TIDEMARK_STORE: other } }
  expect((await inProcess(named, ['list', 'decision'])).out).not.toContain('use-queues')
  expect((await inProcess(at, ['list', 'decision'])).out).toContain('use-queues')
  for (const [who, used, not] of [
    [at, join(at.dir, 'data'), other],
    [named, other, join(at.dir, 'data')],
  ] as const)
    expect((await inProcess(who, ['doctor'])).out).toContain(`has 2 stores: ${used} is used here, not ${not}`)
})

test('[T38] a program that names another place gets the store that the project has, and no second, empty one', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  await inProcess(at, ['act', JSON.stringify(RULE)])
  const memory = openMemory({ projectPath: at.dir, persistencePath: 'data' })
  expect(memory.discover('(map :name (get-decisions))')).toEqual(['("use-queues")'])
  memory.close()
  const server = await listening({ projectPath: at.dir, persistencePath: '.awareness' })
  expect(server.memory.reader.list('decision').map((e) => e.name)).toEqual(['use-queues'])
  expect((await inProcess(at, ['doctor'])).out).not.toMatch(/has 2 stores/)
})
