import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { inbox } from '../../src/work/coordination/inbox.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { eventsSince } from '../../src/work/coordination/shared-context.ts'
import { openTestMemory } from '../helpers.ts'

const MINUTE = 60_000

/** A memory with a clock of its own. */
function clocked() {
  const { memory, clock } = openTestMemory()
  clock.now = Date.parse('2026-11-01T09:00:00Z')
  const act = (session: string, ...actions: [string, { [k: string]: unknown }][]) => memory.act(actions, { session })
  const refused = (session: string, ...actions: [string, { [k: string]: unknown }][]): string => {
    try {
      act(session, ...actions)
    } catch (error) {
      expect(error).toBeInstanceOf(UserError)
      return (error as UserError).message
    }
    throw new Error('it was not refused')
  }
  const held = () =>
    claimsOf(memory)
      .held()
      .map((c) => `${c.session} ${c.on}`)
  return { memory, act, refused, held, pass: (ms: number) => void (clock.now += ms) }
}

test('[X6] a claim on a path, a glob or a directory above is refused with the owner, since when and until when', () => {
  const { act, refused, held } = clocked()
  act('a', ['claim', { paths: ['src/auth'], note: 'token refresh' }])
  for (const path of ['src/auth', 'src/auth/token.ts', 'src', 'src/**/*.ts', '.', 'src/a*'])
    expect(refused('b', ['claim', { paths: [path] }]), path).toMatch(
      /src\/auth is claimed by a for 30 min more, taken just now: "token refresh"/,
    )
  act('b', ['claim', { paths: ['src/db', 'docs/*.md'] }])
  expect(held()).toEqual(['a src/auth', 'b src/db', 'b docs/*.md'])
  expect(refused('b', ['claim', { paths: ['web', 'src/auth/x.ts'] }])).toContain('nothing was written')
  expect(held()).not.toContain('b web')
})

test('[X6] a claim of a pattern and an edit of a file that it does not name stand side by side', () => {
  const { memory, act, refused } = clocked()
  act('a', ['claim', { paths: ['**/*.test.ts'] }])
  act('b', ['claim', { paths: ['Makefile'], implicit: true }])
  expect(claimsOf(memory).against('b', 'Makefile')).toEqual([])
  expect(claimsOf(memory).against('b', 'src/a.test.ts')).toHaveLength(1)
  expect(refused('b', ['claim', { paths: ['src/a.test.ts'], implicit: true }])).toContain('is claimed by a')
  act('c', ['claim', { paths: ['**/*.md'] }])
  expect(refused('c', ['claim', { paths: ['Make*'] }])).toContain('is claimed by b')
})

test('[X6] released by its holder alone; every grant has a greater fencing number', () => {
  const { act, refused, held } = clocked()
  const fence = (r: ReturnType<typeof act>) => (r.results[0]!.claims as { n: number }[])[0]!.n
  const first = fence(act('a', ['claim', { paths: ['x'] }]))
  expect(fence(act('a', ['claim', { paths: ['x'] }]))).toBe(first) // the same claim said again
  expect(refused('b', ['release', { paths: ['x'] }])).toMatch(/x is claimed by a .*only its holder can give it up/s)
  act('a', ['release', { paths: ['x'] }])
  const second = fence(act('b', ['claim', { paths: ['x'] }]))
  expect(second).toBeGreaterThan(first)
  const third = fence(act('b', ['hand-over', { to: 'a', paths: ['x'], note: 'yours' }]))
  expect(third).toBeGreaterThan(second)
  expect(held()).toEqual(['a x'])
  expect(refused('a', ['hand-over', { to: 'nobody' }])).toContain('there is no session nobody')
  act('a', ['release', {}])
  expect(held()).toEqual([])
})

test('[X6] the holder whose id a client made up is named by what it works on', () => {
  const { act, refused, memory } = clocked()
  const id = '5834d3dc-d1e9-416f-96a7-da7db04c93be'
  sessionsOf(memory).start({ id, client: 'claude', user: 'ana' })
  sessionsOf(memory).patch(id, { title: 'log the channel name' })
  act(id, ['claim', { paths: ['src'] }])
  expect(refused('b', ['claim', { paths: ['src'] }])).toContain(
    'src is claimed by Claude "log the channel name" (ana) 5834d3dc for 30 min more',
  )
})

