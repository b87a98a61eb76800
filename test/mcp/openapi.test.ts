import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../src/surfaces/http/serve.ts'
import { initProject, scratch } from '../cli/run.ts'

interface Operation {
  operationId: string
  tags?: string[]
  requestBody?: { content: { 'application/json': { schema: { properties: object; required?: string[] } } } }
}

test('[U6] the API describes itself: every path answers as it says, and what a tool must be given is named', async () => {
  const at = scratch()
  initProject(at)
  const server = await serve({ project: at.dir, log: () => {} })
  onTestFinished(() => server.close())
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const get = async (path: string) => (await fetch(server.url + path, { headers })).json()
  const { openapi, paths } = (await get('/api/openapi.json')) as { openapi: string; paths: Record<string, { post?: Operation }> } // biome-ignore format: one type
  expect(openapi).toBe('3.1.0')
  const { tools } = (await get('/api/tools')) as { tools: { name: string }[] }
  const described = Object.values(paths).flatMap((p) => p.post?.operationId ?? [])
  expect(described).toEqual(tools.map((t) => t.name))
  let answered = 0
  for (const [path, { post }] of Object.entries(paths).filter(([, p]) => p.post)) {
    const { required, properties } = post!.requestBody!.content['application/json'].schema
    const call = async (args: object) => {
      const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(args) })
      return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } }
    }
    const wrong = await call({ 'no-such-parameter': 1 })
    expect([path, wrong.status, wrong.body.error?.code]).toEqual([path, 400, 'bad-arguments'])
    for (const name of required ?? []) {
      expect(Object.hasOwn(properties, name)).toBe(true)
      expect(wrong.body.error?.message).toContain(`${name}: missing`)
    }
    if (required || !post!.tags!.includes('read')) continue
    const { status, body } = await call({})
    expect([path, status, Object.keys(body)]).toEqual([path, 200, ['text', 'json']])
    answered++
  }
  expect(answered).toBeGreaterThan(10)
  for (const path of ['/api/tools', '/healthz']) expect(Object.hasOwn(paths, path)).toBe(true)
})
