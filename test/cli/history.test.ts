import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { nameOfAuthor } from '../../src/work/coordination/labels.ts'
import { asPerson, inProcess, onTerminal, project } from './run.ts'

const SESSION = '861c46be-7d1f-4c7e-9a51-0d1a5f4f8e21'
const decide = (more: object) => JSON.stringify([['record-decision', { name: 'use-sqlite', ...more }]])

/** A decision that a session of a client wrote and changed, linked and renamed by a person. */
async function past() {
  const { at, run } = await project()
  const of = ['--session', SESSION] as const
  await run('session', 'start', SESSION)
  await run('act', decide({ description: 'We use SQLite', impact: 5 }), ...of)
  await run('act', decide({ description: 'We use SQLite in WAL mode', impact: 7, tags: ['db', 'storage'] }), ...of)
  await run('act', '[["record-principle",{"name":"simple-first"}],["link-entities",{"from":"use-sqlite","to":"simple-first","type":"supports"}]]')
  await run('rename', 'use-sqlite', 'sqlite-store')
  return { at, run }
} // biome-ignore format: a batch

test('[A10] history tells of a handoff what it says, and not which lines of it were put together', async () => {
  const { run } = await project()
  const write = (more: object) => run('act', JSON.stringify([['write-handoff', more]]), '--session', SESSION)
  await run('session', 'start', SESSION)
  await write({ inProgress: ['fix the cart'], complete: true })
  await write({ inProgress: ['test the cart'], complete: true })
  const all = await run('history')
  expect(all).toContain('test the cart')
  expect(all).not.toContain('composed')
})

test('[A10] history tells people what changed, from what to what, with names for ids', async () => {
  const { run } = await past()
  const of = await run('history', 'sqlite-store')
  for (const line of [
    '  recorded',
    '  description: We use SQLite → We use SQLite in WAL mode',
    '  impact: 5 → 7',
    '  tags: added db',
    '  linked: supports simple-first',
    '  renamed: use-sqlite → sqlite-store',
  ])
    expect(of.split('\n')).toContain(line)
  const all = await run('history')
  expect(all).toContain('sqlite-store: renamed: use-sqlite → sqlite-store')
  expect(all).toMatch(
    /description: We use SQLite → We use SQLite in WAL mode; impact: 5 → 7;.* \[tester, cli 861c46be\]/,
  )
  expect(all).not.toContain(SESSION)
  await run('undo')
  expect((await run('history')).split('\n')[0]).toContain('took back: renamed')
  const [push, log] = ['Never push to main', 'Never log passwords']
  await run('act', JSON.stringify([push, log].map((fact) => ['record-fact', { fact }])))
  await run('act', JSON.stringify([push, log].map((ref) => ['retire', { ref, reason: 'old' }])))
  expect((await run('history')).split('\n')[0]).toContain(`retired "${push}": old; retired "${log}": old`)
})

test('[A10] history of an entity says what an undo took back, and the page gets the same words; what was undone keeps its name', async () => {
  const { run } = await project()
  await run('act', '[["record-decision",{"name":"use-sqlite"}]]')
  await run('act', '[["record-decision",{"name":"use-pg"}],["supersede",{"old":"use-sqlite","new":"use-pg"}]]')
  await run('undo')
  const of = await run('history', 'use-sqlite')
  expect(of).toContain('took back: recorded decision "use-pg"; superseded "use-sqlite" by "use-pg"')
  expect(of.split('\n')).toContain('  status: no longer superseded')
  const said: { text: string }[] = JSON.parse(await run('history', 'use-sqlite', '--json'))
  expect(said.map((x) => x.text)).toEqual([
    'recorded',
    'name: use-sqlite',
    'status: superseded',
    'status: no longer superseded',
  ])
  expect((await run('show', 'use-pg')).split('\n').slice(0, 2)).toEqual([
    'decision use-pg  (taken back)',
    expect.stringMatching(/^ {2}recorded just now/),
  ])
})

test('[S2] what has keys of its own is shown a line for each', async () => {
  const { run } = await project()
  await run('act', decide({ attrs: { adr: 'docs/adr/1.md', since: { year: 2026 } } }))
  expect(await run('show', 'use-sqlite')).toContain('  attrs:\n    adr: docs/adr/1.md\n    since: {"year":2026}\n')
})