test('[X6] claims of one session that overlap are handed over together, none is lost, and never half of them', () => {
  const { act, refused, held, memory } = clocked()
  for (const id of ['a', 'b']) sessionsOf(memory).start({ id })
  act('a', ['claim', { paths: ['src', 'src/auth', 'docs'] }])
  expect(refused('a', ['hand-over', { to: 'b', paths: ['src/auth'] }])).toContain(
    'src/auth meets src, which a would keep',
  )
  expect(held()).toEqual(['a src', 'a src/auth', 'a docs'])
  act('a', ['hand-over', { to: 'b', paths: ['src', 'src/auth'] }])
  expect(held()).toEqual(['a docs', 'b src', 'b src/auth'])
})

test('[X6] a lease runs out without a sign of life, and one is renewed by it', () => {
  const { act, held, pass, memory, refused } = clocked()
  act('a', ['claim', { paths: ['x'] }])
  act('b', ['claim', { paths: ['y'], ttl: 60 }])
  pass(2 * MINUTE)
  expect(held()).toEqual(['a x'])
  pass(20 * MINUTE)
  sessionsOf(memory).heartbeat('a')
  pass(20 * MINUTE)
  expect(refused('c', ['claim', { paths: ['x'] }])).toContain('claimed by a')
  pass(20 * MINUTE)
  act('c', ['claim', { paths: ['x'] }])
  expect(held()).toEqual(['c x'])
  const told = memory.newsSince(0).flatMap((n) => n.presence ?? [])
  const ends = told.filter((t) => t.type === 'lapsed').map((t) => [t.session, t.body.on])
  expect(ends).toEqual(
    expect.arrayContaining([
      ['a', 'x'],
      ['b', 'y'],
    ]),
  )
})

test('[X6] a lease that has run out is not revived by a sign of life: the next grant has another number', () => {
  const { memory, act, refused, held, pass } = clocked()
  const sessions = sessionsOf(memory)
  const claims = (session: string) => act(session, ['claim', { paths: ['x'], ttl: 60 }]).results[0]!.claims
  const first = (claims('a') as { n: number }[])[0]!.n
  pass(2 * MINUTE)
  sessions.heartbeat('a')
  expect(held()).toEqual([])
  act('b', ['claim', { paths: ['x'], ttl: 60 }])
  expect(refused('a', ['claim', { paths: ['x'] }])).toContain('claimed by b')
  act('b', ['release', {}])
  expect((claims('a') as { n: number }[])[0]!.n).toBeGreaterThan(first + 1)
  // nor by a new start of the session, of whose process somebody knows by then
  act('c', ['claim', { paths: ['y'] }])
  pass(20 * MINUTE)
  sessions.edited('c', 'z')
  pass(20 * MINUTE)
  expect(held()).toEqual([])
  sessions.start({ id: 'c', process: { pid: process.pid, born: '', host: '' } })
  expect(held()).toEqual([])
})

test('[X6] claims that have ended are forgotten after a day, those of a role after 30; fencing numbers go on', () => {
  const { memory, act, pass } = clocked()
  const rows = () => memory.db.all<{ n: number }>('SELECT n FROM claims ORDER BY n').map((r) => r.n)
  act('a', ['claim', { paths: ['x'] }], ['claim', { role: 'tester' }])
  act('a', ['release', {}])
  act('b', ['claim', { paths: ['y'] }])
  pass(25 * 60 * MINUTE)
  sessionsOf(memory).start({ id: 'c' })
  expect(rows()).toEqual([2, 3])
  pass(31 * 24 * 60 * MINUTE)
  sessionsOf(memory).start({ id: 'c' })
  expect(rows()).toEqual([])
  expect(act('c', ['claim', { paths: ['x'] }]).results[0]!.id).toBe('claim:4')
})

