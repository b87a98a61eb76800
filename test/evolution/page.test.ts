import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, inProcess, onTerminal, project } from '../cli/run.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/evolution.md'), 'utf8')
const blockOf = (kind: string): string => new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'm').exec(PAGE)![1]!
const SKILL = '.claude/skills/deploy/SKILL.md'

/** What differs from run to run. */
const plain = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\d(?: \d\d:\d\d)?/g, 'DATE')
    .split('\n')
    .map((l) => l.trimEnd())
    .join('\n')

test('[P2] [P3] the example of docs/evolution.md is what happens: observed, proposed, approved, improved', async () => {
  const { at } = await project()
  files(at.dir, { [SKILL]: blockOf('markdown') })
  const told: string[] = []
  for (const part of blockOf('console').split(/^\$ /m).slice(1)) {
    const [command = '', ...said] = part.trimEnd().split('\n')
    const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2]!).slice(1)
    const asks = said.some((line) => line.includes('[y/N] y'))
    const ran = asks ? await onTerminal(at, args, 'y') : await inProcess(at, args)
    expect([ran.code, ran.err], command).toEqual([0, ''])
    told.push(`$ ${command}\n${ran.out.trimEnd()}`)
  }
  expect(plain(`${told.join('\n')}\n`)).toBe(plain(blockOf('console')))
})
