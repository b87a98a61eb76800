import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliPage } from '../../scripts/docs-cli.ts'
import { GROUPS } from '../../src/surfaces/cli-help.ts'
import { COMMANDS } from '../../src/surfaces/command.ts'
import { TOOLS } from '../../src/tools/index.ts'

test('docs/cli.md says what --help says; `node scripts/docs-cli.ts` writes it', async () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8')).toBe(await cliPage())
})

test('every command and tool stands in the overview', () => {
  expect(GROUPS.flatMap(([, names]) => names).sort()).toEqual([...Object.keys(COMMANDS), ...Object.keys(TOOLS)].sort())
})