test('[X6] of a role that claims a lot the newest are kept, which its block is made of', () => {
  const { memory, act, pass } = clocked()
  for (let i = 0; i < 130; i++) {
    act(`s${i}`, ['claim', { role: 'writer', paths: [`src/${i}.ts`] }])
    act(`s${i}`, ['release', { result: `wrote ${i}` }])
  }
  const block = () =>
    claimsOf(memory)
      .blocks()
      .map((b) => [b.role, b.status, b.result])
  const before = block()
  pass(25 * 60 * MINUTE)
  memory.maintain()
  expect(memory.db.all('SELECT n FROM claims')).toHaveLength(100)
  expect(block()).toEqual(before)
  expect(before).toEqual([['writer', 'complete', 'wrote 129']])
})

test('[X7] the same path in another work tree is a warning, not a refusal', () => {
  const { act, held } = clocked()
  act('a', ['claim', { paths: ['x'], root: '/tree/one' }])
  const { notes } = act('b', ['claim', { paths: ['x'], root: '/tree/two' }])
  expect(notes.join()).toMatch(/x is claimed by a .*meet at merge/)
  expect(held()).toEqual(['a x', 'b x'])
})

test('[X6] a task is given to a free session of the role, else to any free one, never to two', () => {
  const { act, refused, memory } = clocked()
  const sessions = sessionsOf(memory)
  sessions.start({ id: 'boss' })
  sessions.start({ id: 'tester', role: 'test-writer' })
  sessions.start({ id: 'coder', role: 'implementer' })
  const task = (text: string) => act('boss', ['add-task', { description: text }]).results[0]!.id
  const assign = (text: string, role?: string) =>
    act('boss', ['assign-task', { task: task(text), ...(role ? { role } : {}) }]).results[0]!.to
  expect(assign('one', 'implementer')).toBe('coder')
  expect(refused('boss', ['assign-task', { task: 'one' }])).toContain('claimed by coder')
  expect(refused('tester', ['claim', { task: 'one' }])).toContain('claimed by coder')
  expect(assign('two', 'implementer')).toBe('tester') // no free implementer is left
  expect(refused('boss', ['assign-task', { task: task('three') }])).toContain('no other session is free')
  expect(inbox(memory, 'coder').lines.join('\n')).toContain('you were given task "one"')
  act('coder', ['complete', { ref: 'one' }], ['release', {}])
  expect(assign('four')).toBe('coder')
})

test('[X6] [X7] free is who has no task in hand; idle, who has said nothing for five minutes', () => {
  const { memory, act, refused, pass } = clocked()
  const sessions = sessionsOf(memory)
  act('boss', ['add-task', { description: 'one' }], ['add-task', { description: 'two' }])
  sessions.start({ id: 'worker' })
  pass(10 * MINUTE)
  expect(sessions.get('worker')!.state).toBe('idle')
  const given = act('boss', ['assign-task', { task: 'one' }]).results[0]!
  expect(given.to).toBe('worker')
  sessions.heartbeat('worker')
  expect(sessions.get('worker')!.state).toBe('active')
  expect(refused('boss', ['assign-task', { task: 'two' }])).toContain('no other session is free')
  pass(10 * MINUTE) // idle again, and not free
  expect(sessions.get('worker')!.state).toBe('idle')
  expect(refused('boss', ['assign-task', { task: 'two' }])).toContain('free: each has a task in hand')
})

test('[X6] [X4] what a session says anew of its claim is an event: a lease, a note, a task, and that it is plain again', () => {
  const { memory, act, pass } = clocked()
  const events = () =>
    eventsSince(memory, { since: 0, types: ['claimed', 'reclaimed'] }).map((e) => [e.event_type, e.key, e.value])
  const said = () => events().at(-1)
  sessionsOf(memory).start({ id: 'a', pid: process.pid })
  act('a', ['claim', { paths: ['x'] }])
  const n = claimsOf(memory).held()[0]!.n
  act('a', ['claim', { paths: ['x'] }]) // the same again is nothing new
  pass(MINUTE)
  act('a', ['claim', { paths: ['x'] }])
  expect(events()).toHaveLength(1)
  act('a', ['claim', { paths: ['x'], ttl: 60 }])
  const until = Date.parse('2026-11-01T09:02:00Z')
  expect(said()).toEqual(['reclaimed', 'x', { n, what: 'path', on: 'x', until, ttl: 60 }])
  expect(inbox(memory, 'b', { since: 0 }).lines).toContain('a changed its claim on x: until 09:02 UTC')
  act('a', ['claim', { paths: ['x'], ttl: 60 }])
  expect(events()).toHaveLength(2)
  act('a', ['claim', { paths: ['x'], ttl: 60, note: 'nearly done' }])
  expect(said()).toEqual(['reclaimed', 'x', { n, what: 'path', on: 'x', until, ttl: 60, note: 'nearly done' }])
  // without a time it lasts as long as its process again: the last word counts
  act('a', ['claim', { paths: ['x'] }])
  expect(said()).toEqual([
    'reclaimed',
    'x',
    { n, what: 'path', on: 'x', until: until + 29 * MINUTE, note: 'nearly done' },
  ])
  pass(40 * MINUTE)
  expect(claimsOf(memory).held()).toMatchObject([{ n, on: 'x' }])
})

