import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../src/surfaces/http/serve.ts'
import { initProject, scratch } from '../cli/run.ts'

interface Described {
  name: string
  readOnly: boolean
  params: Record<string, { required?: boolean }>
}

test('[U6] the API describes itself: every tool answers as it says, and what a tool must be given is named', async () => {
  const at = scratch()
  initProject(at)
  const server = await serve({ project: at.dir, log: () => {} })
  onTestFinished(() => server.close())
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const get = async (path: string) => (await fetch(server.url + path, { headers })).json()
  const { tools } = (await get('/api/tools')) as { tools: Described[] }
  let answered = 0
  for (const { name, readOnly, params } of tools) {
    const call = async (args: object) => {
      const response = await fetch(`${server.url}/api/tools/${name}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(args),
      })
      return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } }
    }
    const wrong = await call({ 'no-such-parameter': 1 })
    expect([name, wrong.status, wrong.body.error?.code]).toEqual([name, 400, 'bad-arguments'])
    const required = Object.keys(params).filter((param) => params[param]!.required)
    for (const param of required) expect(wrong.body.error?.message).toContain(`${param}: missing`)
    if (required.length > 0 || !readOnly) continue
    const { status, body } = await call({})
    expect([name, status, Object.keys(body)]).toEqual([name, 200, ['text', 'json']])
    answered++
  }
  expect(answered).toBeGreaterThan(10)
})
