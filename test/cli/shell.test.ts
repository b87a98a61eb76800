import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shellWord } from '../../src/model/shell.ts'
import { scratch, tidemark } from './run.ts'

const ODD = [
  `x; touch pwned`,
  `$(touch pwned)`,
  '`touch pwned`',
  `'; touch pwned; '`,
  `a "b" \\c`,
  `-rf`,
  `~`,
  `*`,
  `é 漢`,
]

test('[T14] the shell sees one word, whatever stands in it', () => {
  for (const word of ODD)
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8', cwd: '/' })).toBe(word)
})

test('[T14] what `session start` prints for a shell names the session and runs nothing', async () => {
  const at = scratch()
  await tidemark(at, ['init', '--yes'])
  for (const id of ODD.filter((word) => !word.startsWith('-'))) {
    const { code, out } = await tidemark(at, ['session', 'start', id])
    expect(code).toBe(0)
    const line = out.split('\n').find((l) => l.includes('export TIDEMARK_SESSION='))!
    const said = execFileSync('sh', ['-c', `${line}; printf %s "$TIDEMARK_SESSION"`], { encoding: 'utf8', cwd: at.dir })
    expect(said).toBe(id)
    expect(existsSync(join(at.dir, 'pwned'))).toBe(false)
  }
})

test('[T14] a session has no id that a terminal acts on or that shows as nothing', async () => {
  const at = scratch()
  await tidemark(at, ['init', '--yes'])
  for (const id of ['\x1b[31mred', 'a\u202eb', 'a\u200bb', 'a\u2028b'])
    expect((await tidemark(at, ['session', 'start', id])).code).toBe(1)
})
