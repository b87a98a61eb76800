import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProject } from '../../src/engine/store/project.ts'
import { openPrompts } from '../../src/session/hooks/kept-prompts.ts'
import { serve } from '../../src/surfaces/http/serve.ts'
import { BIN, git, initProject, scratch } from '../cli/run.ts'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { demoProject } from './demo.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function serving(isPersons = true, fill: (dir: string) => unknown = (dir) => initProject({ dir })) {
  const at = scratch()
  git(at.dir, 'init', '-q')
  fill(at.dir)
  const server = await serve({ project: at.dir, isPersons, log: () => {} })
  onTestFinished(() => server.close())
  return { at, ...server }
}

type Server = Awaited<ReturnType<typeof serving>>

const tokenOf = ({ link }: Server): string => new URL(link!()).hash.slice('#open='.length)

const open = ({ url }: Server, token: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/dashboard/open`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify({ token }),
  })

/** What a browser shows that was let in. */
async function enter(server: Server): Promise<{ cookie: string; 'x-tidemark-page': string }> {
  const response = await open(server, tokenOf(server))
  const { page } = (await response.json()) as { page: string }
  return { cookie: response.headers.get('set-cookie')!.split(';')[0]!, 'x-tidemark-page': page }
}

const callTool = (url: string, tool: string, args: object, headers: Record<string, string>) =>
  fetch(`${url}/api/tools/${tool}`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(args),
  })

test('[R1] [T100] what was typed is read on the page of the person alone', async () => {
  for (const isPersons of [true, false]) {
    const server = await serving(isPersons)
    const project = findProject(server.at.dir)
    {
      using prompts = openPrompts(project, { create: true })
      prompts!.add({ at: Date.now(), session: 's', client: 'claude', text: 'Prices are whole cents everywhere' })
    }
    const asked = async (tool: string, args: object, headers: Record<string, string>) =>
      (await callTool(server.url, tool, { ...args, prompts: true }, headers)).text()
    for (const [tool, args] of [
      ['recall', { text: 'whole cents' }],
      ['history', {}],
    ] as const) {
      const onPage = await asked(tool, args, await enter(server))
      expect([tool, isPersons, onPage.includes('everywhere')]).toEqual([tool, isPersons, isPersons])
      expect(await asked(tool, args, { authorization: `Bearer ${server.token}` })).not.toContain('everywhere')
    }
  }
})

test('[T100] a link opens one browser once; the cookie is for no script and no other site, and the key is needed with it', async () => {
  const server = await serving()
  const token = tokenOf(server)
  const first = await open(server, token)
  expect(first.headers.get('set-cookie')).toMatch(
    /^tidemark-\d+=[\w-]{43}; Path=\/api; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  expect(first.headers.get('cache-control')).toBe('no-store')
  for (const wrong of [token, `${token}x`, '', server.token]) expect((await open(server, wrong)).status).toBe(401)
  const key = { 'x-tidemark-page': ((await first.json()) as { page: string }).page }
  const cookie = { cookie: first.headers.get('set-cookie')!.split(';')[0]! }
  const status = async (headers: Record<string, string>) => (await callTool(server.url, 'status', {}, headers)).status
  expect(await status({ ...cookie, ...key })).toBe(200)
  for (const part of [cookie, key, {}]) expect(await status(part)).toBe(401)
  expect(await status({ ...cookie, 'x-tidemark-page': server.token })).toBe(401)
  const other = await enter(server)
  expect(await status({ ...cookie, 'x-tidemark-page': other['x-tidemark-page'] })).toBe(401)
  // the pages themselves hold nothing; agents' doors take no cookie
  const page = await fetch(`${server.url}/knowledge`)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  expect(await page.text()).not.toContain(server.token)
  expect(
    (await fetch(`${server.url}/mcp`, { method: 'POST', headers: { ...JSON_TYPE, ...cookie, ...key } })).status,
  ).toBe(401)
})

/** Starts the command on a terminal of its own, or in a pipe, and gives the link that it prints. */
async function started(onTerminal: boolean, env: NodeJS.ProcessEnv = {}) {
  const at = scratch()
  git(at.dir, 'init', '-q')
  initProject(at)
  const command = [process.execPath, BIN, 'ui', '--no-open']
  const [file, args] = onTerminal
    ? ['script', ['-qfec', command.map((a) => `'${a}'`).join(' '), '/dev/null']]
    : [command[0]!, command.slice(1)]
  const child = spawn(file, args, {
    cwd: at.dir,
    env: { ...at.env, SHELL: '/bin/sh', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill())
  let out = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    out += chunk
    if (out.includes('Ctrl-C')) break
  }
  const { origin, hash } = new URL(/http:\/\/127\.0\.0\.1:\d+\/#open=[\w-]+/.exec(out)![0])
  const opened = await fetch(`${origin}/api/dashboard/open`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ token: hash.slice('#open='.length) }),
  })
  const { page } = (await opened.json()) as { page: string }
  const headers = { cookie: opened.headers.get('set-cookie')!.split(';')[0]!, 'x-tidemark-page': page }
  return { out, here: (await (await fetch(`${origin}/api/dashboard`, { headers })).json()) as { person: boolean } }
}

testUnless(NO_TERMINAL)(
  "[T102] [T44] tidemark ui: on a terminal the page is the person's; in a pipe, or with the mark of an agent, it is not",
  async () => {
    const [person, piped, agents] = await Promise.all([
      started(true),
      started(false),
      started(true, { CLAUDECODE: '1' }),
    ])
    expect([person.here.person, piped.here.person, agents.here.person]).toEqual([true, false, false])
    expect(person.out).not.toContain('approves nothing')
    for (const { out } of [piped, agents]) expect(out).toContain('shows everything, and approves nothing')
  },
)

test('[T101] a foreign Host or Origin, also another port of this machine, gets nothing with the cookie and the key', async () => {
  const server = await serving()
  const known = await enter(server)
  const { port } = new URL(server.url)
  const status = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(
        `${server.url}/api/tools/status`,
        { method: 'POST', headers: { ...JSON_TYPE, ...known, ...headers } },
        (r) => resolve(r.resume().statusCode!),
      )
      sent.on('error', reject).end('{}')
    })
  expect(await status({ origin: server.url, 'sec-fetch-site': 'same-origin' })).toBe(200)
  for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`])
    expect(await status({ host }), host).toBe(403)
  for (const origin of ['http://evil.example', 'null', 'file://']) expect(await status({ origin }), origin).toBe(403)
  for (const origin of ['http://127.0.0.1:1', `http://localhost:${port}`, `https://127.0.0.1:${port}`])
    expect(await status({ origin }), origin).toBe(401)
  for (const site of ['same-site', 'cross-site', 'none'])
    expect(await status({ 'sec-fetch-site': site }), site).toBe(401)
  expect((await open(server, tokenOf(server), { origin: 'http://127.0.0.1:1' })).status).toBe(401)
})

