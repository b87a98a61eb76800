import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { BIN, git, inProcess, scratch } from '../cli/run.ts'
import { call, httpClient, stdioClient } from '../mcp/harness.ts'
import { hubProcess } from './harness.ts'

/** A hub with two members on machines of their own, and a clone each. */
async function joined() {
  const { dir, home, env } = scratch()
  const top = dirname(dir)
  const person = (name: string, at: string, homeAt: string) => {
    mkdirSync(homeAt, { recursive: true })
    return { dir: at, env: { ...env, HOME: homeAt, TIDEMARK_USER: name } }
  }
  const ana = person('ana', dir, home)
  const ben = person('ben', join(top, 'ben'), join(top, 'ben-home'))
  const host = person('host', top, join(top, 'host-home'))
  const run = async (at: typeof ana, ...args: string[]) => {
    const { code, out, err } = await inProcess(at, args)
    expect(`${args.join(' ')}: ${code} ${code === 0 ? '' : out + err}`).toBe(`${args.join(' ')}: 0 `)
    return out
  }
  git(dir, 'init', '-q', '-b', 'main')
  await run(ana, 'init', '--client', 'none', '--yes')
  git(dir, 'add', '-A')
  git(dir, 'commit', '-qm', 'a project')
  git(top, 'clone', '-q', dir, ben.dir)
  const { id } = JSON.parse(readFileSync(join(dir, '.tidemark/config.json'), 'utf8')) as { id: string }
  const token = async (member: string, ...more: string[]): Promise<string> =>
    (JSON.parse(await run(host, 'hub', 'token', 'add', member, id, '--json', ...more)) as { token: string }).token
  return { ana, ben, host, run, id, token, top }
}

const decide = (name: string) =>
  JSON.stringify([['record-decision', { name, rationale: 'r' }], ['record-observation', { what: `seen by ${name}` }]]) // biome-ignore format: one row

test('[N3] [N4] two clones that joined come to the same, after days apart too, and the next session is told', async () => {
  const { ana, ben, host, run, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'act', decide('Prices in cents'))
  expect(await run(ana, 'join', hub.url, await token('ana'))).toContain('push    1 batch to the hub')
  expect(await run(ben, 'join', hub.url, await token('ben'))).toContain('1 batch of others; unverified')
  const told = await run(ben, 'brief')
  expect(told).toContain('prices-in-cents')
  expect(told).toContain('unverified')
  // the hub is away: work goes on
  hub.child.kill('SIGTERM')
  expect(await hub.ended).toBe(0)
  await run(ana, 'act', decide('Of Ana'))
  await run(ben, 'act', decide('Of Ben'))
  expect(await run(ben, 'sync')).toContain('cannot be reached')
  const again = await hubProcess(host, '--port', new URL(hub.url).port)
  expect(await run(ben, 'sync')).toContain('push    1 batch')
  await run(ana, 'sync')
  expect(await run(ben, 'sync')).toContain('1 batch of others')
  for (const at of [ana, ben]) {
    const listed = await run(at, 'list', 'decision')
    for (const name of ['Prices in cents', 'Of Ana', 'Of Ben']) expect(listed).toContain(name)
  }
  expect(await run(ben, 'list', 'observation')).not.toContain('ana')
  const entities = async (at: typeof ana) =>
    JSON.stringify(JSON.parse(await run(at, 'discover', '(get-decisions)', '--json')))
  expect(await entities(ana)).toBe(await entities(ben))
  again.child.kill('SIGTERM')
  await again.ended
})

