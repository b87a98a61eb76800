import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/model/object.ts'
import { addToken, findToken, isLive, listTokens, revokeToken } from '../../src/travel/hub/access-tokens.ts'
import { HubClaims } from '../../src/travel/hub/claims.ts'
import { HubLog } from '../../src/travel/hub/log.ts'
import { openSqliteStore } from '../../src/travel/hub/sqlite.ts'
import type { HubStore } from '../../src/travel/hub/store.ts'
import { hubOn, Peer, PROJECT, postgresStore, quiet, sqlitePath, sqliteStore } from './harness.ts'
import { findPostgres, type Postgres } from './postgres.ts'

let found: Postgres | { missing: string }
beforeAll(async () => {
  found = await findPostgres()
  if ('missing' in found) console.log(`skipped on PostgreSQL: ${found.missing}`)
})
afterAll(() => {
  if (!('missing' in found)) found.stop()
})

const ana = { member: 'ana', isAdmin: false }
const ben = { member: 'ben', isAdmin: false }
const update = (key: string, body: string, over = false) => ({ key, body, over })
const numbered = (n: number, from = 1) => Array.from({ length: n }, (_, i) => from + i)

describe.each(['SQLite', 'PostgreSQL', 'PostgreSQL without LISTEN'])('the log of a hub on %s', (which) => {
  /** Databases of hub processes that share what they keep; SQLite has one process. */
  async function stores(n = 1): Promise<HubStore[] | undefined> {
    if (which === 'SQLite') {
      const store = await sqliteStore()
      return Array.from({ length: n }, () => store)
    }
    if ('missing' in found) return undefined
    const url = await found.database()
    return Promise.all(Array.from({ length: n }, () => postgresStore(url, which === 'PostgreSQL')))
  }

  /** As `test`, with databases; closed afterwards. */
  const onStores = (name: string, n: number, body: (stores: HubStore[]) => Promise<void>) =>
    test(name, async ({ skip }) => {
      const all = await stores(n)
      if (!all) return skip(`no PostgreSQL: ${(found as { missing: string }).missing}`)
      onTestFinished(async () => {
        for (const store of new Set(all)) await store.close()
      })
      await body(all)
    })

  async function readAll(log: HubLog, project = PROJECT): Promise<[number, string | null][]> {
    const all: [number, string | null][] = []
    for (let after = 0; ; ) {
      const page = await log.page(project, after)
      all.push(...page.items.map((i): [number, string | null] => [i.n, i.body]))
      if (page.last === after) return all
      after = page.last
    }
  }

  onStores('[N1] what is appended is read in its order, and the same again changes nothing', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const first = await log.append(PROJECT, ana, [update('a:1', 'one'), update('a:2', 'zwei ☃')])
    expect(first).toEqual({ places: [1, 2], head: 2 })
    expect(await log.append(PROJECT, ana, [update('a:2', 'zwei ☃'), update('a:3', 'three')])).toEqual({
      places: [2, 3],
      head: 3,
    })
    expect(await readAll(log)).toEqual([[1, 'one'], [2, 'zwei ☃'], [3, 'three']]) // biome-ignore format: pairs
    expect(await readAll(log, 'other-project')).toEqual([])
  })

  onStores('[N2] processes that append at once leave no gap that a reader sees', 3, async (all) => {
    const logs = all.map((s) => new HubLog(s, quiet))
    const seen: number[] = []
    let writing = true
    const reader = (async () => {
      while (writing || seen.length < 90) {
        const { items } = await logs[2]!.page(PROJECT, seen.length)
        seen.push(...items.map((i) => i.n))
      }
    })()
    await Promise.all(
      numbered(90).map((i) => logs[i % 2]!.append(PROJECT, i % 2 ? ana : ben, [update(`${i % 2}:${i}`, `text ${i}`)])),
    )
    writing = false
    await reader
    expect(seen).toEqual(numbered(90))
    expect(await logs[1]!.head(PROJECT)).toBe(90)
  })

  onStores('[N2] a page ends by its size, and pages follow each other', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const large = numbered(5).map((i) => update(`a:${i}`, `${i}`.repeat(200_000)))
    await log.append(PROJECT, ana, [...large, ...numbered(600, 6).map((i) => update(`a:${i}`, `small ${i}`))])
    const page = await log.page(PROJECT, 0)
    expect(page.items.length).toBeLessThan(5)
    expect((await readAll(log)).map(([n]) => n)).toEqual(numbered(605))
  })

  onStores(
    '[N8] [T95] a member, a project and an hour have their limits; an erasure always counts',
    1,
    async ([store]) => {
      let now = 0
      const log = new HubLog(store!, { ...quiet, now: () => now }, { member: 300, project: 400, hour: 200 })
      const push = async (member: string, key: string, size: number, over = false) =>
        (await log.append(PROJECT, { member, isAdmin: false }, [update(key, `${key} `.padEnd(size, 'x'), over)]))
          .places[0]
      expect(await push('ana', 'a:1', 100)).toBe(1)
      expect(await push('ana', 'a:2', 100)).toBe(2)
      expect(await push('ana', 'a:2', 100)).toBe(2) // what is there costs nothing
      expect(await push('ana', 'a:3', 100)).toBe('too-fast')
      now += 3_600_000
      expect(await push('ana', 'a:3', 100)).toBe(3)
      expect(await push('ana', 'a:4', 1)).toBe('member-full')
      expect(await push('ben', 'b:1', 100)).toBe(4)
      expect(await push('ben', 'b:2', 1)).toBe('project-full')
      // what is to be erased goes also where nothing is taken any more
      expect(await push('ana', 'a:1', 101, true)).toBe('member-full')
      expect((await readAll(log))[0]).toEqual([1, null])
      expect(await push('ana', 'a:1', 50, true)).toBe(5)
      expect(await push('ben', 'b:2', 50)).toBe(6)
      // another process of the hub counts the same
      const other = new HubLog(store!, { ...quiet, now: () => now }, { member: 300, project: 400, hour: 200 })
      expect((await other.append(PROJECT, { member: 'ben', isAdmin: false }, [update('b:3', 'x')])).places).toEqual([
        'project-full',
      ])
    },
  )

  onStores('[N8] [T96] who runs a hub takes a replica out of it, and lets it in again', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const push = async (key: string, body: string, member = 'eve') =>
      (await log.append(PROJECT, { member, isAdmin: false }, [update(key, body)])).places[0]
    expect([await push('evil:1', 'junk'), await push('evil:2', 'more'), await push('evil2:1', 'hers', 'ana')]).toEqual([
      1, 2, 3,
    ])
    expect(await log.drop(PROJECT, 'evil')).toBe(2)
    expect(await readAll(log)).toEqual([
      [1, null],
      [2, null],
      [3, 'hers'],
    ])
    expect([
      await push('evil:1', 'junk'),
      await push('evil:3', 'new'),
      await push('evil2:2', 'hers too', 'ana'),
    ]).toEqual(['dropped', 'dropped', 4])
    expect(await log.drop(PROJECT, 'evil', true)).toBe(0)
    expect(await push('evil:3', 'new')).toBe(5)
    const told = await store!.all<{ what: string; detail: string }>('SELECT what, detail FROM hub_audit ORDER BY at')
    expect(told.map((t) => `${t.what} ${t.detail}`).slice(0, 2)).toEqual([
      'dropped {"replica":"evil","updates":2}',
      'readmitted {"replica":"evil","updates":0}',
    ])
  })

  onStores('[N8] [T92] what erases, and what asks others to, stands in the audit', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const asking = JSON.stringify({ v: 2, r: 'b', n: 1, x: [['a', 1]] })
    const saying = JSON.stringify({ v: 2, r: 'b', n: 2, e: ['"x":['] })
    await log.append(PROJECT, ana, [update('a:1', 'a secret'), update('a:2', 'plain')])
    await log.append(PROJECT, ben, [update('b:1', asking), update('b:2', saying)])
    await log.append(PROJECT, ben, [update('b:1', asking)])
    await log.append(PROJECT, ana, [{ key: 'a:1', body: '', over: true }])
    const told = await store!.all<{ member: string; what: string; detail: string }>(
      'SELECT member, what, detail FROM hub_audit ORDER BY at, member DESC',
    )
    expect(told.map((t) => `${t.member} ${t.what} ${t.detail}`).sort()).toEqual([
      'ana erases {"updates":1,"first":["a:1"]}',
      'ben erases {"updates":1,"first":["b:1"]}',
    ])
  })

  onStores('[N7] nobody writes under the replica of another member', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    await log.append(PROJECT, ana, [update('a:1', 'of ana')])
    expect((await log.append(PROJECT, ben, [update('a:2', 'forged'), update('b:1', 'of ben')])).places).toEqual(['not-yours', 2]) // biome-ignore format: one row
    expect((await log.append('other-project', ben, [update('a:2', 'elsewhere')])).places).toEqual([1])
    expect((await log.append(PROJECT, { member: 'root', isAdmin: true }, [update('a:3', 'admin')])).places).toEqual([3])
  })

  onStores('[N5] what no database could keep as one line is refused by itself', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const bad = ['', 'a\0b', 'a\nb', 'a\rb', '\ud800'].map((body) => update('a:1', body))
    const odd = ['', 'a', '../a:1', 'A:1', 'a:1:2', 'toolonga:1'].map((key) => update(key, 'text'))
    const { places } = await log.append(PROJECT, ana, [...bad, ...odd, update('a:1', 'good')])
    expect(places).toEqual([...bad, ...odd].map(() => 'bad-update' as number | string).concat(1))
  })

  onStores(
    '[N1] what was erased leaves its number, comes back under no hash, and is read no more',
    1,
    async ([store]) => {
      const log = new HubLog(store!, quiet)
      await log.append(PROJECT, ana, [update('a:1', 'secret'), update('a:2', 'kept')])
      await log.append(PROJECT, ana, [update('a:1', 'wiped', true)])
      await log.append(PROJECT, ana, [update('a:1', 'secret')])
      expect(await readAll(log)).toEqual([[1, null], [2, 'kept'], [3, 'wiped']]) // biome-ignore format: pairs
      await log.append(PROJECT, ana, [update('a:2', '', true)])
      expect((await readAll(log)).map(([, body]) => body)).toEqual([null, null, 'wiped'])
      expect((await log.append(PROJECT, ben, [update('a:1', '', true)])).places).toEqual(['not-yours'])
    },
  )

  onStores('[N1] what took the place of something is not erased when that comes again, late', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const [first, second] = [update('a:snapshot', 'first', true), update('a:snapshot', 'second', true)]
    await log.append(PROJECT, ana, [first])
    await log.append(PROJECT, ana, [second])
    await log.append(PROJECT, ana, [first])
    expect(await readAll(log)).toEqual([[1, null], [2, 'second']]) // biome-ignore format: pairs
    // those that come at once share a transaction
    await Promise.all(['b', 'c'].map((text) => log.append(PROJECT, ana, [update('a:1', text, true)])))
    expect((await readAll(log)).slice(2)).toEqual([[3, null], [4, 'c']]) // biome-ignore format: pairs
  })

  onStores('[N1] a project whose first push the database could not take is pushed to again', 1, async ([store]) => {
    const log = new HubLog(store!, quiet)
    const [away, back] = ['hub_log RENAME TO hub_log_away', 'hub_log_away RENAME TO hub_log'].map((to) => `ALTER TABLE ${to}`) // biome-ignore format: one row
    await store!.all(away!)
    await expect(log.append(PROJECT, ana, [update('a:1', 'one')])).rejects.toThrow()
    await store!.all(back!)
    expect(await log.append(PROJECT, ana, [update('a:1', 'one')])).toEqual({ places: [1], head: 1 })
  })

  onStores('[N7] a token is kept as its hash, and holds until it expires or is revoked', 1, async ([store]) => {
    const { token, id } = await addToken(store!, quiet, { member: 'ana', role: 'writer', projects: [PROJECT] })
    const late = await addToken(store!, quiet, { member: 'ben', role: 'reader', projects: ['*'], expires: 5 })
    expect(JSON.stringify(await store!.all('SELECT * FROM hub_tokens'))).not.toContain(token.slice(4))
    const known = (await findToken(store!, token))!
    expect([known.member, isLive(known, Date.now())]).toEqual(['ana', true])
    expect(isLive((await findToken(store!, late.token))!, Date.now())).toBe(false)
    await revokeToken(store!, quiet, id)
    expect(isLive((await findToken(store!, token))!, Date.now())).toBe(false)
    expect(await findToken(store!, `${token}x`)).toBeUndefined()
    expect((await listTokens(store!)).map((t) => t.member).sort()).toEqual(['ana', 'ben'])
    await expect(revokeToken(store!, quiet, "x' OR '1'='1")).rejects.toMatchObject({ code: 'no-token' })
  })

  onStores(
    '[N9] [E3] parts of a file are claims of their own; who does not say which one claims the file',
    1,
    async ([store]) => {
      const claims = new HubClaims(store!)
      const ask = (member: string, part?: unknown, place = 'a.ts') =>
      claims.claim(PROJECT, member, { what: 'path', place, session: 's', ...(part === undefined ? {} : { part }) } as JsonObject) // biome-ignore format: one row
      const first = await ask('ana', '#total')
      const others = [await ask('ana', '#Cart'), await ask('ben', '#tax'), await ask('ben', '#tax')]
      expect(others).toEqual([...others.slice(0, 2), others[1]].map((o) => ({ ...o, until: expect.any(Number) })))
      expect(new Set([first, ...others].map((o) => (o as { fence: number }).fence)).size).toBe(3)
      for (const part of ['#total', '#Cart.sum', ':3-9', undefined, '', 7, '#a\nb'])
      expect([part, await ask('eve', part)]).toMatchObject([part, { code: 'claimed', holder: { member: 'ana', place: 'a.ts' } }]) // biome-ignore format: one row
      expect(await ask('eve', undefined, '*.ts')).toMatchObject({ code: 'claimed', holder: { part: '#total' } })
      await claims.release(PROJECT, 'ana', { session: 's', place: 'a.ts', fence: (first as { fence: number }).fence })
      expect(await ask('eve', '#total')).toMatchObject({ fence: expect.any(Number) })
    },
  )

  onStores(
    '[X6] [N9] a claim that is made anew has a number of its own: a late release of the one before ends nothing',
    1,
    async ([store]) => {
      const claims = new HubClaims(store!)
      const ask = async (n?: number) =>
        Number(
          (await claims.claim(PROJECT, 'ana', { place: 'src', session: 's', ...(n === undefined ? {} : { n }) })).fence,
        )
      const first = await ask(5)
      expect([await ask(5), await ask()]).toEqual([first, first])
      const second = await ask(6)
      expect(second).toBeGreaterThan(first)
      await claims.release(PROJECT, 'ana', { session: 's', fence: first })
      expect((await claims.held(PROJECT)).map((c) => c.fence)).toEqual([second])
      const late = { place: 'src', session: 's', n: 5 } // it was on its way when the other was made
      expect(await claims.claim(PROJECT, 'ana', late)).toEqual({ code: 'late' })
      expect(await claims.claim(PROJECT, 'ben', { place: 'src/a.ts', session: 's' })).toMatchObject({ code: 'claimed' })
    },
  )

  test('[N9] [E3] a database from before parts gets them, and its claims are on files', async ({ skip }) => {
    if (which !== 'SQLite' && 'missing' in found) return skip(`no PostgreSQL: ${found.missing}`)
    const place = which === 'SQLite' ? sqlitePath() : await (found as Postgres).database()
    const open = () => (which === 'SQLite' ? openSqliteStore(place) : postgresStore(place, false))
    const old = await open()
    for (const column of ['part', 'n']) await old.all(`ALTER TABLE hub_claims DROP COLUMN ${column}`)
    await old.all("INSERT INTO hub_claims VALUES ('p', 7, 'path', 'a.ts', 'ana', 's', '', 0, 9999999999999)")
    await old.close()
    const store = await open()
    onTestFinished(() => store.close())
    const claims = new HubClaims(store)
    expect(await claims.claim('p', 'ben', { place: 'a.ts', part: '#f', session: 's' })).toMatchObject({
      code: 'claimed',
    })
    expect(await claims.claim('p', 'ben', { place: 'b.ts', part: '#f', session: 's' })).toMatchObject({ fence: expect.any(Number) }) // biome-ignore format: one row
  })

  onStores('[N9] of those who claim at once one gets it, and every grant has a greater number', 2, async (all) => {
    const claims = all.map((s) => new HubClaims(s))
    const ask = (i: number, place: string) =>
      claims[i % 2]!.claim(PROJECT, `m${i}`, { what: 'path', place, session: `s${i}` })
    const answers = await Promise.all(numbered(8).map((i) => ask(i, i % 2 ? 'src/**' : 'src/a.ts')))
    const [winner, ...more] = answers.filter((a) => 'fence' in a)
    expect(more).toEqual([])
    expect(answers.filter((a) => 'code' in a && a.code === 'claimed')).toHaveLength(7)
    const [held] = await claims[0]!.held(PROJECT)
    expect(await claims[1]!.claim(PROJECT, held!.member, { ...held })).toMatchObject({ fence: held!.fence })
    await claims[0]!.release(PROJECT, 'somebody', { session: held!.session })
    expect(await claims[0]!.held(PROJECT)).toHaveLength(1)
    await claims[0]!.release(PROJECT, held!.member, { session: held!.session })
    const next = await ask(3, 'src/a.ts')
    expect('fence' in next && next.fence).toBeGreaterThan((winner as { fence: number }).fence)
    // a release that comes late is one of an earlier grant
    await claims[0]!.release(PROJECT, 'm3', { session: 's3', place: 'src/a.ts', fence: held!.fence })
    expect(await claims[0]!.held(PROJECT)).toHaveLength(1)
    await claims[0]!.release(PROJECT, 'm3', { session: 's3', place: 'src/a.ts', fence: (next as { fence: number }).fence }) // biome-ignore format: one row
    expect(await claims[0]!.held(PROJECT)).toEqual([])
  })

  onStores('[N9] a backup that is brought back gives no number a second time', 1, async ([store]) => {
    const claims = new HubClaims(store!)
    const backup = await store!.all<{ fence: number }>('SELECT fence FROM hub_projects WHERE id=?', PROJECT)
    const asked = { what: 'path', place: 'src/a.ts', session: 's1' }
    const before = (await claims.claim(PROJECT, 'ana', asked)) as { fence: number }
    await store!.all('DELETE FROM hub_claims')
    await store!.all('UPDATE hub_projects SET fence=?', backup[0]?.fence ?? 0)
    const [clock] = await store!.all<{ now: number }>(`SELECT ${store!.now} AS now`)
    const later = new HubClaims({ ...store!, now: `(${store!.now} + 5000)` })
    const after = (await later.claim(PROJECT, 'ana', asked)) as typeof before
    expect(after.fence).toBeGreaterThan(before.fence)
    expect(Math.abs(clock!.now - Date.now())).toBeLessThan(60_000)
  })

  onStores('[N2] what one process takes reaches the clients of the others', 2, async (all) => {
    const [one, two] = [await hubOn(all[0]!), which === 'SQLite' ? undefined : await hubOn(all[1]!)]
    const writer = await Peer.join(one.url, await one.token('ana'))
    const reader = await Peer.join((two ?? one).url, await one.token('ben', 'reader'))
    await Promise.all(numbered(30).map((i) => writer.push(`first ${i}`)))
    await reader.until(() => reader.last === 30)
    expect(reader.got.map((g) => g.n)).toEqual(numbered(30))
    expect(reader.got.every((g) => g.member === 'ana')).toBe(true)
    // its own are not sent back, and its cursor moves past them
    await writer.until(() => writer.last === 30)
    expect(writer.got).toEqual([])
    expect((await store30(writer, one.url, await one.token('cem'))).length).toBe(30)
  })

  async function store30(writer: Peer, url: string, token: string): Promise<string[]> {
    const late = new Peer(url, token)
    await late.hello(writer.last, 'of another log')
    await late.until(() => late.last === 30)
    return late.texts
  }
})
