import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, git, inProcess, onTerminal, project } from '../cli/run.ts'

const batch = JSON.stringify([
  ['record-decision', { name: 'use-hono', description: 'HTTP with Hono', impact: 8, topics: ['http'] }],
  ['record-pattern', { name: 'one-file-per-route', description: 'A route is a file', location: 'src/routes/a.ts:1' }],
  ['record-decision', { name: 'maybe-later', standing: 'proposed' }],
])

/** A project that knows something, and another of the same user that shares two packages with it. */
async function two() {
  const { at, run } = await project()
  files(at.dir, { 'package.json': JSON.stringify({ dependencies: { hono: '4', zod: '4', left: '1' } }) })
  await run('act', batch)
  const other = { dir: join(at.dir, '..', 'second'), env: at.env }
  files(other.dir, { 'package.json': JSON.stringify({ dependencies: { hono: '4' }, devDependencies: { zod: '4' } }) })
  git(other.dir, 'init', '-q')
  await inProcess(other, ['init', '--yes', '--no-import', '--client', 'none'])
  return { at, other }
}

test('[P8] what a project like this one uses is listed with what both share; one without anything in common is not', async () => {
  const { other, at } = await two()
  const { out } = await inProcess(other, ['reuse'])
  expect(out).toContain('project is like this project (hono, zod) and uses:')
  expect(out).toContain('decision  use-hono  tidemark reuse decision:use-hono --from project')
  expect(out).toContain('pattern  one-file-per-route')
  expect(out).not.toContain('maybe-later')
  files(other.dir, { 'package.json': '{ broken' })
  expect((await inProcess(other, ['reuse'])).out).toContain('no other project of yours shares')
  expect((await inProcess(at, ['reuse'])).code).toBe(0)
})

test('[P8] reuse takes one over with where it came from: it is proposed until a person says yes, and only once', async () => {
  const { other } = await two()
  const piped = await inProcess(other, ['reuse', 'use-hono', '--from', 'project'])
  expect(piped.out).toContain('proposed here: tidemark review')
  expect((await inProcess(other, ['list', 'decision'])).out).toContain('[proposed]')
  const yes = await onTerminal(other, ['reuse', 'one-file-per-route', '--from', 'project'], 'y')
  expect(yes.out).toContain('reused from project (')
  expect(yes.out).toContain('holds here too')
  const shown = (await inProcess(other, ['show', 'one-file-per-route', '--json'])).out
  expect(shown).toMatch(/reused from project \([a-z0-9]+\), said by tester on \d{4}-/)
  expect(shown).not.toContain('src/routes')
  const again = await inProcess(other, ['reuse', 'one-file-per-route', '--from', 'project'])
  expect(again.out).toContain('known here already')
  expect((await inProcess(other, ['reuse'])).out).not.toContain('one-file-per-route')
  const wrong = await inProcess(other, ['reuse', 'nothing-such', '--from', 'project'])
  expect(wrong.code).not.toBe(0)
  expect((await inProcess(other, ['reuse', 'use-hono'])).code).not.toBe(0)
})