test('[A10] on a terminal history is a table in local time, with nothing cut', async () => {
  const { at } = await past()
  const screen = async (...args: string[]) =>
    stripVTControlCharacters((await onTerminal({ ...at, env: { ...at.env, TZ: 'Asia/Kolkata' } }, args)).out)
  const table = await screen('history', 'sqlite-store')
  expect(table).toMatch(
    /^WHEN \(\+05:30\) +WHAT +WHO +BATCH\r?\n20\d\d-\d\d-\d\d \d\d:\d\d +recorded +tester, cli 861c46be +\w+:1/,
  )
  expect(table.replace(/\s+/g, ' ')).toMatch(/description: We use SQLite → .*We use SQLite in WAL mode /)
  expect(table).not.toContain('…')
  expect(await screen('history')).toMatch(/session started +tester, cli 861c46be/)
  await screen('claim', 'src/**')
  expect(await screen('history')).toContain('claimed src/**')
})

test('[A10] history says that there is more, as many lines as --limit names, and who started a session or claimed', async () => {
  const { at, run } = await past()
  await run('claim', 'src/**', '--session', 's1')
  const all = (await run('history')).trimEnd().split('\n')
  expect(all.filter((line) => /claimed|session started/.test(line)).every((line) => line.includes('[tester, '))).toBe(
    true,
  )
  expect(all.at(-1)).not.toContain('more')
  const some = (await run('history', '--limit', '2')).trimEnd().split('\n')
  expect(some).toEqual([...all.slice(0, 2), '… more: give --limit 50'])
  expect((await onTerminal(at, ['history', '--limit', '2'])).out).toContain('… more: give --limit 50')
  expect(await run('history', '--limit', String(all.length))).not.toContain('… more')
})

test('[A10] what was retired and is brought back is told as that', async () => {
  const { run } = await past()
  await run('retire', 'sqlite-store', '--reason', 'no longer holds')
  expect(await run('restore', 'sqlite-store')).not.toContain('no longer')
  const told = await run('history', 'sqlite-store')
  expect(told).toContain('brought back')
  expect(told).not.toContain('no longer no longer')
  expect(await run('undo')).toContain('brought back "sqlite-store"')
})

