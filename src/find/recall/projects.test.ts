import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { userError } from '../../../test/helpers.ts'
import { createProject, findProject, type Project } from '../../engine/store/project.ts'
import { rememberProject } from '../../engine/store/project-list.ts'
import { openProject } from '../../project/open.ts'
import { recallConfig } from './config.ts'
import { forgetProject, knownProjects, otherProjects } from './projects.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tidemark-projects-'))
  const before = process.env.TIDEMARK_STATE
  process.env.TIDEMARK_STATE = join(dir, 'state')
  onTestFinished(() => {
    process.env.TIDEMARK_STATE = before
    rmSync(dir, { recursive: true, force: true })
  })
})

function make(path: string, options: { name?: string; persistencePath?: string } = {}): Project {
  const { project } = createProject(join(dir, path), options)
  openProject(project).close()
  return project
}
const names = (projects: readonly Project[]) => projects.map((p) => p.name)

describe('the projects of a user', () => {
  test('a project is known from its first opening on, until it is forgotten or gone', () => {
    const a = make('a')
    make('b', { name: 'beta' })
    expect(names(knownProjects())).toEqual(['a', 'beta'])
    const files = () =>
      readdirSync(join(dir, 'state', 'projects')).map((f) => readFileSync(join(dir, 'state', 'projects', f), 'utf8'))
    expect(files()).toHaveLength(2)
    rememberProject(a)
    expect(files()).toHaveLength(2)
    forgetProject(a)
    expect(names(knownProjects())).toEqual(['beta'])
    openProject(a).close() // opened again, not for the first time: nothing is looked at, nothing written
    expect(names(knownProjects())).toEqual(['beta'])
    rmSync(join(dir, 'b'), { recursive: true })
    expect(knownProjects()).toEqual([])
    expect(files()).toHaveLength(0)
  })

  test('a project that was moved, one without a store and a broken entry are not told', () => {
    make('a')
    make('b')
    renameSync(join(dir, 'a'), join(dir, 'moved'))
    rmSync(join(dir, 'b', '.tidemark', 'store'), { recursive: true })
    writeFileSync(join(dir, 'state', 'projects', 'broken.json'), '{"root":')
    expect(knownProjects()).toEqual([])
    expect(existsSync(join(dir, 'state', 'projects', 'broken.json'))).toBe(false)
  })

  test('a list that cannot be kept keeps no memory from opening', () => {
    mkdirSync(join(dir, 'state'))
    writeFileSync(join(dir, 'state', 'projects'), 'a file where the directory should be')
    make('a')
    rmSync(join(dir, 'state', 'projects'))
    expect(knownProjects()).toEqual([])
  })

  test('[H1] others are named by path, id or name; the one that asks is never among them', () => {
    const [here, b, c] = [make('here'), make('b', { name: 'Beta' }), make('deep/c')]
    expect(names(otherProjects(here, 'all'))).toEqual(['Beta', 'c'])
    expect(otherProjects(here, [b.id, '../deep/c', 'beta', join(dir, 'b')])).toEqual([b, c])
    expect(otherProjects(here, ['here', '.'])).toEqual([])
    forgetProject(c)
    expect(names(otherProjects(here, 'all'))).toEqual(['Beta'])
    expect(otherProjects(here, ['../deep/c'])).toMatchObject([{ id: c.id }])
  })

  test('[H1] what is unknown or ambiguous is refused, all at once, with what is near', () => {
    const here = make('here')
    make('one/web')
    make('two/web')
    make('backend')
    const ambiguous = userError(() => otherProjects(here, ['web']))
    expect(ambiguous).toMatchObject({ code: 'unknown-project' })
    expect(ambiguous.message).toContain(join(dir, 'one/web'))
    expect(ambiguous.message).toContain(join(dir, 'two/web'))
    expect(userError(() => otherProjects(here, ['bakend'])).hint).toBe(
      `did you mean backend (${join(dir, 'backend')})?`,
    )
    const both = userError(() => otherProjects(here, ['bakend', '/no/such/place', '']))
    expect(both.details.problems).toHaveLength(3)
    mkdirSync(join(dir, 'new', '.tidemark'), { recursive: true })
    writeFileSync(join(dir, 'new', '.tidemark', 'config.json'), '{"id":"abcdef123456","created":"2026-11-21"}')
    expect(userError(() => otherProjects(here, ['../new'])).message).toContain('has no store')
    expect(existsSync(join(dir, 'new', '.tidemark', 'store'))).toBe(false)
  })

  test('a store that lies elsewhere is found again, and the store of this process is not taken for another’s', () => {
    const here = make('here')
    const a = make('a', { persistencePath: join(dir, 'elsewhere') })
    const kept = findProject(a.root, join(dir, 'elsewhere'))
    rememberProject(kept)
    openProject(kept).close()
    process.env.TIDEMARK_STORE = join(dir, 'mine')
    onTestFinished(() => void delete process.env.TIDEMARK_STORE)
    expect(otherProjects(here, ['a']).map((p) => p.storePath)).toEqual([join(dir, 'elsewhere', 'store.db')])
  })
})

test('a project says what it wants of recall in its configuration', () => {
  const { project } = createProject(join(dir, 'p'))
  expect(project.recall).toBe(undefined)
  const path = join(dir, 'p', '.tidemark', 'config.json')
  const config = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...config, recall: { limit: 5, weights: { sibling: 0.9 } } }))
  const layer = { from: '.tidemark/config.json: recall', value: findProject(join(dir, 'p')).recall }
  expect(recallConfig([layer], [])).toMatchObject({ limit: 5, weights: { sibling: 0.9, task: 1 } })
})
