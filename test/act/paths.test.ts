import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Memory } from '../../src/engine/memory.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { RELATIONS } from '../../src/model/relations.ts'
import { VERBS } from '../../src/project/verbs/index.ts'
import { openTestMemory } from '../helpers.ts'

test('[X7] a path under the root is the same file however it is written, on every route', () => {
  const m = openTestMemory()
  const linked = `${m.dir}-linked`
  symlinkSync(m.dir, linked)
  const at = (root: string) => join(root, 'src/auth.ts')
  m.act([['record-file-understanding', { path: 'src/auth.ts', summary: 'checks tokens' }]])
  for (const root of [m.dir, linked]) {
    m.act([
      ['record-file-understanding', { path: at(root), relatedFiles: [join(root, 'src/db.ts')] }],
      ['record-principle', { name: 'p', locations: [`${at(root)}:12`] }],
      ['record-pattern', { name: 'q', location: `${at(root)}:3` }],
      ['link-entities', { from: 'p', to: at(root), type: 'relates-to' }],
      ['claim', { paths: [at(root), join(root, 'src/**')] }],
    ])
    expect(m.get(at(root))?.id).toBe(m.get('src/auth.ts')!.id)
    expect(m.get(`file:${at(root)}`)?.id).toBe(m.get('src/auth.ts')!.id)
    expect(m.discover(`(@ (get-file-understanding "${at(root)}") :summary)`)).toEqual(['"checks tokens"'])
    expect(m.discover(`(get-related-files "${join(root, 'src/db.ts')}")`)).toEqual(['("src/auth.ts")'])
    m.act([['release', { paths: [at(root)] }]])
    m.act([['rename', { ref: 'src/auth.ts', name: join(root, 'src/login.ts') }]])
    expect(m.memory.reader.list('file').map((f) => f.name)).toEqual(['src/login.ts'])
    m.act([['rename', { ref: 'src/login.ts', name: 'src/auth.ts' }]])
  }
  m.act([['delete-file', { path: at(m.dir) }]])
  expect(m.get('src/auth.ts')?.live).toBe(false)
  expect(m.get('p')!.fields.locations).toEqual(['src/auth.ts:12'])
  expect(m.rows()).not.toContain(m.dir)
})

test('[X7] a file that was kept under its absolute path is found by the relative one, and goes by that once it is recorded again', () => {
  const m = openTestMemory()
  const old = (path: string) => join(m.dir, path)
  // as it was when nobody said where the files lie
  const before = new Memory({
    path: m.project.storePath,
    projectId: m.project.id,
    kinds: KINDS,
    relations: RELATIONS,
    verbs: VERBS,
  })
  onTestFinished(() => before.close())
  for (const path of ['src/auth.ts', 'src/db.ts', 'src/both.ts'])
    before.act([['record-file-understanding', { path: old(path), summary: `of ${path}` }]])
  m.act([['record-file-understanding', { path: 'src/db.ts', concepts: ['sql'] }]])
  expect(m.get('src/auth.ts')!.fields.summary).toBe('of src/auth.ts')
  expect(m.get(old('src/auth.ts'))!.name).toBe(old('src/auth.ts'))
  expect(m.discover('(@ (get-file-understanding "src/auth.ts") :summary)')).toEqual(['"of src/auth.ts"'])
  expect(m.get('src/db.ts')).toMatchObject({
    name: 'src/db.ts',
    fields: { summary: 'of src/db.ts', concepts: ['sql'] },
  })
  expect(m.get(old('src/db.ts'))!.id).toBe(m.get('src/db.ts')!.id)
  m.act([['record-file-understanding', { path: old('src/db.ts'), concepts: ['wal'] }]])
  m.act([['link-entities', { from: 'src/auth.ts', to: 'src/db.ts', type: 'relates-to' }]])
  expect(m.memory.reader.list('file')).toHaveLength(3)
  expect(m.get('src/db.ts')!.fields.concepts).toEqual(['sql', 'wal'])
})

test('[X7] a path outside of the project is refused, and the root is named', () => {
  const m = openTestMemory()
  for (const path of ['/etc/passwd', '../other/a.ts', `${m.dir}-other/a.ts`, 'C:\\work\\a.ts', `${m.dir}/../x.ts`])
    for (const action of [
      ['record-file-understanding', { path }],
      ['record-decision', { name: 'd', locations: [path] }],
      ['record-decision', { name: 'd', locations: { set: [path] } }],
      ['record-pattern', { name: 'd', location: path }],
      ['claim', { paths: [path] }],
    ]) {
      const [problem] = m.refused([action])
      expect(problem, JSON.stringify(action)).toMatchObject({ message: 'outside of the project', received: path })
      expect(problem!.accepted).toContain(m.project.root)
    }
})