test('[X6] [X4] an edit makes no claim by name an implicit one, and a claim by name of what was edited is told', () => {
  const { memory, act, pass } = clocked()
  const types = () => eventsSince(memory, { since: 0, types: ['claimed', 'reclaimed'] }).map((e) => e.event_type)
  sessionsOf(memory).start({ id: 'a', pid: process.pid })
  act('a', ['claim', { paths: ['x'], ttl: 1200 }])
  act('a', ['claim', { paths: ['x'], implicit: true }])
  const [held] = claimsOf(memory).held()
  expect(held).toMatchObject({ on: 'x', exact: true, ttl: 1_200_000 })
  expect(held!.implicit).toBeUndefined()
  act('a', ['claim', { paths: ['y'], implicit: true }])
  act('a', ['claim', { paths: ['y'], implicit: true }])
  expect(types()).toEqual(['claimed', 'claimed'])
  act('a', ['claim', { paths: ['y'] }])
  expect(types()).toEqual(['claimed', 'claimed', 'reclaimed'])
  expect(inbox(memory, 'b', { since: 0 }).lines).toContain('a changed its claim on y: as long as its process lives')
  pass(15 * MINUTE)
  expect(
    claimsOf(memory)
      .held()
      .map((c) => c.on),
  ).toEqual(['x', 'y'])
})

test('[X5] kill -9 of a session: it has crashed, its claims are free, its data is kept for the next', async () => {
  const { act, held, memory } = clocked()
  const sessions = sessionsOf(memory)
  const client = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9); console.log(1)'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(client.stdout!, 'data')
  sessions.start({ id: 'a', client: 'claude', pid: client.pid! })
  act('a', ['start-task', { description: 'the refresh' }], ['claim', { paths: ['src/auth'] }])
  sessions.edited('a', 'src/auth/token.ts')
  expect(sessions.get('a')!.state).toBe('active')
  const gone = once(client, 'exit')
  client.kill('SIGKILL')
  await gone
  expect(sessions.get('a')!.state).toBe('crashed')
  expect(held()).toEqual([])
  act('b', ['claim', { paths: ['src/auth/token.ts'] }])
  sessions.sweep()
  expect(sessions.recovery()).toMatchObject([
    { id: 'a', files: ['src/auth/token.ts'], data: { held: ['src/auth'] } }, // although b has taken it since
  ])
  expect(memory.reader.entity(sessions.recovery()[0]!.task!)?.name).toBe('the refresh')
  expect(memory.newsSince(0).some((n) => n.presence?.type === 'session-crashed')).toBe(true)
  sessions.end('a', 'nobody goes on with it')
  expect(sessions.recovery()).toEqual([])
  expect(sessions.start({ id: 'a' }).state).toBe('active') // the same id works again
})

test('[X5] [X6] whenever a process dies, its session gives up its claims before it has crashed', () => {
  for (let looks = 0; looks < 8; looks++) {
    const { act, memory } = clocked()
    const sessions = sessionsOf(memory)
    sessions.start({ id: 'a', pid: process.pid })
    act('a', ['claim', { paths: ['x', 'y'] }])
    let left = looks
    memory.env.isRunning = () => left-- > 0
    for (let i = 0; i < 10; i++) sessions.start({ id: 'b' })
    const ofA = memory.newsSince(0).filter(({ presence }) => presence?.session === 'a')
    expect(ofA.map(({ presence }) => presence!.type).slice(-3), `${looks} looks`).toEqual(['lapsed', 'lapsed', 'session-crashed']) // biome-ignore format: a row
    expect(sessions.recovery()).toMatchObject([{ id: 'a', data: { held: ['x', 'y'] } }])
  }
})

