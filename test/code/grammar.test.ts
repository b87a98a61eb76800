import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inProcess, project } from '../cli/run.ts'

/** As after `npm install --omit=optional`. */
const WITHOUT = `--import "data:text/javascript,${encodeURIComponent(`
  import Module from 'node:module'
  const resolve = Module._resolveFilename
  Module._resolveFilename = (name, ...more) => {
    if (name === 'web-tree-sitter') throw Object.assign(new Error('not there'), { code: 'MODULE_NOT_FOUND' })
    return resolve(name, ...more)
  }`)}"`

test('[F1] what changed where no grammar is installed is judged by the next process that has it', async () => {
  const { at, run } = await project()
  const write = (limit: number) =>
    writeFileSync(join(at.dir, 'a.ts'), `export function f() {\n  return ${limit}\n}\nexport const g = 1\n`)
  write(1)
  await run('act', JSON.stringify([
    ['record-decision', { name: 'limit', locations: ['a.ts#f'] }],
    ['record-decision', { name: 'other', locations: ['a.ts#g'] }],
    ['record-file', { path: 'a.ts', summary: 'a limit' }],
  ])) // biome-ignore format: a batch
  const scan = async (env: Record<string, string> = {}) =>
    (await inProcess({ ...at, env: { ...at.env, ...env } }, ['scan'])).out
  await scan()
  write(2)
  for (let i = 0; i < 2; i++) expect(await scan({ NODE_OPTIONS: WITHOUT })).not.toContain('stale now')
  expect(await scan()).toMatch(/stale now: decision:limit, file:a-ts/)
  expect(await scan({ NODE_OPTIONS: WITHOUT })).not.toContain('stale now')
  expect(await run('discover', '(length (stale))')).toBe('2\n')
  const without = { ...at, env: { ...at.env, NODE_OPTIONS: WITHOUT } }
  expect((await inProcess(without, ['doctor'])).out).toContain('no parser for code is installed')
  expect(await run('doctor')).not.toContain('no parser for code')
})
