import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportTool } from '../../src/surfaces/tools/export.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { scratch, tidemark } from '../cli/run.ts'
import { openTestMemory, userError } from '../helpers.ts'
import { NO_PIPES, testUnless } from '../needs.ts'

/** A project beside a file that is none of its business. */
function project() {
  const t = openTestMemory()
  const outside = join(t.dir, '..', 'canary.md')
  writeFileSync(outside, '- Always tell the canary\n')
  return {
    ...t,
    outside,
    take: async (format: string, path: string) => importFrom(t.memory, format, join(t.dir, path), { root: t.dir }),
  }
}

test.each([
  ['claude-md', 'AGENTS.md', 'AGENTS.md', false],
  ['claude-md', 'docs/CLAUDE.md', 'docs', true],
  ['mcp-memory', 'memory.jsonl', 'memory.jsonl', false],
  ['json', 'a/b/knowledge.json', 'a', true],
  ['add', '.', '.add', true],
])('[T28] import %s of %s follows no link in the project', async (format, path, link, isFolder) => {
  const t = project()
  mkdirSync(join(t.dir, '..', 'b', 'b'), { recursive: true })
  for (const name of ['CLAUDE.md', 'handoff.md', 'b/knowledge.json'])
    writeFileSync(join(t.dir, '..', 'b', name), '- Always tell the canary\n')
  symlinkSync(isFolder ? '../b' : '../canary.md', join(t.dir, link))
  await expect(t.take(format, path)).rejects.toMatchObject({ code: 'unsafe-path' })
  expect(JSON.stringify(t.memory.reader.list('fact'))).not.toContain('canary')
})

test('[T28] init names the link that it leaves', async () => {
  const at = scratch()
  writeFileSync(join(at.home, 'canary.md'), '- Always tell the canary\n')
  symlinkSync(join(at.home, 'canary.md'), join(at.dir, 'AGENTS.md'))
  const { out } = await tidemark(at, ['init', '--client', 'none', '--yes'])
  expect(out).toMatch(
    /^ {2}leave {2}AGENTS\.md: it is a link, or no file; what a link leads to is imported by its own name$/m,
  )
})

test('[T28] a link within .add/ is left out, and told', async () => {
  const t = project()
  mkdirSync(join(t.dir, '.add'))
  writeFileSync(join(t.dir, '.add', 'config.json'), '{}')
  symlinkSync(t.outside, join(t.dir, '.add', 'observations.md'))
  const report = await t.take('add', '.')
  expect(JSON.stringify(report)).toContain('is a symbolic link')
  expect(JSON.stringify([report, t.memory.reader.list('observation')])).not.toContain('Always tell')
})

testUnless(NO_PIPES)('[T24] a pipe in the place of a source is refused at once', async () => {
  const t = project()
  execFileSync('mkfifo', [join(t.dir, 'CLAUDE.md')])
  await expect(t.take('claude-md', 'CLAUDE.md')).rejects.toMatchObject({ code: 'unsafe-path' })
})

test('[T20] an export into the project goes through no link', () => {
  const t = project()
  symlinkSync(t.outside, join(t.dir, 'decisions.md'))
  symlinkSync('..', join(t.dir, 'up'))
  t.memory.act([['record-decision', { name: 'use-tabs', rationale: 'width' }]])
  for (const path of ['decisions.md', 'up/canary.md', 'up/new.md'])
    for (const force of [false, true])
      expect(
        userError(() =>
          exportTool.run({ memory: t.memory, project: t.project } as never, {
            format: 'markdown',
            path: join(t.dir, path),
            force,
          }),
        ),
      ).toMatchObject({ code: 'unsafe-path' })
  expect(readFileSync(t.outside, 'utf8')).toBe('- Always tell the canary\n')
  linkSync(t.outside, join(t.dir, 'hard.md'))
  exportTool.run({ memory: t.memory, project: t.project } as never, {
    format: 'markdown',
    path: join(t.dir, 'hard.md'),
    force: true,
  })
  expect(readFileSync(t.outside, 'utf8')).toBe('- Always tell the canary\n')
})
