import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inProcess, project } from './run.ts'

test('doctor on a fresh project: nothing is to be mended, and it says where the store lies and when hooks call', async () => {
  const { at, run } = await project()
  const out = await run('doctor')
  expect(out).not.toContain('FIX')
  expect(out).toContain(`in ${join(at.dir, '.git/tidemark')}`)
  expect(out).toContain('no hook has called yet: they do from the next session on')
  expect(out.trim().split('\n').at(-1)).toBe('nothing is to be mended')
})

test('doctor says that every recall is refused, what of the configuration is not accepted, and how much is to be mended', async () => {
  const { at } = await project()
  const path = join(at.dir, '.tidemark/config.json')
  const config = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...config, recall: { halfLife: 3 }, hooks: { nope: 1 } }))
  const { code, out } = await inProcess(at, ['doctor'])
  expect(code).toBe(1)
  expect(out).toMatch(
    /^FIX {2}recall is refused: .*\n {5}→ \.tidemark\/config\.json: recall\.halfLife: .*halfLifeDays/m,
  )
  expect(out).toMatch(/^FIX {2}\.tidemark\/config\.json: hooks\.nope/m)
  expect(out).toContain('2 things to look at, marked FIX')
})

test.each(['{broken', '{"id": 3}'])(
  'doctor on a broken config.json says how to get the id back, and that works: %s',
  async (text) => {
    const { at, run } = await project()
    await run('remember', 'we use pnpm')
    const path = join(at.dir, '.tidemark/config.json')
    const { id } = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, text)
    const { code, out, err } = await inProcess(at, ['doctor'])
    expect([code, err]).toEqual([1, ''])
    expect(out).toMatch(/^FIX {2}.*config\.json .*\n {5}→ .*delete it and run `tidemark init`/m)
    expect(JSON.parse((await inProcess(at, ['doctor', '--json'])).out).checks.at(-1)).toMatchObject({ ok: false })
    rmSync(path)
    await run('init', '--client', 'none', '--yes')
    expect(JSON.parse(readFileSync(path, 'utf8')).id).toBe(id)
    expect(await run('list')).toContain('pnpm')
  },
)
