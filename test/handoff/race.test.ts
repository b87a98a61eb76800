import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { readEdits, refreshViews } from '../../src/handoff/views/index.ts'
import { openTestMemory } from '../helpers.ts'

let before: ((to: string) => void) | undefined

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const renameSync: typeof fs.renameSync = (from, to) => {
    before?.(String(to))
    fs.renameSync(from, to)
  }
  return { ...fs, renameSync }
})

test('[P4] a line that somebody adds in the moment in which the file is written anew is not lost', () => {
  const m = openTestMemory()
  const path = join(m.dir, '.tidemark', 'decisions.md')
  const act = (name: string) => {
    const told = readEdits(m.memory, m.project)
    m.act([['record-decision', { name, rationale: 'r' }]])
    return [...told, ...refreshViews(m.memory, m.project)].join()
  }
  act('one')
  appendFileSync(path, 'by hand | because\n')
  before = (to) => {
    if (to !== path) return
    before = undefined
    appendFileSync(path, 'at the last moment | because\n')
  }
  act('two')
  expect(before).toBeUndefined()
  act('three')
  const names = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(' | ')[1])
  expect(names.sort()).toEqual(['at the last moment', 'by hand', 'one', 'three', 'two'])
  expect(m.memory.reader.entity('decision:at-the-last-moment')?.name).toBe('at the last moment')
})
