import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run as runTool } from '../../src/surfaces/tools/run.ts'
import { stores } from '../../src/surfaces/tools/stores.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { files, inProcess, onTerminal, project } from '../cli/run.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay } from '../imports/helpers.ts'

/** Runs the tool as a person who answers; what they were asked is kept. */
async function person(t: TestMemory, args: { [arg: string]: string }, answer: boolean | (() => void) = true) {
  const asked: string[] = []
  const ask = async (question: string) => {
    asked.push(question)
    if (typeof answer === 'function') answer()
    return answer !== false
  }
  const out = (await runTool(stores, { memory: t.memory, project: t.project, by: 'person', ask }, args)) as Output
  return { asked: asked.join('\n'), text: out.text }
}

const read = (t: TestMemory, path: string) => readFileSync(join(t.dir, path), 'utf8')

const CLAUDE =
  '\uFEFF# App\r\n\r\n- Use pnpm for packages\r\n- Redis drops keys silently\r\n  at maxmemory.\r\n- Tests run\r\n'

function drifted(): TestMemory {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': CLAUDE, 'MEMORY.md': '- use `pnpm` for packages\n\nmine' })
  t.act([['record-learning', { title: 'Redis drops keys silently at maxmemory' }]])
  return t
}

test('[P7] a merge takes out exactly the lines that were shown, and a revert restores the bytes', async () => {
  const t = drifted()
  const no = await person(t, { do: 'merge', which: '1' }, false)
  expect(no.asked).toContain('-- Redis drops keys silently\n-  at maxmemory.\n')
  expect(no.text).toBe('nothing was changed')
  expect(read(t, 'CLAUDE.md')).toBe(CLAUDE)
  expect((await person(t, { do: 'merge', which: '1' })).text).toBe('merged into knowledge (learnings); tidemark stores revert S-001 takes it back') // biome-ignore format: one line
  expect(read(t, 'CLAUDE.md')).toBe('\uFEFF# App\r\n\r\n- Use pnpm for packages\r\n- Tests run\r\n')
  expect((await person(t, { do: 'merge', which: '1' })).asked).toContain('-- use `pnpm` for packages')
  expect(read(t, 'MEMORY.md')).toBe('\nmine')
  expect((await person(t, {})).text).toBe('each statement stands in one store')
  expect((await person(t, { do: 'revert', which: 's-001' })).asked).toContain('+- Redis drops keys silently\n')
  expect(read(t, 'CLAUDE.md')).toBe(CLAUDE)
  await person(t, { do: 'revert', which: 'S-002' })
  expect(read(t, 'MEMORY.md')).toBe('- use `pnpm` for packages\n\nmine')
  await expect(person(t, { do: 'revert', which: 'S-002' })).rejects.toMatchObject({ code: 'not-found' })
})

test('[P7] a file that changed while the person read, or since, is not touched', async () => {
  const t = drifted()
  const write = () => writeFileSync(join(t.dir, 'CLAUDE.md'), `${CLAUDE}- New\r\n`)
  await expect(person(t, { do: 'merge', which: '1' }, write)).rejects.toMatchObject({ code: 'target-changed' })
  expect(read(t, 'CLAUDE.md')).toBe(`${CLAUDE}- New\r\n`)
  await person(t, { do: 'merge', which: '1' })
  const merged = read(t, 'CLAUDE.md')
  lay(t.dir, { 'CLAUDE.md': `${merged}- Newer\r\n` })
  await expect(person(t, { do: 'revert', which: 'S-001' })).rejects.toMatchObject({ code: 'target-changed' })
  lay(t.dir, { 'CLAUDE.md': merged })
  const later = () => writeFileSync(join(t.dir, 'CLAUDE.md'), 'x')
  await expect(person(t, { do: 'revert', which: 'S-001' }, later)).rejects.toMatchObject({ code: 'target-changed' })
  expect(read(t, 'CLAUDE.md')).toBe('x')
})