test('[T102] [T49] a change of a skill is approved from the page of a person, for exactly what was shown, and by no token', async () => {
  const server = await serving(true, demoProject)
  const skill = join(server.at.dir, '.claude/skills/deploy/SKILL.md')
  const before = readFileSync(skill, 'utf8')
  const known = await enter(server)
  const approve = (headers: Record<string, string>, more: object = {}) =>
    callTool(server.url, 'mutation', { do: 'approve', ref: 'M-001', ...more }, headers)
  const bearer = { authorization: `Bearer ${server.token}` }
  expect((await approve(bearer)).status).toBe(404)
  expect((await approve({ ...bearer, 'x-tidemark-agreed': 'x' })).status).toBe(404)
  const asked = await approve(known)
  expect(asked.status).toBe(409)
  const { asks } = (await asked.json()) as { asks: { question: string; agree: string } }
  expect(asks.question).toContain('+3. Required: the smoke test. Go on only when it has passed.')
  expect(readFileSync(skill, 'utf8')).toBe(before)
  // a yes to something else is none
  const reworded = await approve({ ...known, 'x-tidemark-agreed': asks.agree }, { step: 'Run `make smoke`' })
  expect(reworded.status).toBe(409)
  expect(readFileSync(skill, 'utf8')).toBe(before)
  const done = await approve({ ...known, 'x-tidemark-agreed': asks.agree })
  expect(done.status).toBe(200)
  expect(readFileSync(skill, 'utf8')).toContain('3. Required: the smoke test')
})

test('[T102] [T44] a dashboard that no person on a terminal started shows what waits, and decides nothing', async () => {
  const server = await serving(false, demoProject)
  const known = await enter(server)
  const list = await callTool(server.url, 'mutation', { do: 'list' }, known)
  expect(((await list.json()) as { json: object[] }).json).toMatchObject([{ id: 'M-001', status: 'proposed' }])
  const approve = await callTool(server.url, 'mutation', { do: 'approve', ref: 'M-001' }, known)
  expect([approve.status, await approve.text()]).toEqual([400, expect.stringContaining('needs-a-person')])
  const batch = { actions: [['confirm', { ref: 'fact:webhook-handlers-are-idempotent' }]] }
  const confirm = await callTool(server.url, 'act', batch, known)
  expect(confirm.status).toBe(400)
})