test('[X7] a known process keeps a session and its claims alive, however long the agent thinks', () => {
  const { act, held, memory, pass } = clocked()
  sessionsOf(memory).start({ id: 'a', pid: process.pid })
  act('a', ['claim', { paths: ['x'] }])
  pass(3 * 60 * MINUTE)
  expect(sessionsOf(memory).get('a')!.state).toBe('idle')
  expect(held()).toEqual(['a x'])
  act('b', ['claim', { paths: ['y'] }])
  pass(31 * MINUTE)
  expect(sessionsOf(memory).get('b')!.state).toBe('crashed')
})

test('[X7] /clear gives a new id to the same client: the old one means the new, its work and claims go on', () => {
  const { act, memory } = clocked()
  const sessions = sessionsOf(memory)
  sessions.start({ id: 'old', client: 'claude', pid: process.pid })
  act('old', ['start-task', { description: 'the refresh' }])
  sessions.edited('old', 'a.ts')
  act('old', ['claim', { paths: ['src/**'], note: 'mine' }], ['claim', { paths: ['b.ts'], implicit: true }])
  sessions.start({ id: 'new', client: 'claude', pid: process.pid, source: 'clear' })
  expect(claimsOf(memory).held()).toMatchObject([{ n: 3, session: 'new', on: 'src/**', note: 'mine', from: 'old' }])
  expect(sessions.resolve('old')).toBe('new')
  expect(sessions.get('new')).toMatchObject({ state: 'active', files: ['a.ts'] })
  expect(memory.reader.entity(sessions.get('new')!.task!)?.name).toBe('the refresh')
  expect(sessions.ofProcess()).toBeUndefined() // this process is not below itself
})

test('[X7] a subagent is a child session with its own claims and news; it ends with its parent', () => {
  const { act, held, memory, refused } = clocked()
  const sessions = sessionsOf(memory)
  sessions.start({ id: 'p', pid: process.pid })
  sessions.start({ id: 'p/1', parent: 'p', agent: 'Explore' })
  act('p/1', ['claim', { paths: ['x'] }])
  expect(refused('p', ['claim', { paths: ['x/y'] }])).toContain('p/1')
  sessions.end('p')
  expect(held()).toEqual([])
  expect(sessions.get('p/1')!.state).toBe('ended')
})

test('[X4] news is of others: what was read and has changed comes first, own doings never', () => {
  const { act, memory } = clocked()
  const sessions = sessionsOf(memory)
  act('b', ['record-decision', { name: 'use-sqlite', rationale: 'no daemon' }])
  sessions.start({ id: 'a' })
  sessions.told('a', { door: 'brief', ids: ['decision:use-sqlite'], tokens: 10, chars: 40 })
  act('a', ['record-decision', { name: 'mine' }], ['claim', { paths: ['own'] }])
  act('c', ['claim', { paths: ['src/auth/**'], note: 'tokens' }], ['record-learning', { title: 'L' }])
  act('b', ['record-decision', { name: 'use-sqlite', rationale: 'one file' }])
  const { lines, cursor, more } = inbox(memory, 'a', { max: 2 })
  expect(lines).toEqual([
    'b changed decision "use-sqlite" (decision:use-sqlite), which you read',
    'c claimed src/auth/**: tokens',
  ])
  expect(more).toBe(1)
  sessions.caughtUp('a', cursor)
  expect(inbox(memory, 'a').lines).toEqual([])
})