test('[P7] a misplaced statement is recorded where it belongs and goes; both come back', async () => {
  const t = openTestMemory()
  const page = `# App

## Gotchas
- The JWKS endpoint returns stale keys

## Decisions
- JWT instead of cookies, since it is stateless

2026-02-14 10:30 | deploy | deployed without verification | cost: 2hr

## In Progress
- Auth middleware, step 3 of 7
`
  lay(t.dir, { 'CLAUDE.md': page })
  for (let i = 0; i < 3; i++) await person(t, { do: 'merge', which: '1' })
  expect(read(t, 'CLAUDE.md')).toBe(
    '# App\n\n## Gotchas\n\n## Decisions\n\n\n## In Progress\n- Auth middleware, step 3 of 7\n',
  )
  const { reader } = t.memory
  expect(reader.list('learning')[0]!.name).toBe('The JWKS endpoint returns stale keys')
  expect(reader.list('decision')[0]!.name).toBe('JWT instead of cookies, since it is stateless')
  expect(reader.list('observation')[0]!.fields).toMatchObject({ operation: 'deploy', cost: 'cost: 2hr' })
  await expect(person(t, { do: 'merge', which: '1' })).rejects.toMatchObject({ code: 'no-merge' })
  for (const which of ['S-003', 'S-002', 'S-001']) await person(t, { do: 'revert', which })
  expect(read(t, 'CLAUDE.md')).toBe(page)
  expect(['learning', 'decision', 'observation'].flatMap((kind) => reader.list(kind))).toEqual([])
})

test('[P7] a rule that a client file says too names that file, so that no briefing repeats it', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': '- Every handler validates its input with zod\n' })
  t.act([['record-fact', { fact: 'Every handler validates its input with zod' }]])
  await person(t, { do: 'merge', which: '1' })
  expect(t.memory.reader.list('fact')[0]!.fields.locations).toEqual(['CLAUDE.md:1'])
  expect((await person(t, {})).text).toBe('each statement stands in one store')
})

test('[P7] what other lines, clients or skills need stays, and is told', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'AGENTS.md': '- Use pnpm for packages\n',
    'CLAUDE.md': '- Use pnpm for packages\n- Tests run with vitest\n',
    'MEMORY.md': '- Use pnpm for packages\n- Tests run with vitest\n  - except the old ones\n',
  })
  const copies = await person(t, { do: 'merge', which: '1' })
  expect(copies.asked).toContain('CLAUDE.md:1 stays: its client reads no other file')
  expect(read(t, 'CLAUDE.md')).toContain('pnpm')
  await expect(person(t, { do: 'merge', which: '1' })).rejects.toThrow('MEMORY.md:1 stays: items below it')
  await expect(person(t, { do: 'merge', which: '2' })).rejects.toMatchObject({ code: 'copies' })
  await expect(person(t, { do: 'merge', which: '9' })).rejects.toMatchObject({ code: 'not-found' })
})

test('[P7] notes outside of the project are merged and restored only where they are named', async () => {
  const t = drifted()
  mkdirSync(join(t.dir, '../home'))
  const memory = join(t.dir, '../home/MEMORY.md')
  lay(t.dir, { 'MEMORY.md': '', '../home/MEMORY.md': '- Use pnpm for packages\n- Mine alone\n' })
  await person(t, { do: 'merge', which: '2', memory })
  expect(readFileSync(memory, 'utf8')).toBe('- Mine alone\n')
  await expect(person(t, { do: 'revert', which: 'S-001' })).rejects.toMatchObject({ code: 'not-in-project' })
  await person(t, { do: 'revert', which: 'S-001', memory })
  expect(readFileSync(memory, 'utf8')).toBe('- Use pnpm for packages\n- Mine alone\n')
  await expect(person(t, { memory: join(t.dir, 'no.md') })).rejects.toMatchObject({ code: 'no-file' })
})

test('[P7] only a person on a terminal merges: no pipe and no agent', async () => {
  const { at, run } = await project()
  const page = '## Gotchas\n- The JWKS endpoint returns stale keys\n'
  files(at.dir, { 'CLAUDE.md': page })
  expect(await run('stores')).toContain('1. "The JWKS endpoint returns stale keys" stands in the wrong store\n   CLAUDE.md:2 → knowledge (learnings)') // biome-ignore format: one line
  expect(JSON.parse(await run('stores', '--json'))).toMatchObject([{ type: 'misplaced', places: [{ where: 'CLAUDE.md:2' }] }]) // biome-ignore format: one line
  const piped = await inProcess(at, ['stores', 'merge', '1'], 'y\n')
  expect(piped).toMatchObject({ code: 1, err: expect.stringContaining('a person on a terminal decides') })
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  expect((await onTerminal(agent, ['stores', 'merge', '1'], 'y')).out).toContain('a person on a terminal decides')
  expect(readFileSync(join(at.dir, 'CLAUDE.md'), 'utf8')).toBe(page)
  expect((await onTerminal(at, ['stores', 'merge', '1'], 'y')).out).toContain('merged into knowledge (learnings)')
  expect(readFileSync(join(at.dir, 'CLAUDE.md'), 'utf8')).toBe('## Gotchas\n')
  expect((await onTerminal(agent, ['stores', 'revert', 'S-001'], 'y')).out).toContain('a person on a terminal decides')
})
