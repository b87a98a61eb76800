import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pluginFiles } from '../scripts/plugin.ts'
import { hookIn, sharedHook } from '../src/session/clients/common/hook-command.ts'
import { eventsOf } from '../src/session/clients/index.ts'
import { COMMANDS } from '../src/surfaces/cli/commands/index.ts'
import { TOOLS } from '../src/surfaces/tools/index.ts'
import { machine } from './client-machine.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))

test('the plugin is what scripts/plugin.ts makes of package.json and the table of hooks', () => {
  for (const [path, text] of Object.entries(pluginFiles())) expect([path, read(path)]).toEqual([path, text])
})

test('every manifest says the version of the package, and the package ships the plugin', () => {
  const { version, files } = json('package.json')
  for (const path of [
    'plugin/.claude-plugin/plugin.json',
    'plugin/.codex-plugin/plugin.json',
    'plugin/portable/plugin.json',
    'plugin/gemini/gemini-extension.json',
  ])
    expect(json(path)).toMatchObject({ name: 'tidemark', version })
  expect(files).toEqual(expect.arrayContaining(['plugin', '.claude-plugin', '.agents', '.github/plugin']))
})

test('the hooks of the plugin are those that init wires', () => {
  for (const [client, path] of [
    ['claude', 'plugin/hooks/claude.json'],
    ['codex', 'plugin/hooks/codex.json'],
    ['gemini', 'plugin/gemini/hooks/hooks.json'],
  ] as const) {
    const { hooks } = json(path) as { hooks: Record<string, { matcher?: string; hooks: { command: string }[] }[]> }
    const found = Object.entries(hooks).map(([event, [group]]) => [event, group!.matcher, group!.hooks[0]!.command])
    expect(found).toEqual(
      eventsOf(client).map((e) => [e.event, e.matcher, expect.stringMatching(`run.sh" ${client} ${e.event}$`)]),
    )
  }
})

test('skills are what every client reads: portable keys, the name of their folder, short', () => {
  for (const name of readdirSync(join(ROOT, 'plugin/skills'))) {
    const text = read(`plugin/skills/${name}/SKILL.md`)
    const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(text)!
    expect(head!.split('\n').map((line) => line.split(':')[0])).toEqual(['name', 'description'])
    expect(head).toContain(`name: ${name}\n`)
    expect(head!.length).toBeLessThan(1024)
    expect(text.split('\n').length).toBeLessThan(40)
  }
  expect(readdirSync(join(ROOT, 'plugin/skills')).sort()).toEqual([
    'back',
    'coordinate',
    'handoff',
    'observe',
    'recall',
    'remember',
    'retro',
    'verify',
  ])
})

test('[P2] [P5] the commands that skills name are there; what they do is tried in test/docs/examples.test.ts', () => {
  const named = readdirSync(join(ROOT, 'plugin/skills')).flatMap((name) =>
    [...read(`plugin/skills/${name}/SKILL.md`).matchAll(/`tidemark ([a-z-]+)/g)].map(([, command]) => command!),
  )
  expect(named).toEqual(expect.arrayContaining(['retro', 'observe', 'rules', 'back', 'stores', 'mutation', 'review']))
  expect(named.filter((c) => !(c in TOOLS) && !(c in COMMANDS))).toEqual([])
})

test('[M4] a hook of the plugin is silent and succeeds where tidemark is missing, or the project has hooks of its own', () => {
  const m = machine()
  const script = join(ROOT, 'plugin/hooks/run.sh')
  expect(statSync(script).mode & 0o111).not.toBe(0)
  const run = (PATH: string, cwd = m.path('project')) =>
    spawnSync('/bin/sh', [script, 'claude', 'Stop'], { cwd, env: { PATH }, input: '{}', encoding: 'utf8' })
  expect(run('/usr/bin:/bin')).toMatchObject({ status: 0, stdout: '', stderr: '' })
  writeFileSync(m.path('bin/tidemark'), '#!/bin/sh\necho "$@"; cat\n')
  const PATH = `${m.path('bin')}:/usr/bin:/bin`
  expect(run(PATH)).toMatchObject({ status: 0, stdout: 'hook claude Stop\n{}' })
  mkdirSync(m.path('project/src/deep'), { recursive: true })
  m.wire(['claude'])
  expect(run(PATH)).toMatchObject({ status: 0, stdout: '' })
  expect(run(PATH, m.path('project/src/deep'))).toMatchObject({ status: 0, stdout: '' })
  m.unwire()
  expect(run(PATH).stdout).toContain('hook claude Stop')
  expect(hookIn(sharedHook('claude', 'Stop'))).toEqual({ client: 'claude', event: 'Stop' })
})
