// @module-tag long
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { systemEnv } from '../../src/base/env.ts'
import { getMeta } from '../../src/engine/store/meta.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { addToken } from '../../src/travel/hub/access-tokens.ts'
import { openPostgresStore } from '../../src/travel/hub/postgres.ts'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { dump, seeded } from '../convergence/harness.ts'
import { judge, type Told } from '../coordination/torture-judge.ts'
import { rowsOf } from '../helpers.ts'
import { SEED } from '../runs.ts'
import { git, team } from '../sync/clones.ts'
import { BadNetwork, type Seen } from './bad-network.ts'
import { hubProcess, quiet } from './harness.ts'
import { ownPostgres } from './postgres.ts'

const CHILD = fileURLToPath(new URL('./torture-child.ts', import.meta.url))
const KILLS = Number(process.env.TIDEMARK_RUNS ?? 8)
const MEMBERS = ['ana', 'ben', 'cem', 'dia', 'eve']
/** Its disk is lost in the end: what the hub acknowledged to it must be with the others all the same. */
const LOST = 'eve'
/** So many writes are acknowledged between two kills. */
const BETWEEN = 25

/** Grants and their ends in the order of the hub's time, as far as clients were told of them. */
function leasesOf(seen: readonly Seen[]): { log: Told[]; refused: number } {
  const grants = new Map<number, { holder: string; place: unknown; part: unknown; what: unknown; from: number; told: number; until: number; end: number }>() // biome-ignore format: one row
  const holderOf = ({ member, asked }: Seen) => `${member}/${asked.session}`
  let refused = 0
  for (const s of seen) {
    if (s.answer?.code === 'claimed') refused++
    if (s.asked.t !== 'claim' || typeof s.answer?.fence !== 'number') continue
    const until = Number(s.answer.until)
    const told = until - Number(s.asked.ttl) // the hub's time when it granted or renewed it
    const known = grants.get(s.answer.fence)
    const { place, part, what } = s.asked
    if (!known) grants.set(s.answer.fence, { holder: holderOf(s), place, part, what, from: told, told, until, end: Number.POSITIVE_INFINITY }) // biome-ignore format: one row
    else Object.assign(known, { from: Math.min(known.from, told), told: Math.max(known.told, told), until: Math.max(known.until, until) }) // biome-ignore format: one row
  }
  // from the moment it is asked a release may be done: one with a number ends that grant for good, though a renewal on its way
  // may come before it; without a number it is for an earlier grant where there was a renewal since
  for (const s of seen)
    if (s.asked.t === 'release' && !s.answer)
      for (const [fence, g] of grants) {
        const isMeant = g.holder === holderOf(s) && [g.place, undefined].includes(s.asked.place)
        if (isMeant && (s.asked.fence === fence || (s.asked.fence === undefined && g.told < s.at)))
          g.end = Math.min(g.end, s.at)
      }
  // a claim that its holder made anew takes the place of the grant before it
  for (const [n, g] of grants)
    for (const [later, o] of grants)
      if (later > n && g.holder === o.holder && g.place === o.place && g.part === o.part)
        g.end = Math.min(g.end, o.from)
  const events = [...grants].flatMap(([n, g]) => {
    const body = { n, on: `${g.place}${g.part ?? ''}`, what: g.what, note: 'lease' }
    const isReleased = g.end < g.until
    return [
      { at: g.from, order: 1, n, session: g.holder, type: 'claimed', body },
      { at: Math.max(g.from, Math.min(g.end, g.until)), order: isReleased && g.end <= g.from ? 2 : 0, n, session: g.holder, type: isReleased ? 'released' : 'lapsed', body },
    ] // biome-ignore format: rows
  })
  events.sort((a, b) => a.at - b.at || a.order - b.order || a.n - b.n)
  return { log: events.map(({ session, type, body }, i) => ({ seq: i + 1, session, type, body })), refused }
}