test('[N3] a container that joins recalls at once, and so does an agent without a disk through its server', async () => {
  const { ana, ben, host, run, token, top } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'act', decide('Prices in cents'))
  await run(ana, 'join', hub.url, await token('ana'))
  // an image that holds the sources, without git
  const cloud = { dir: join(top, 'cloud'), env: { ...ana.env, HOME: join(top, 'cloud-home'), TIDEMARK_USER: 'cloud' } }
  for (const at of [cloud.env.HOME, join(cloud.dir, '.tidemark')]) mkdirSync(at, { recursive: true })
  copyFileSync(join(ana.dir, '.tidemark/config.json'), join(cloud.dir, '.tidemark/config.json'))
  await run(cloud, 'join', hub.url, await token('cloud'))
  expect(await run(cloud, 'recall', 'what are prices in')).toContain('Prices in cents')
  const secret = 'tide-and-time-wait-for-nobody'
  const server = spawn(process.execPath, [BIN, 'serve'], {
    cwd: cloud.dir,
    env: { ...cloud.env, TIDEMARK_TOKEN: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  const url = await new Promise<string>((resolve) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      const found = /listens on (\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
  })
  const agent = await httpClient(`${url}/mcp`, secret)
  expect((await call(agent, 'recall', { text: 'what are prices in' })).text).toContain('Prices in cents')
  await call(agent, 'act', { actions: [['record-decision', { name: 'Of the cloud', rationale: 'r' }]] })
  await run(ben, 'join', hub.url, await token('ben'))
  await vi.waitFor(async () => expect(`${await run(ben, 'sync')}${await run(ben, 'list', 'decision')}`).toContain('Of the cloud'), { timeout: 20_000, interval: 100 }) // biome-ignore format: one row
})

/** Two members of a hub, and what each types of claims. */
async function claimants() {
  const team = await joined()
  const { ana, ben, host, run, token } = team
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'join', hub.url, await token('ana'))
  await run(ben, 'join', hub.url, await token('ben'))
  const types = (at: typeof ana, ...args: string[]) => inProcess(at, args)
  return { ...team, hub, types }
}

test('[N9] [E3] members hold two functions of one file; who asks for the same one, or for the file, is told whose it is', async () => {
  const { ana, ben, run, types } = await claimants()
  expect(await run(ana, 'claim', 'src/cart.ts#total', '--session', 'a')).toContain('granted by the hub')
  expect(await run(ben, 'claim', 'src/cart.ts#tax', 'src/cart.ts#Cart', '--session', 'b')).toContain('granted by the hub') // biome-ignore format: one row
  for (const place of ['src/cart.ts#total', 'src/cart.ts', 'src/*.ts', 'src/cart.ts:3-9']) {
    const { code, err } = await types(ben, 'claim', place, '--session', 'c')
    expect([place, code, err]).toEqual([place, 1, expect.stringMatching(/src\/cart\.ts#total is claimed by ana\/a|src\/cart\.ts#tax is claimed by b/)]) // biome-ignore format: one row
  }
  expect((await types(ana, 'claim', 'src/cart.ts#Cart.sum', '--session', 'd')).err).toContain('src/cart.ts#Cart is claimed by ben/b') // biome-ignore format: one row
  // one is given up, the others stay
  await run(ben, 'release', 'src/cart.ts#tax', '--session', 'b')
  expect(await run(ana, 'claim', 'src/cart.ts#tax', '--session', 'd')).toContain('granted by the hub')
  expect((await types(ana, 'claim', 'src/cart.ts#Cart', '--session', 'd')).err).toContain('claimed by ben/b')
})

test('[X6] [N9] what a session here held is free for the next one here once it was killed, or gave it up without the hub', async () => {
  const { ana, ben, run, types } = await claimants()
  const dies = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  onTestFinished(() => void dies.kill('SIGKILL'))
  await run(ana, 'session', 'start', 'killed', '--pid', String(dies.pid))
  await run(ana, 'claim', 'src', '--session', 'killed')
  dies.kill('SIGKILL')
  await once(dies, 'close')
  expect((await types(ben, 'claim', 'src', '--session', 'b')).err).toContain('src is claimed by ana/killed')
  expect(await run(ana, 'claim', 'src/a.ts', '--session', 'next')).toContain('granted by the hub')
  await run(ana, 'act', '[["release", {}]]', '--session', 'next')
  expect(await run(ana, 'claim', 'src', '--session', 'last')).toContain('granted by the hub')
})

test('[N9] a claim typed in a shell is decided by the hub, and says so where it could not be asked', async () => {
  const { ana, ben, host, run, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'join', hub.url, await token('ana'))
  await run(ben, 'join', hub.url, await token('ben'))
  const granted = (said: string): number => Number(/granted by the hub, number (\d+)/.exec(said)?.[1])
  const first = granted(await run(ana, 'claim', 'src', '--session', 'a', '--note', 'tokens'))
  expect(first).toBeGreaterThan(0)
  const refused = await inProcess(ben, ['claim', 'docs', 'src/auth.ts', 'web', '--session', 'b', '--json'])
  expect([refused.code, refused.out + refused.err]).toEqual([1, expect.stringMatching(/src is claimed by ana\/a for \d+ min more, as the hub says: ."tokens/)]) // biome-ignore format: one row
  // all or nothing: what else was asked for is free, here and at the hub
  expect(JSON.parse(await run(ben, 'claims', '--json'))).toMatchObject({ claims: [] })
  expect(JSON.parse(await run(ana, 'claim', 'docs', '--session', 'a', '--json'))).toMatchObject({ hub: 'granted' })
  await run(ana, 'release', '--session', 'a')
  expect(granted(await run(ben, 'claim', 'src/auth.ts', '--session', 'b'))).toBeGreaterThan(first)
  // a hub that does not answer, and one that is not there
  hub.child.kill('SIGSTOP')
  expect(await run(ana, 'claim', 'one', '--session', 'a')).toContain(
    'on this machine only, until the hub has granted it',
  )
  hub.child.kill('SIGCONT')
  hub.child.kill('SIGTERM')
  expect(await hub.ended).toBe(0)
  const alone = await run(ana, 'claim', 'two', '--session', 'a', '--json')
  expect(JSON.parse(alone)).toMatchObject({ claims: [{ on: 'two' }], hub: 'unreached' })
  expect(await run(ana, 'sync')).toContain('cannot be reached')
  expect(await run(ana, 'sync', '--git')).not.toContain('hub') // the hook of git waits for no hub
  expect(await run(ben, 'release', '--session', 'b')).toContain('the hub does not know yet')
})

test('[N7] [T94] a token stays in the state of its user, and leave and uninstall forget it', async () => {
  const { ana, host, run, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  const shown = await token('ana')
  await run(ana, 'join', hub.url, shown)
  const stores = join(ana.env.HOME, '.local/state/tidemark/stores')
  const holders = () =>
    readdirSync(ana.env.HOME, { recursive: true, encoding: 'utf8' })
      .map((f) => join(ana.env.HOME, f))
      .concat(readdirSync(ana.dir, { recursive: true, encoding: 'utf8' }).map((f) => join(ana.dir, f)))
      .filter((f) => existsSync(f) && statSync(f).isFile() && readFileSync(f).includes(shown))
  expect(holders().map(dirname)).toEqual([stores])
  expect(statSync(holders()[0]!).mode & 0o777).toBe(0o600)
  expect(await run(ana, 'leave')).toContain('left ws://')
  expect(holders()).toEqual([])
  expect(await run(ana, 'sync')).not.toContain('hub')
  await run(ana, 'join', hub.url, shown)
  expect(await run(ana, 'uninstall')).toContain('leave   the hub')
  expect(holders()).toEqual([])
})

test('[N7] what does not reach the hub is said: by sync for a reader, and by doctor', async () => {
  const { ana, ben, host, run, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'join', hub.url, await token('ana'))
  expect(await run(ana, 'doctor')).toMatch(/ok {3}joined ws:\S+ as ana\n/)
  await run(ana, 'act', decide('of ana'))
  expect(await run(ana, 'doctor')).toMatch(/as ana; 1 batch of this machine not there yet/)
  await run(ben, 'join', hub.url, await token('ben', '--role', 'reader'))
  expect(await run(ben, 'sync')).not.toContain('refused')
  await run(ben, 'act', decide('of ben'))
  expect(await run(ben, 'sync')).toContain('refused by the hub: the token may only read')
  expect(await run(ben, 'claim', 'src', '--session', 'b')).toContain('on this machine only, until the hub has granted it: the token may only read') // biome-ignore format: one row
})

test('[N7] [T94] join says why it cannot be, keeps nothing then, and is no decision of an agent', async () => {
  const { ana, host, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  const refused = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    const { code, out } = await inProcess({ ...ana, env }, ['join', ...args, '--json'])
    expect(code).toBeGreaterThan(0)
    return (JSON.parse(out) as { error: { code: string } }).error.code
  }
  expect(await refused(ana.env, hub.url, 'tmh_wrong')).toBe('hub-refused')
  expect(await refused(ana.env, 'http://127.0.0.1:1', 'tmh_x')).toBe('hub-unreached')
  expect(await refused(ana.env, 'http://hub.example.org', 'tmh_x')).toBe('insecure-hub')
  expect(await refused(ana.env, 'ftp://hub.example.org', 'tmh_x')).toBe('bad-hub')
  expect(await refused({ ...ana.env, CLAUDECODE: '1' }, hub.url, await token('ana'))).toBe('needs-a-person')
  const { out } = await inProcess(ana, ['leave'])
  expect(out).toContain('no hub')
})

test('[N3] while an agent’s server runs, nobody has to sync', async () => {
  const { ana, ben, host, run, token } = await joined()
  const hub = await hubProcess(host, '--port', '0')
  await run(ana, 'join', hub.url, await token('ana'))
  await run(ben, 'join', hub.url, await token('ben'))
  for (const at of [ana, ben]) {
    const state = join(at.env.HOME, '.local/state/tidemark')
    const client = await stdioClient(at.dir, { env: { HOME: at.env.HOME, TIDEMARK_STATE: state } })
    onTestFinished(() => client.close())
    await call(client, 'brief', {})
  }
  await run(ana, 'act', decide('Told at once'))
  await vi.waitFor(async () => expect(await run(ben, 'list', 'decision')).toContain('Told at once'), 20_000)
})