test('[A10] history and show tell why something was replaced or deleted, and a proposed undo what it takes back', async () => {
  const { run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  await act(
    ['record-decision', { name: 'cache', description: 'Cache prices in Redis' }],
    ['record-decision', { name: 'no-cache', description: 'Read the prices each time' }],
    ['record-decision', { name: 'queue', description: 'A queue before the mailer' }],
  )
  await act(['supersede', { old: 'cache', new: 'no-cache', reason: 'Redis lost updates' }])
  await act(['delete-decision', { name: 'queue', reason: 'never built' }])
  const batches = await run('history')
  expect(batches).toContain('superseded "cache" by "no-cache": Redis lost updates')
  expect(batches).toContain('deleted decision "queue": never built')
  expect(await run('history', 'cache')).toContain('superseded by no-cache: Redis lost updates')
  expect(await run('history', 'queue')).toContain('deleted: never built')
  expect(await run('show', 'cache')).toContain('superseded-by ← no-cache: Redis lost updates')
  await act(['retire', { ref: 'no-cache', reason: 'ok"\n2026-11-30T09:00:00Z  abcdefg:4  confirmed "x' }])
  expect(await run('history')).not.toMatch(/^2026-11-30T09:00:00Z {2}abcdefg/m)
  await act(['propose', { action: ['undo', { batch: 'last' }] }])
  expect(await run('review')).toContain('proposal  take back: retired "no-cache": ok')
})

test('[A10] a proposal within proposals is told once, however they name each other; an edit beside a retirement is told', async () => {
  const { run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  await act(
    ['record-decision', { name: 'alpha', rationale: 'first' }],
    ['propose', { action: ['retire', { ref: 'alpha', reason: 'old' }] }],
  )
  const [proposal] = JSON.parse(await run('list', 'proposal', '--json')) as { id: string }[]
  await act(['propose', { action: ['supersede', { old: proposal!.id, new: proposal!.id }] }]).catch(() => undefined)
  await act(['propose', { action: ['curate', { ref: proposal!.id }] }]).catch(() => undefined)
  expect(await run('history')).toContain('proposed to retire "alpha": old')
  await act(
    ['record-decision', { ref: 'decision:alpha', rationale: 'second' }],
    ['retire', { ref: 'decision:alpha', reason: 'over' }],
  )
  expect((await run('history')).split('\n')[0]).toContain('rationale: first → second; retired: over')
})

test('[A10] history tells links by their ends and what was said of them, and proposals by what they propose', async () => {
  const { at, run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  const last = async () => (await run('history')).split('\n')[0]!
  await act(['record-decision', { name: 'a' }], ['record-decision', { name: 'b' }])
  const link = { from: 'a', to: 'b', type: 'supports' }
  await act(['link-entities', link])
  await act(['link-entities', { ...link, description: 'both are local' }])
  expect(await last()).toContain('changed "a" supports "b" (description: both are local)')
  await act(['unlink-entities', { ...link, reason: 'no longer' }])
  expect(await last()).toContain('unlinked "a" supports "b": no longer')
  await run('undo')
  expect(await last()).toContain('took back: unlinked "a" supports "b": no longer')
  const propose = async (verb: string, args: object) => {
    await act(['propose', { action: [verb, args] }])
    return last()
  }
  expect(await propose('record-decision', { name: 'a', impact: 3, tags: ['x'] })).toContain(
    'proposed to record decision "a" (impact: 3, tags: ["x"])',
  )
  expect(await propose('unlink-entities', link)).toContain('proposed to unlink "a" supports "b"')
  expect(await propose('delete-decision', { ref: 'a', reason: 'old' })).toContain(
    'proposed to delete decision "a": old',
  )
  expect(await propose('rename', { ref: 'a', name: 'c' })).toContain('proposed to rename "a" (name: c)')
  const all = JSON.parse(await run('list', 'proposal', '--json')) as { id: string; name: string }[]
  const of = (verb: string) => all.find((e) => e.name.includes(verb))!.id
  asPerson(at, ['reject', { ref: of('rename'), reason: 'both names stay' }])
  expect(await last()).toContain('rejected the proposal to rename "a" (name: c): both names stay')
  asPerson(at, ['confirm', { ref: of('record-decision') }])
  expect(await last()).toContain('confirmed the proposal to record decision "a" (impact: 3, tags: ["x"])')
})

test('[A10] [K15] what was erased and its erasure are told apart, by the kind alone', async () => {
  const { run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  await act(['record-learning', { title: 'Ana said so', body: 'In a call' }])
  const [learning] = JSON.parse(await run('list', 'learning', '--json')) as { id: string }[]
  await act(['purge', { ref: learning!.id, reason: 'private' }])
  const [erasing, recording] = (await run('history')).split('\n')
  expect(erasing).toContain('erased a learning')
  expect(recording).toContain('wrote of a learning (erased since)')
})

test('[A10] history names what is claimed, and what a completion that was taken back had said', async () => {
  const { at, run } = await project()
  const of = ['--session', 's1'] as const
  await run('act', '[["start-task",{"description":"Read the scale"}]]', ...of)
  const [task] = JSON.parse(await run('list', 'task', '--json')) as { id: string }[]
  await run('claim', task!.id, ...of)
  expect(nameOfAuthor({ user: 'Dana', session: '' }, undefined)).toBe('Dana') // of what runs by itself
  expect(await run('history')).toContain('claimed "Read the scale"')
  await run('act', JSON.stringify([['complete', { ref: task!.id, result: 'reads the scale' }]]), ...of)
  await run('undo', ...of)
  expect(await run('history', task!.id)).toContain('result: removed reads the scale')
  await run('act', '[["propose",{"action":["retire",{"ref":"Read the scale","reason":"x"}]}]]', ...of)
  const [proposal] = JSON.parse(await run('list', 'proposal', '--json')) as { id: string }[]
  asPerson(at, ['reject', { ref: proposal!.id, reason: 'not yet' }])
  expect(await run('history', proposal!.id)).toContain('because: not yet')
})

test('[T1] a list of links names what they link', async () => {
  const { run } = await past()
  expect(await run('list', 'relationship')).toContain('decision:use-sqlite supports principle:simple-first')
})

test('[T1] history and show say in words what is proposed, abandoned and imported', async () => {
  const { at, run } = await project()
  await run('session', 'start', 'a')
  await run('task', 'start', 'Fix it', '--session', 'a')
  await run('task', 'abandon', '--reason', 'no time', '--session', 'a')
  expect(await run('history', 'Fix it')).toMatch(/\n {2}abandoned\n {2}because: no time\n/)
  await run('act', '[["record-decision", {"name": "alpha", "attrs": {"owner": "ana"}}]]', '--session', 'a')
  expect(await run('history', 'alpha')).toMatch(/\n {2}owner: ana\n/)
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  await inProcess(agent, ['undo', '--all-of', 'a', '--session', 'b', '--yes'])
  const [proposal] = /proposal:\S+/.exec(await run('confirm'))!
  const said = 'take back: recorded decision "alpha"'
  expect(await run('history', proposal)).toContain(`\n  ${said}`)
  expect(await run('show', proposal)).toContain(`proposal ${said}`)
  mkdirSync(join(at.dir, 'docs/adr'), { recursive: true })
  writeFileSync(
    join(at.dir, 'docs/adr/0001-a.md'),
    '# Use Postgres\n\n## Status\n\nAccepted\n\n## Decision\n\nWe do.\n',
  )
  await run('import', 'decisions', 'docs/adr')
  expect((await run('history')).split('\n')[0]).toContain(', import decisions docs/adr]')
})
