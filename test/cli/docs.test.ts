import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliPage } from '../../scripts/docs-cli.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { RELATIONS } from '../../src/model/relations.ts'
import { COMMANDS } from '../../src/surfaces/cli/commands/index.ts'
import { listing } from '../../src/surfaces/cli/help.ts'
import { TOOLS } from '../../src/surfaces/tools/index.ts'

test('docs/cli.md says what --help says; `node scripts/docs-cli.ts` writes it', async () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8')).toBe(await cliPage())
})

test('every command and tool stands in the overview', () => {
  const names = [...Object.keys(COMMANDS), ...Object.keys(TOOLS)]
  const listed = listing().flatMap(([, some]) => some)
  expect([...listed, 'open_questions'].sort()).toEqual(names.sort())
})

test('the README counts kinds and relations as they are', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  expect(readme).toContain(`${KINDS.filter((k) => !('internal' in k)).length} kinds`)
  expect(readme).toMatch(new RegExp(`and ${RELATIONS.length}\\s+relations`))
})
