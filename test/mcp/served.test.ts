import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createProject, type Project } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { BIN } from '../cli/run.ts'
import { httpClient, listening, tempDir } from './harness.ts'

const SECRET = 'zebra-crossing'

/** A project of this user, with something to find in it. */
function projectWith(dir: string, name: string, knows: string): Project {
  const { project } = createProject(dir, { name })
  const memory = openProject(project)
  memory.act([['record-decision', { name: knows, rationale: 'because of the striped horse' }]])
  memory.close()
  return project
}

/** A server of two projects, and a third one of the same user that it does not serve. */
async function serving() {
  const [one, two, other] = ['one', 'two', SECRET].map((name) => projectWith(join(tempDir(), name), name, `horse-${name}`)) as [Project, Project, Project] // biome-ignore format: one thought
  const server = await listening({ projectPath: one.root, projects: [two.root] })
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const post = async (tool: string, args: object) => {
    const response = await fetch(`${server.url}/api/tools/${tool}`, { method: 'POST', headers, body: JSON.stringify(args) }) // biome-ignore format: one thought
    return { status: response.status, text: await response.text() }
  }
  return { one, two, other, server, headers, post }
}

test('[T35] over HTTP a question reaches the served projects alone, however the others are named', async () => {
  const { one, two, other, post } = await serving()
  const all = await post('recall', { text: 'striped horse', 'all-projects': true, project: one.id })
  expect([all.status, all.text]).toEqual([200, expect.stringContaining('horse-two')])
  expect(all.text).not.toContain(SECRET)
  expect((await post('recall', { text: 'striped horse', in: 'two', project: one.id })).text).toContain('horse-two')
  for (const named of [other.id, other.root, `../../${other.root}`, two.id + ',' + other.id]) {
    const { status, text } = await post('recall', { text: 'striped horse', in: named, project: one.id })
    expect([named, status]).toEqual([named, 404])
    expect(text.replaceAll(JSON.stringify(named).slice(1, -1), '')).not.toContain(`horse-${SECRET}`)
  }
  writeFileSync(join(one.root, '.tidemark/config.json'), JSON.stringify({ id: one.id, recall: { projects: [other.root] } })) // biome-ignore format: one thought
  const configured = await post('recall', { text: 'striped horse', project: one.id })
  expect([configured.status, configured.text]).toEqual([200, expect.not.stringContaining(SECRET)])
})

test('[T35] no parameter of any tool, no route and no resource leads to a project that is not served', async () => {
  const { one, other, server, headers, post } = await serving()
  const { tools } = (await (await fetch(`${server.url}/api/tools`, { headers })).json()) as { tools: { name: string; params: Record<string, { type: string }> }[] } // biome-ignore format: one thought
  expect(tools.length).toBeGreaterThan(20)
  const tells = (text: string) => text.includes(`horse-${SECRET}`)
  for (const { name, params } of tools)
    for (const param of [...Object.keys(params), 'project', 'projectId'])
      for (const value of [other.root, other.id, SECRET, join(other.root, '.tidemark/decisions.md')]) {
        const { text } = await post(name, { project: one.id, text: 'striped horse', ref: 'x', [param]: value })
        expect([name, param, value, tells(text)]).toEqual([name, param, value, false])
      }
  for (const route of ['/mcp', '/api/events'])
    for (const name of ['project', 'projectId'])
      for (const value of [other.root, other.id, SECRET]) {
        if (route === '/mcp' && name === 'projectId') continue // no parameter of it
        const response = await fetch(`${server.url}${route}?${name}=${encodeURIComponent(value)}`, { headers })
        expect([route, value, response.status]).toEqual([route, value, 404])
        await response.body?.cancel()
      }
  const client = await httpClient(`${server.url}/mcp?project=${one.id}`, server.token)
  await expect(client.readResource({ uri: `tidemark://entity/decision:horse-${SECRET}` })).rejects.toThrow()
})

test('[T35] a served directory that is no project any more stands for none above it', async () => {
  const above = projectWith(tempDir(), SECRET, `horse-${SECRET}`)
  const inner = projectWith(join(above.root, 'inner'), 'inner', 'horse-inner')
  const server = await listening({ projectPath: inner.root })
  rmSync(join(inner.root, '.tidemark/config.json'))
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.url}/api/tools/list`, { method: 'POST', headers, body: '{"kind":"decision"}' })
  expect([response.status, await response.text()]).toEqual([404, expect.not.stringContaining(`horse-${SECRET}`)])
})

test('[T36] the token of serve is taken from a file, stdin or the environment, never from the arguments', () => {
  const dir = tempDir()
  createProject(dir)
  const run = (args: string[], input = '') =>
    spawnSync(process.execPath, [BIN, 'serve', '--host', '203.0.113.1', ...args], { cwd: dir, encoding: 'utf8', input })
  const shown = run(['--token', 'a-token-that-all-can-see'])
  expect([shown.status, shown.stderr]).toEqual([2, expect.stringMatching(/can read the arguments.*\n.*--token-file/)])
  expect(shown.stderr + shown.stdout).not.toContain('all-can-see')
  const file = join(dirname(dir), 'tidemark-short-token')
  writeFileSync(file, 'short\n', { mode: 0o600 })
  expect(run(['--token-file', file]).stderr).toContain('at least 16 characters')
  rmSync(file)
  expect(run(['--token-file', file]).stderr).toContain('cannot be read')
  expect(run(['--token-file', '-'], 'x'.repeat(20)).stderr).toContain('cannot listen') // no address of this machine
})
