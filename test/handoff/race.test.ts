import fs, { appendFileSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { openTestMemory } from '../helpers.ts'

/** Has something happen just before a file takes its place. */
function beforeRename(happens: (to: string) => void): void {
  const { renameSync } = fs
  const watched = vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    happens(String(to))
    renameSync(from, to)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    watched.mockRestore()
    syncBuiltinESMExports()
  })
}

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
  let isWritten = false
  beforeRename((to) => {
    if (to !== path || isWritten) return
    isWritten = true
    appendFileSync(path, 'at the last moment | because\n')
  })
  act('two')
  expect(isWritten).toBe(true)
  act('three')
  const names = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(' | ')[1])
  expect(names.sort()).toEqual(['at the last moment', 'by hand', 'one', 'three', 'two'])
  expect(m.memory.reader.entity('decision:at-the-last-moment')?.name).toBe('at the last moment')
})