test('[X4] that work is blocked is told also without a result; claims of edits come and go unsaid', () => {
  const { act, memory } = clocked()
  const sessions = sessionsOf(memory)
  for (const id of ['a', 'b']) sessions.start({ id })
  act(
    'a',
    ['claim', { paths: ['src/auth/**'], role: 'writer' }],
    ['claim', { paths: ['src/auth/login.ts'], implicit: true }],
  )
  act('a', ['release', { role: 'writer', status: 'blocked' }])
  expect(inbox(memory, 'b').lines).toEqual(['a released src/auth/**: blocked'])
  act('a', ['claim', { paths: ['x'], implicit: true }])
  sessions.end('a')
  expect(inbox(memory, 'b').lines).toEqual(['a released src/auth/**: blocked'])
})

test('[X4] nothing is lost behind many events: what a session is given is told, however busy it and the others were', {
  tags: ['long'],
}, () => {
  const { act, memory } = clocked()
  const sessions = sessionsOf(memory)
  for (const id of ['a', 'b']) sessions.start({ id })
  for (let i = 0; i < 600; i++) sessions.edited('a', `f${i}`)
  act('b', ['add-task', { description: 'T' }], ['assign-task', { task: 'T', to: 'a' }])
  const first = inbox(memory, 'a')
  expect(first.lines[0]).toMatch(/^you were given task "T"/)
  expect(first.cursor).toBe(memory.cursor)
  sessions.caughtUp('a', first.cursor)
  // more than one look takes: the next goes on where it ended
  for (let i = 0; i < 5_100; i++) sessions.edited('b', `g${i}`)
  act('b', ['claim', { paths: ['x'] }])
  act('b', ['hand-over', { to: 'a', paths: ['x'] }])
  const one = inbox(memory, 'a')
  expect(one.cursor).toBeLessThan(memory.cursor)
  sessions.caughtUp('a', one.cursor)
  const two = inbox(memory, 'a')
  expect(two.cursor).toBe(memory.cursor)
  expect([...one.lines, ...two.lines]).toContain('b handed x over to you')
})

test('[X6] a session that has completed or abandoned its task is given the next one, and holds the last no longer', () => {
  const { act, held, memory } = clocked()
  sessionsOf(memory).start({ id: 'a' })
  for (const description of ['one', 'two', 'three', 'four']) act('lead', ['add-task', { description }])
  const assign = (task: string, role?: string) => act('lead', ['assign-task', { task, role }]).results[0]!.to
  expect(assign('one')).toBe('a')
  act('a', ['complete', { ref: 'one' }])
  expect(held()).toEqual([])
  expect(assign('two')).toBe('a')
  act('a', ['abandon', { ref: 'two', reason: 'not needed' }])
  expect(held()).toEqual([])
  expect(assign('three', 'impl')).toBe('a')
  act('lead', ['complete', { ref: 'three' }])
  expect(held()).toHaveLength(1) // its role waits for `release --status …`, which does not keep it from the next task
  expect(assign('four')).toBe('a')
})

test('[X7] every sign of life renews a lease, also one of a few seconds', () => {
  const { act, held, memory, pass } = clocked()
  act('a', ['claim', { paths: ['x'], ttl: 4 }])
  for (let i = 0; i < 10; i++) {
    pass(1500)
    sessionsOf(memory).heartbeat('a')
  }
  expect(held()).toEqual(['a x'])
  pass(4001)
  expect(held()).toEqual([])
})

test('[X6] what is said of a role that the session no longer holds is refused, not lost', () => {
  const { act, refused } = clocked()
  act('a', ['claim', { role: 'tester', paths: ['x'] }])
  act('a', ['release', { status: 'complete', result: '12 tests' }])
  expect(refused('a', ['release', { status: 'blocked', handoff: 'wait' }])).toContain('a holds no claim, so this')
  expect(act('a', ['release', {}]).notes).toContain('a holds no claim')
})

test('[X7] a lease longer than its session can be silent says so', () => {
  const { act, memory } = clocked()
  const notes = (id: string, ttl: number) => act(id, ['claim', { paths: [id], ttl }]).notes.join()
  expect(notes('a', 7200)).toContain('30 minutes without a sign of life end it')
  expect(notes('a', 1800)).toBe('')
  sessionsOf(memory).start({ id: 'b', pid: process.pid })
  expect(notes('b', 7200)).toBe('')
})

