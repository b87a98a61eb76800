import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BIN, inProcess, scratch } from './run.ts'

const offered = async (at: ReturnType<typeof scratch>, ...words: string[]) =>
  (await inProcess(at, ['completion', 'words', '--', ...words])).out.split('\n').filter((line) => line !== '')

test('a shell is offered commands, options, choices and the names of what is recorded', async () => {
  const at = scratch()
  expect(await offered(at, 'show', 'use')).toEqual([]) // no project here
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  const actions = [
    ['record-decision', { name: 'Use SQLite' }],
    ['record-decision', { name: 'Both' }],
    ['record-pattern', { name: 'Both' }],
  ]
  expect((await inProcess(at, ['act', JSON.stringify(actions)])).code).toBe(0)
  expect(await offered(at, 'un')).toEqual(['undo', 'uninstall'])
  expect(await offered(at, '')).toEqual(expect.arrayContaining(['show', 'init', 'completion']))
  expect(await offered(at, 'help', 'unin')).toEqual(['uninstall'])
  expect(await offered(at, 'uninstall', '--d')).toEqual(['--delete-knowledge', '--dry-run'])
  expect(await offered(at, 'list', '--standing', 'p')).toEqual(['proposed'])
  expect(await offered(at, 'session', 'st')).toEqual(expect.arrayContaining(['start']))
  expect(await offered(at, 'completion', '')).toEqual(['bash', 'fish', 'zsh'])
  expect(await offered(at, 'show', 'us')).toEqual(['use-sqlite'])
  expect(await offered(at, 'show', '')).toEqual(['decision:both', 'pattern:both', 'use-sqlite'])
  expect(await offered(at, '--project', 'x', 'nonsense')).toEqual([])
  expect(await offered(at, 'edit', 'use')).toEqual(['use-sqlite'])
  expect(await offered(at, 'supersede', 'use-sqlite', 'decision:')).toEqual(['decision:both', 'decision:use-sqlite'])
})

test('bash completes with the script', async () => {
  const at = scratch()
  mkdirSync(join(at.home, 'bin'))
  const bin = join(at.home, 'bin', 'tidemark')
  writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`)
  chmodSync(bin, 0o755)
  const ask = `eval "$(tidemark completion bash)"
COMP_WORDS=(tidemark uninstall --d); COMP_CWORD=2; _tidemark; printf '%s ' "\${COMPREPLY[@]}"`
  const env = { ...at.env, PATH: `${join(at.home, 'bin')}:${at.env.PATH}` }
  const ran = spawnSync('bash', ['-c', ask], { cwd: at.dir, env, encoding: 'utf8' })
  expect([ran.stdout, ran.stderr]).toEqual(['--delete-knowledge --dry-run ', ''])
})

test('a shell that is not known is wrong use, and the known ones are named', async () => {
  const at = scratch()
  expect(await inProcess(at, ['completion', 'tcsh'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('give bash, zsh, fish'),
  })
  for (const shell of ['zsh', 'fish']) expect((await inProcess(at, ['completion', shell])).out).toContain('tidemark')
})
