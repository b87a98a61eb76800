// @module-tag long
import { existsSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { files, git } from '../cli/run.ts'
import { CONFIG, expectHarmless, link, world } from './world.ts'

const FOLDERS = [
  '.tidemark', '.tidemark/local', '.tidemark/local/views', '.tidemark/store', '.add', '.claude', '.codex', '.gemini', '.cursor', '.github', '.github/hooks', '.opencode',
  '.git/tidemark',
] // biome-ignore format: a list to read at a glance
const FILES = [
  '.tidemark/config.json', '.tidemark/.gitignore', '.tidemark/handoff.md', '.tidemark/swarm-state.md', '.tidemark/decisions.md', '.tidemark/local/wiring.json',
  '.tidemark/local/views/state.json', '.tidemark/local/views/handoff.md', 'AGENTS.md', 'CLAUDE.md', 'memory.jsonl', '.add/observations.md', '.claude/settings.json',
  '.claude/settings.local.json', '.mcp.json', '.codex/config.toml', '.codex/hooks.json', '.gemini/settings.json', '.cursor/mcp.json', '.cursor/hooks.json',
  '.github/hooks/tidemark.json', 'opencode.json', '.opencode/plugins/tidemark.js', '.vscode/settings.json', '.git/tidemark/hooks.log', '.git/tidemark/hooks.missed',
] // biome-ignore format: a list to read at a glance

/** To what is there by its whole path or a relative one, and to what is not. */
const WAYS = ['absolute', 'relative', 'dangling'] as const
const cases = [...FOLDERS, ...FILES].map((path, n) => [path, WAYS[n % WAYS.length]!] as const)
const all = process.env.TIDEMARK_RUNS
  ? [...FOLDERS, ...FILES].flatMap((path) => WAYS.map((way) => [path, way] as const))
  : cases

test.each(all)(
  '[T29] [T20] a committed link in the place of %s (%s): nothing outside is read, changed or told',
  async (path, way) => {
    const at = world()
    files(at.dir, CONFIG)
    const isFolder = FOLDERS.includes(path)
    rmSync(join(at.dir, path), { recursive: true, force: true })
    const target = join(at.home, isFolder ? 'folder' : /json|opencode/.test(path) ? 'canary.json' : 'canary.md')
    const to =
      way === 'absolute'
        ? target
        : way === 'relative'
          ? relative(dirname(join(at.dir, path)), target)
          : join(at.home, 'made', 'anew')
    link(at, path, to)
    git(at.dir, 'add', '-f', '.')
    git(at.dir, 'commit', '-qm', 'x')
    await expectHarmless(at)
    expect(existsSync(join(at.home, 'made'))).toBe(false)
  },
)
