import { expect, test } from 'vitest'
import { findProject } from '../../src/engine/store/project.ts'
import { tidemark } from '../cli/run.ts'
import { openTestMemory, userError } from '../helpers.ts'
import { call, cleanEnv, ERAS, httpClient, listening, stdioClient, tempProject } from '../mcp/harness.ts'

const record = (name: string) => [['record-decision', { name, rationale: 'r' }]]

test('[A9] a batch says its own project by name or id, on every route, and a foreign one is refused everywhere', async () => {
  const dir = tempProject('mine')
  const { id } = findProject(dir)
  const server = await listening({ projectPath: dir })
  const stdio = await Promise.all(ERAS.map((era) => stdioClient(dir, { era })))
  const overHttp = await httpClient(`${server.url}/mcp`, server.token)
  const routes: { [name: string]: (batch: { [key: string]: unknown }) => Promise<string | false> } = {
    'command line': async (batch) => {
      const { code, out } = await tidemark({ dir, env: cleanEnv() }, ['act', JSON.stringify(batch)])
      return code === 0 && out
    },
    'HTTP API': async (batch) => {
      const headers = { Authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      const body = JSON.stringify(batch)
      const answer = await fetch(`${server.url}/api/tools/act`, { method: 'POST', headers, body })
      return answer.ok && answer.text()
    },
    library: async (batch) => {
      try {
        return JSON.stringify(server.memory.act(batch))
      } catch {
        return false
      }
    },
  }
  for (const [i, client] of [...stdio, overHttp].entries()) {
    const taken = async (args: { [key: string]: unknown }) => {
      const { isError, text } = await call(client, 'act', args)
      return !isError && text
    }
    routes[`MCP ${i}`] = taken
    routes[`MCP ${i}, the batch as actions`] = (batch) => taken({ actions: batch })
  }
  for (const [route, send] of Object.entries(routes))
    for (const key of ['projectId', 'project']) {
      const name = `${route}, ${key}`
      expect(await send({ [key]: 'mine', actions: record(name) }), name).toBeTypeOf('string')
      expect(await send({ [key]: id, actions: record(name) }), name).toBeTypeOf('string')
      for (const foreign of ['elsewhere', '0123456789abcdef0123'])
        expect(await send({ [key]: foreign, actions: record(`foreign ${name}`) }), `${name} ${foreign}`).toBe(false)
    }
  expect(server.memory.reader.list('decision').filter((d) => d.name.startsWith('foreign'))).toEqual([])
})

test('[A9] two projects named in one batch are both looked at', () => {
  const m = openTestMemory({ name: 'mine' })
  const batch = { projectId: 'mine', project: 'elsewhere', actions: record('d') }
  expect(userError(() => m.act(batch))).toMatchObject({
    code: 'unknown-project',
    hint: expect.stringContaining('mine'),
  })
})
