import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProject, findProject } from '../../src/engine/store/project.ts'
import { Projects, type ProjectsOptions } from '../../src/surfaces/mcp/projects.ts'
import { tempDir, tempProject } from './harness.ts'

function projectsOf(options: ProjectsOptions): Projects {
  const projects = new Projects(options)
  onTestFinished(() => projects.close())
  return projects
}

test('a project is found by id, name, root or a path inside it; one that has gone does not take the others with it', () => {
  const [one, two] = [tempProject('one'), tempProject('two')]
  mkdirSync(join(two, 'deep', 'down'), { recursive: true })
  const projects = projectsOf({ roots: [one, two] })
  const id = findProject(two).id
  for (const named of [id, 'two', two, join(two, 'deep', 'down')]) expect(projects.find(named).id, named).toBe(id)
  expect(projects.find(`../${basename(two)}`).id).toBe(id)
  expect(() => projects.find()).toThrow(/several projects/)
  for (const named of ['three', `${two}x`, tempProject('other'), '/'])
    expect(() => projects.find(named), named).toThrow(/not served here/)
  rmSync(one, { recursive: true })
  expect(projects.find().id).toBe(id)
  rmSync(two, { recursive: true })
  expect(() => projects.find()).toThrow(/no directory/)
})

test('the worktrees of a repository share their knowledge, and each writes under its own branch', async () => {
  const main = tempDir()
  const git = (...args: string[]) => execFileSync('git', ['-C', main, ...args], { stdio: 'ignore' })
  git('init', '-b', 'main')
  git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--allow-empty', '-m', 'first')
  createProject(main)
  const tree = join(tempDir(), 'tree')
  git('worktree', 'add', '-b', 'side', tree)
  const projects = projectsOf({ roots: [main], anyPath: true })
  const here = await projects.open()
  const there = await projects.open(tree)
  expect(there.project).toMatchObject({ id: here.project.id, root: tree })
  there.memory.act([['record-decision', { name: 'x', rationale: 'y' }]])
  expect(here.memory.history('decision:x')[0]?.author).toMatchObject({ branch: 'side' })
})
