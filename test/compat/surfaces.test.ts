import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { entity } from '../../bench/knowledge.ts'
import { SCHEMA_VERSION } from '../../src/engine/store/migrations.ts'
import { markStore } from '../../src/engine/store/owner.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { inProcess, onTerminal, scratch } from '../cli/run.ts'
import { PROJECT } from '../convergence/harness.ts'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { frozen } from './frozen.ts'
import { digestOf, intoFirstForm } from './old-store.ts'

type At = ReturnType<typeof scratch>

/** A project whose store 0.1.0 wrote. */
async function oldProject(entities: number): Promise<At & { store: string }> {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  const memory = openProject(findProject(at.dir))
  memory.act([['record-fact', { fact: 'Never guess', category: 'convention' }]], { by: 'person' })
  for (let i = 0; i < entities; i += 50) memory.act(Array.from({ length: 50 }, (_, j) => entity(i + j)))
  intoFirstForm(memory)
  return { ...at, store: memory.path }
}

const hook = (at: At, event: string, more: object = {}) =>
  inProcess(
    at,
    ['hook', 'claude', event],
    JSON.stringify({ session_id: 's', hook_event_name: event, cwd: at.dir, ...more }),
  )

test('[M4] [C5] a hook leaves a large store of 0.1.0 to the next command, and says so once a session', {
  timeout: 60_000,
}, async () => {
  const at = await oldProject(2_000)
  const before = digestOf(at.store)
  const start = await hook(at, 'SessionStart', { source: 'startup' })
  expect(start).toMatchObject({ code: 0, err: '' })
  const told = JSON.parse(start.out) as { systemMessage: string }
  expect(told.systemMessage).toMatch(/older Tidemark.* → run `tidemark status` once/)
  expect(told.systemMessage).not.toContain('\n')
  expect(await hook(at, 'UserPromptSubmit', { prompt: 'why?' })).toEqual({ code: 0, out: '', err: '' })
  expect(digestOf(at.store)).toEqual(before)
  expect(existsSync(join(dirname(at.store), 'backups'))).toBe(false)

  const status = await inProcess(at, ['status'])
  expect(status).toMatchObject({ code: 0, err: '' }) // in a pipe nothing is told of the migration
  expect(digestOf(at.store).version).toBe(SCHEMA_VERSION)
  expect((await hook(at, 'SessionStart', { source: 'startup' })).out).toContain('Project Rules')
})

test('[M4] [C5] a hook brings a small store of 0.1.0 up to date itself', async () => {
  const at = await oldProject(100)
  expect((await hook(at, 'SessionStart', { source: 'startup' })).out).toContain('Never guess')
  expect(digestOf(at.store).version).toBe(SCHEMA_VERSION)
})

testUnless(NO_TERMINAL)('[C5] a terminal shows how far a migration is, and is clean after it', async () => {
  const at = await oldProject(2_000)
  const { code, out } = await onTerminal(at, ['status'])
  expect(code).toBe(0)
  expect(out).toContain('bringing the store up to date: copying it first')
  expect(out).toMatch(/bringing the store up to date: \d+ of 2001 entities/)
  expect((await onTerminal(at, ['status'])).out).not.toContain('up to date')
})

test('[C5] what a store of 0.1.0 says otherwise now is told once, and named by doctor', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  const { storePath } = findProject(at.dir)
  const configPath = join(at.dir, '.tidemark/config.json')
  writeFileSync(storePath, frozen('store-schema-15.db.gz').bytes)
  for (const left of ['-wal', '-shm', '.owner', '.bell']) rmSync(storePath + left, { force: true })
  const config = JSON.parse(readFileSync(configPath, 'utf8')) as object
  writeFileSync(configPath, JSON.stringify({ ...config, id: PROJECT }))
  markStore(storePath, PROJECT)
  const { code, err } = await inProcess(at, ['status'])
  expect(code).toBe(0)
  expect(err.trimEnd().split('\n')).toEqual([
    'tidemark: 1 of 25 entities say something else than in version 0.1.0, which did not read what their batches say; `tidemark doctor` names them',
    'tidemark: what only a compaction of version 0.1.0 had kept, and no batch says, was taken over; `tidemark doctor` names them',
  ])
  expect((await inProcess(at, ['status'])).err).toBe('')
  const doctor = (await inProcess(at, ['doctor'])).out
  expect(doctor).toContain('did not read what their batches say: fact:as-the-diff-shows-it\n')
  expect(doctor).toContain('no batch says, was taken over: decision:use-sqlite\n')
})