test('[X6] what is claimed for a role and what is claimed of it without one are one grant: with the role it is free', () => {
  const { memory, act, held } = clocked()
  for (const id of ['a', 'b']) sessionsOf(memory).start({ id })
  act('a', ['claim', { paths: ['x'], role: 'tester' }])
  const { n } = claimsOf(memory).held()[0]!
  act('a', ['claim', { paths: ['x'], note: 'nearly done' }])
  expect(claimsOf(memory).held()).toMatchObject([{ n, on: 'x', role: 'tester', note: 'nearly done' }])
  // the other way round the role is news, so it is a grant of its own in the place of the first
  act('a', ['claim', { paths: ['y'] }], ['claim', { paths: ['z'], implicit: true }])
  act('a', ['claim', { paths: ['y', 'z'], role: 'tester' }])
  expect(held()).toEqual(['a x', 'a y', 'a z'])
  act('a', ['release', { role: 'tester', status: 'complete', handoff: 'ready for implementer' }])
  expect(held()).toEqual([])
  act('b', ['claim', { paths: ['x', 'y', 'z'], role: 'implementer' }])
})

test('[X6] an edit under a claim is given up and handed over with it, and stands in nobody’s way after that', () => {
  const { memory, act, held } = clocked()
  for (const id of ['a', 'b']) sessionsOf(memory).start({ id })
  const edit = (path: string) => act('a', ['claim', { paths: [path], implicit: true }])
  act('a', ['claim', { paths: ['src/auth/**'], role: 'tester' }], ['claim', { paths: ['src/auth/keys/**'] }])
  for (const path of ['src/auth/login.ts', 'src/auth/keys/rsa.ts', 'docs/auth.md']) edit(path)
  act('a', ['release', { role: 'tester', status: 'complete', result: '12 tests' }])
  expect(held()).toEqual(['a src/auth/keys/**', 'a src/auth/keys/rsa.ts', 'a docs/auth.md'])
  expect(inbox(memory, 'b', { since: 0 }).lines.filter((l) => l.includes('12 tests'))).toHaveLength(1)
  act('a', ['hand-over', { to: 'b', paths: ['src/auth/keys/**'] }])
  expect(held()).toEqual(['a docs/auth.md', 'b src/auth/keys/**'])
  act('b', ['claim', { paths: ['src/auth/login.ts'] }])
})

test('[X4] the end of a role is told to those who depend on it, and to no stranger with work of its own', () => {
  const { act, memory } = clocked()
  for (const id of ['designer', 'tester', 'stranger']) sessionsOf(memory).start({ id })
  act('tester', ['claim', { paths: ['test'], role: 'test-writer', dependsOn: ['designer'] }])
  for (const id of ['tester', 'stranger']) sessionsOf(memory).edited(id, `of-${id}.ts`)
  act('designer', ['claim', { paths: ['docs'], role: 'designer' }])
  act('designer', ['release', { role: 'designer', status: 'complete', result: 'three pages' }])
  expect(inbox(memory, 'tester').lines).toEqual(['designer released docs: complete; three pages'])
  expect(inbox(memory, 'stranger')).toMatchObject({ lines: [], more: expect.any(Number) })
})

test('[X4] news of what is deleted, retired or erased says which it was, unless it was erased', () => {
  const { memory, act, get } = openTestMemory()
  const by = { session: 'a', by: 'person' as const }
  const facts = ['Never log card numbers', 'Never deploy on fridays', 'Never name Ms Miller']
  for (const fact of facts) act([['record-fact', { fact, category: 'constraint' }]], by)
  const { cursor } = memory
  const [cards, fridays, miller] = facts.map((fact) => get(fact)!.id)
  act([['delete-fact', { ref: cards }], ['retire', { ref: fridays, reason: 'we do' }], ['delete-fact', { ref: miller }]], by) // biome-ignore format: a row
  act([['purge', { ref: miller, reason: 'a name' }]], by)
  const { lines } = inbox(memory, 'b', { since: cursor })
  expect(lines).toContain(`a deleted fact "Never log card numbers" (${cards})`)
  expect(lines).toContain(`a retired fact "Never deploy on fridays" (${fridays})`)
  expect(lines.join()).not.toContain('Miller')
  expect(memory.newsSince(cursor)[0]!.summary).toContain('deleted fact "Never log card numbers"')
})
