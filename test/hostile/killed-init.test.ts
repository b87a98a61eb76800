// @module-tag long
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, tidemark } from '../cli/run.ts'
import { treeOf, world } from './world.ts'

const PROBE = join(import.meta.dirname, '../fs-probe.mjs')
/** How many of the steps of `init` are tried: all with TIDEMARK_RUNS. */
const TRIED = process.env.TIDEMARK_RUNS ? Number.POSITIVE_INFINITY : 12

const MINE = {
  '.mcp.json': '{"mcpServers": {}}',
  '.claude/settings.json': '{\n  "a": 1\n}\n',
  'CLAUDE.md': '- Never push to main\n',
}
const INIT = ['init', '--client', 'claude,codex,opencode', '--yes']

test('[T27] [C7] init that is killed at any step leaves nothing that the next one does not finish, and uninstall restores all', async () => {
  const first = world()
  files(first.dir, MINE)
  const log = join(first.home, '..', 'log')
  const probed = (at: typeof first, more: object) => ({
    ...at,
    env: { ...at.env, NODE_OPTIONS: `--import=${PROBE}`, ...more },
  })
  expect((await tidemark(probed(first, { PROBE_LOG: log }), INIT)).code).toBe(0)
  const steps = readFileSync(log, 'utf8').trim().split('\n').length
  const whole = treeOf(first.dir)
  const names = Object.keys(whole).filter((path) => !path.startsWith('.git/'))
  expect(steps).toBeGreaterThan(40)
  const every = Math.max(1, steps / TRIED)
  for (let n = 1; n <= steps; n += every) {
    const at = world()
    files(at.dir, MINE)
    const [dir, home] = [treeOf(at.dir), treeOf(at.home)]
    await tidemark(probed(at, { PROBE_KILL: String(Math.floor(n)) }), INIT)
    const again = await tidemark(at, INIT)
    expect(again.code, `step ${Math.floor(n)}: ${again.err}`).toBe(0)
    const now = treeOf(at.dir)
    expect(Object.keys(now).filter((path) => !path.startsWith('.git/'))).toEqual(names)
    for (const name of ['.tidemark/.gitignore', '.mcp.json', '.claude/settings.json', '.codex/hooks.json'])
      expect(now[name], `step ${Math.floor(n)}: ${name}`).toBe(whole[name])
    expect((await tidemark(at, ['uninstall'])).code).toBe(0)
    const rest = Object.fromEntries(Object.entries(treeOf(at.dir)).filter(([path]) => !path.startsWith('.git/')))
    expect(rest, `step ${Math.floor(n)}`).toEqual(
      Object.fromEntries(Object.entries(dir).filter(([path]) => !path.startsWith('.git/'))),
    )
    expect(treeOf(at.home)).toEqual(home)
  }
}, 600_000)

test('[T27] an empty .gitignore that an earlier version left half-made is filled', async () => {
  const at = world()
  files(at.dir, { '.tidemark/config.json': '{"id":"mine-0001","created":"2026-01-01"}\n', '.tidemark/.gitignore': '' })
  await tidemark(at, ['init', '--client', 'none', '--yes'])
  expect(statSync(join(at.dir, '.tidemark', '.gitignore')).size).toBeGreaterThan(50)
  expect(readdirSync(join(at.dir, '.tidemark')).sort()).toEqual([
    '.gitattributes',
    '.gitignore',
    'config.json',
    'local',
  ])
})