test(`[N1] [N3] [N9] hubs, clients and PostgreSQL are killed ${KILLS} times on a network in which everything goes wrong: nothing acknowledged is lost, all come to the same, no claim has two holders`, {
  timeout: 90_000 + KILLS * 5_000,
}, async ({ skip }) => {
  const postgres = await ownPostgres()
  if ('missing' in postgres) {
    console.log(`skipped: ${postgres.missing}`)
    return skip(postgres.missing)
  }
  onTestFinished(() => postgres.stop())
  process.stderr.write(`[N1] seed ${SEED}\n`)
  const bytes = seeded(SEED)
  const random = () => new DataView(bytes(4).buffer).getUint32(0) / 2 ** 32
  const below = (n: number) => Math.floor(random() * n)

  const { top, hub: repository } = team()
  const place = await postgres.database()
  const dirs = new Map([...MEMBERS, 'fay'].map((name) => [name, join(top, name)]))
  for (const dir of dirs.values()) git(top, 'clone', '-q', `file://${repository}`, dir)
  const project = findProject(dirs.get('ana')!).id
  const store = await openPostgresStore(place, quiet, { listen: false })
  const tokens = new Map<string, string>()
  for (const member of dirs.keys())
    tokens.set(member, (await addToken(store, quiet, { member, role: 'writer', projects: [project] })).token)
  await store.close()

  const at = { dir: tmpdir(), env: { ...process.env, TIDEMARK_HUB_STORE: place } }
  const hubs: (Awaited<ReturnType<typeof hubProcess>> | undefined)[] = []
  /** A hub that finds no database ends, as a supervisor would see, and is started again. */
  const startHub = async (i: number) => {
    for (let tries = 0; ; tries++)
      try {
        return void (hubs[i] = await hubProcess(at, '--port', '0'))
      } catch (error) {
        if (tries === 20) throw error
      }
  }
  await Promise.all([startHub(0), startHub(1)])
  const urls = () => hubs.flatMap((h) => (h ? [`${h.url.replace('http', 'ws')}/`] : []))
  const memberOf = (authorization: string) => [...tokens].find(([, token]) => authorization === `Bearer ${token}`)![0]
  const { network, url } = await BadNetwork.open(random, urls, memberOf)

  const acknowledged: { batch: string; text: string; member: string }[] = []
  let more = () => {}
  const start = (member: string, life: number) => {
    const args = [CHILD, dirs.get(member)!, member, String(life), url, tokens.get(member)!, String(SEED + below(1e6))]
    const env = { ...process.env, TIDEMARK_STORE: '', TIDEMARK_SESSION: '' }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let [rest, errors] = ['', '']
    child.stderr.setEncoding('utf8').on('data', (d: string) => (errors += d))
    child.stdout.setEncoding('utf8').on('data', (d: string) => {
      const lines = (rest + d).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [batch = '', text = ''] = line.split(' ')
        acknowledged.push({ batch, text, member })
      }
      more()
    })
    const ended = once(child, 'close')
    void ended.then(() => more())
    return {
      async kill() {
        child.kill('SIGKILL')
        await ended
        expect(errors.replace(/.*ExperimentalWarning.*\n|.*--trace-warnings.*\n/g, '')).toBe('')
        expect(child.signalCode).toBe('SIGKILL')
      },
      member,
      life,
    }
  }
  let clients = MEMBERS.map((member) => start(member, 0))

  const kills = { hub: 0, client: 0, postgres: 0 }
  for (let kill = 0; kill < KILLS; kill++) {
    const upTo = acknowledged.length + BETWEEN
    while (acknowledged.length < upTo) await new Promise<void>((resolve) => (more = resolve))
    const what = (['hub', 'client', 'postgres', 'hub', 'client'] as const)[kill % 5]!
    kills[what]++
    if (what === 'hub') {
      const i = below(2)
      const dying = hubs[i]!
      hubs[i] = undefined
      dying.child.kill('SIGKILL')
      await dying.ended
      await startHub(i)
    } else if (what === 'client') {
      const i = below(clients.length)
      const { member, life } = clients[i]!
      await clients[i]!.kill()
      clients[i] = start(member, life + 1)
    } else {
      postgres.kill()
      postgres.start()
    }
  }
  for (const client of clients) await client.kill()
  clients = []
  network.isGood = true

  const open = (member: string) => {
    const memory = openProject(findProject(dirs.get(member)!), { env: { ...systemEnv, log: () => {} }, author: { user: member }, unlisted: true }) // biome-ignore format: one row
    onTestFinished(() => memory.close())
    return { member, memory }
  }
  const lost = open(LOST)
  const { sent } = JSON.parse(getMeta(lost.memory.db, 'hub')!) as { sent: { [replica: string]: number } }
  const isKept = ({ batch, member }: { batch: string; member: string }) => {
    const [replica = '', seq] = batch.split(':')
    return member !== LOST || (sent[replica] ?? 0) >= Number(seq)
  }
  // everybody else comes back, and one who has never been there
  const replicas = [...MEMBERS.filter((m) => m !== LOST), 'fay'].map(open)
  for (const _ of [1, 2])
    for (const [i, { member, memory }] of replicas.entries())
      await exchangeOnce(memory, { url: urls()[i % 2]!, token: tokens.get(member)!, member })
  const kept = acknowledged.filter(isKept).map((a) => a.text)
  for (const { member, memory } of replicas) {
    const names = new Set(memory.reader.list('decision').map((d) => d.name))
    const evidence = new Set(memory.reader.entity('principle:shared')!.fields.evidence as string[])
    expect({ member, lost: kept.filter((text) => !names.has(text) || !evidence.has(text)) }).toEqual({
      member,
      lost: [],
    })
    expect(memory.db.get<{ integrity_check: string }>('PRAGMA integrity_check')!.integrity_check).toBe('ok')
  }
  // events of lines that their writer has compacted are with those who had them before
  const parts = replicas.map(({ memory }) => [dump(memory), rowsOf(memory, ['links', 'purged', 'forked', 'parked'])].map((part) => JSON.stringify(part))) // biome-ignore format: one row
  for (const [i, part] of parts.entries()) expect([replicas[i]!.member, part[0] === parts[0]![0], part[1]]).toEqual([replicas[i]!.member, true, parts[0]![1]]) // biome-ignore format: one row

  const { log, refused } = leasesOf(network.seen)
  const { wrong, counts } = judge(log, [], [])
  const told = { kills, acknowledged: acknowledged.length, kept: kept.length, ...network.counts, granted: counts.granted, lapsed: counts.lapsed, refused } // biome-ignore format: one row
  process.stderr.write(`[N1] seed ${SEED}: ${JSON.stringify(told)}\n`)
  expect(wrong).toEqual([])
  expect(counts.granted).toBeGreaterThan(KILLS)
  expect(refused).toBeGreaterThan(0)
  for (const of of ['cut', 'lost', 'doubled', 'overtaken', 'stalled'] as const) expect([of, network.counts[of] > 0]).toEqual([of, true]) // biome-ignore format: one row
})
