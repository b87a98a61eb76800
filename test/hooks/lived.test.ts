import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { staleAnchors } from '../../src/engine/store/code-anchors.ts'
import { getSession, putSession } from '../../src/engine/store/presence.ts'
import { scan } from '../../src/find/code/scan.ts'
import { provenanceOf } from '../../src/model/entity.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { act } from '../../src/surfaces/tools/act.ts'
import { waitingIn } from '../../src/surfaces/tools/review-queue.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory } from '../helpers.ts'

/** Sessions of Claude Code, as its hooks tell of them; faults seen where whole histories of real prompts were typed again. */
function sessions() {
  const t = openTestMemory()
  const on = async (session: string, event: HookCall['event'], more: Partial<HookCall> = {}) => {
    t.clock.now += 60_000
    const call = { client: 'claude', event, session, cwd: t.dir, ...more } as const
    return (await respond(t.memory, t.project, call, () => 60_000)).reply
  }
  const record = async (session: string, ...actions: unknown[]) => {
    t.clock.now += 1_000
    const context = {
      memory: t.memory,
      project: t.project,
      session,
      agent: 'claude-code',
      by: 'agent',
      local: true,
    } as const
    return (await act.run(context, { actions } as never)).text
  }
  return { t, on, record }
}

test('[W4] of two sessions that began with the same words, the second keeps its handoff, and takes the place of the first', async () => {
  const { t, on, record } = sessions()
  for (const id of ['aaaaaaaa-1', 'bbbbbbbb-2']) {
    await on(id, 'session-start')
    await on(id, 'prompt', { prompt: 'read the README and the code' })
    await record(id, ['write-handoff', { inProgress: [`part ${id}`], nextSteps: [`finish ${id}`] }])
    await on(id, 'stop')
    await on(id, 'session-end', { reason: 'exit' })
    t.clock.now += 3_600_000
  }
  const { context } = await on('c3', 'session-start')
  expect(context).toContain('finish bbbbbbbb-2')
  expect(context).not.toContain('finish aaaaaaaa-1')
})

test('[W3] what took the place of something is not counted as left out', async () => {
  const { on, record } = sessions()
  await on('s1', 'session-start')
  await record(
    's1',
    ['record-decision', { name: 'a', description: 'use npm' }],
    ['record-decision', { name: 'b', description: 'use pnpm' }],
    ['supersede', { old: 'decision:a', new: 'decision:b' }],
  )
  await on('s1', 'session-end', { reason: 'exit' })
  const { context } = await on('s2', 'session-start')
  expect(context).toContain('decision:b')
  expect(context).not.toContain('left out')
})

test('[R2] an agent that was asked at a full context what lasts is not told at its next stop that it recorded nothing', async () => {
  const { on } = sessions()
  await on('long', 'session-start')
  for (let i = 0; i < 8; i++)
    await on('long', 'prompt', {
      prompt: `the button number ${i} of the window stands too far on the left side, move it`,
    })
  expect((await on('long', 'stop', { contextUsed: 85 })).context).toContain('What of this will a later session need?')
  expect((await on('long', 'stop', { contextUsed: 86 })).context ?? '').not.toContain('recorded nothing')
})

test('[R3] a sentence that says itself that it lasts is a rule after the yes, though it states a wish', async () => {
  const { t, on } = sessions()
  await on('s1', 'session-start')
  const { visible } = await on('s1', 'prompt', { prompt: 'From now on I want you to talk to me in French' })
  expect(visible).toContain('From now on I want you to talk to me in French')
  await on('s1', 'prompt', { prompt: 'yes' })
  expect(t.memory.reader.list('fact').map((e) => [e.name, e.fields.standing ?? 'confirmed'])).toEqual([
    ['From now on I want you to talk to me in French', 'confirmed'],
  ])
})

test('[Y2] a change that an agent wants is asked about in words', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Do not run deploy', standing: 'confirmed' }]])
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'I will run all fly commands myself, just tell me' })
  const said = await record(
    's1',
    ['record-fact', { fact: 'Do not run fly commands', said: 'I will run all fly commands myself' }],
    ['supersede', { old: 'Do not run deploy', new: 'Do not run fly commands', reason: 'wider' }],
  )
  expect(said).not.toContain('undefined')
  const { visible } = await on('s1', 'stop')
  expect(visible).toContain('supersede "Do not run deploy" by "Do not run fly commands": wider')
})

test('[R3] what an agent makes of words that the user has agreed to is no second rule', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'From now on run pnpm lint before you commit. The menu is broken.' })
  await on('s1', 'prompt', { prompt: 'yes' })
  await record(
    's1',
    ['record-fact', { fact: 'Lint with pnpm lint before commits', said: 'run pnpm lint before you commit' }],
    ['record-fact', { fact: 'The menu is ours to mend', said: 'The menu is broken' }],
  )
  const { visible = '' } = await on('s1', 'stop')
  expect(visible).toContain('The menu is ours to mend')
  expect(visible).not.toContain('Lint with')
  const rules = t.memory.reader.list('fact', { standing: 'confirmed' })
  expect(rules.map((e) => e.name)).toEqual(['run pnpm lint before you commit'])
  expect(t.get('Lint with pnpm lint before commits')?.fields.standing).toBe('rejected')
  // the words that were agreed to are gone from the session too, once something is erased
  const kept = () => JSON.stringify(t.memory.db.all('SELECT body FROM sessions'))
  expect(kept()).toContain('pnpm lint')
  t.act([['purge', { ref: rules[0]!.id, reason: 'said by mistake' }]])
  expect(kept()).not.toContain('pnpm lint')
})

test('[R3] what the user says now is asked about, though an older rule that forbids it holds the same words', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Never use npm here', standing: 'confirmed' }]])
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Yarn broke again today. I changed my mind: use npm here' })
  await record('s1', ['record-fact', { fact: 'npm is the package manager', said: 'use npm here' }])
  const { visible = '' } = await on('s1', 'stop')
  expect(visible).toContain('npm is the package manager')
  expect(t.get('npm is the package manager')?.fields.standing).toBe('proposed')
})

test('[W4] a handoff says how many sessions came after it, and in whose words it is: nothing is added to one that leaves no work', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'make the totals of the cart right, they are off by one cent' })
  await record(
    's1',
    ['record-decision', { name: 'cents', rationale: 'floats lose them' }],
    ['write-handoff', { title: 'totals', inProgress: [], nextSteps: ['look at the discounts'] }],
  )
  await on('s1', 'stop')
  await on('s1', 'session-end', { reason: 'exit' })
  const { context: next = '' } = await on('s2', 'session-start')
  expect(next).toContain('look at the discounts')
  expect(next).not.toMatch(/Asked:|check what is still so/)
  await on('s2', 'prompt', { prompt: 'now the discounts, and then the receipt' })
  sessionsOf(t.memory).edited('s2', 'discounts.ts')
  await on('s2', 'session-end', { reason: 'exit' })
  expect((await on('s3', 'session-start')).context).toContain(', 1 session ago: check what is still so')
})

test('[W4] a session is called by what led it to edit or record something, and not by what was asked last', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Where were we with the receipts?' })
  await on('s1', 'prompt', { prompt: 'Find out why the tests of kafka are slow' })
  await record('s1', ['record-learning', { title: 'The broker needs 40 s' }])
  await on('s1', 'prompt', { prompt: 'write a handoff please' })
  expect(sessionsOf(t.memory).get('s1')!.data.title).toBe('Find out why the tests of kafka are slow')
})

test('[W4] sessions that changed nothing make no handoff older; two that did leave one without work its name', async () => {
  const { t, on, record } = sessions()
  const ask = async (id: string, prompt: string) => {
    await on(id, 'session-start')
    await on(id, 'prompt', { prompt })
  }
  await ask('s1', 'raise the limit in a.py to 80 requests')
  await record('s1', ['write-handoff', { title: 'limit', inProgress: ['the limit of a.py is 80 now'] }])
  await on('s1', 'session-end', { reason: 'exit' })
  for (const id of ['s2', 's3', 's4']) {
    await ask(id, 'what time is it in Lisbon at the moment?')
    await on(id, 'session-end', { reason: 'exit' })
  }
  const { context: idle } = await on('s5', 'session-start')
  expect(idle).toContain('the limit of a.py is 80 now')
  expect(idle).not.toContain('ago: check what is still so')
  for (const id of ['s6', 's7']) {
    await ask(id, `change ${id}.py, its header is wrong`)
    sessionsOf(t.memory).edited(id, `${id}.py`)
    await on(id, 'session-end', { reason: 'exit' })
  }
  const page = t.memory.reader.list('handoff').filter((e) => e.fields.session !== 's1')
  t.act(page.map(({ id }) => ['retire', { ref: id, reason: 'done' }]))
  const { context: later } = await on('s8', 'session-start')
  expect(later).toMatch(/Handoff "limit".* 2 sessions ago: check what is still so .*; tidemark handoff/)
})

test('[X5] [W4] a crash keeps the last answer to a request that changed files, and says nothing twice', async () => {
  const { t, on } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Write the title page, then the lock of a term' })
  t.clock.now += 1_000
  sessionsOf(t.memory).edited('s1', 'title.md')
  t.act([['claim', { paths: ['title.md', 'lock/**'] }]], { session: 's1' })
  await on('s1', 'stop', { said: 'Title done. Next: add the term lock' })
  await on('s1', 'prompt', { prompt: 'what did the others do in the meantime?' })
  await on('s1', 'stop', { said: 'nothing much' })
  const { process: _, ...row } = getSession(t.memory.db, 's1')! // nobody knows whether it runs: it falls silent
  t.memory.db.write(() => putSession(t.memory.db, row))
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 's2' })
  const { text: context } = brief(t.memory, t.project, { session: 's2' })
  expect(context).toContain('Session s1')
  for (const words of ['Next: add the term lock', 'what did the others do', 'nothing much'])
    expect(context.split(words), words).toHaveLength(2)
  expect(context).not.toMatch(/Files in hand|Asked: Write/)
  t.act([['retire', { ref: t.memory.reader.list('handoff')[0]!.id, reason: 'read' }]])
  expect(
    brief(t.memory, t.project, { session: 's2' }).text,
  ).toContain(`  Asked: Write the title page, then the lock of a term
  Answered: Title done. Next: add the term lock
  Asked: what did the others do in the meantime?
  Answered: nothing much
  Files in hand: title.md
  Had claimed: lock/`)
})

test('[R1] what is asked for with "can you …?" are words of the person; what is only asked, or asked in the middle, is not', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Can you please show start times only where all events fit?' })
  await on('s1', 'prompt', { prompt: 'On the page of results remove the button "search by relevance of posts"' })
  await on('s1', 'prompt', { prompt: 'The last event is cut off. Why? Can it be shown whole, please?' })
  await on('s1', 'prompt', { prompt: 'Should we always indent with tabs here? Can you find out whether we deploy on Fridays?' }) // biome-ignore format: one thought
  const said = [
    'Can you please show start times only where all events fit?',
    'show start times only where all events fit',
    'please show start times only where all events fit?',
    'On the page of results remove the button "search by relevance of posts"',
    'The last event is cut off. Why? Can it be shown whole, please?',
    '"search by relevance of posts"',
    'Why?',
    'we always indent with tabs here',
    'we deploy on Fridays',
  ]
  const kept = await Promise.all(
    said.map(async (said, i) => {
      await record('s1', ['record-learning', { title: `thing ${i}`, said }])
      return provenanceOf(t.get(`learning:thing-${i}`)!).some((p) => p.said !== undefined)
    }),
  )
  expect(kept).toEqual([true, true, true, true, true, false, false, false, false])
})

test('[R2] what was typed before the agent last recorded something by itself was judged: no later session is asked about it', async () => {
  const { on, record } = sessions()
  const typed = (n: number) => `the report number ${n} is to have its totals below the table, in bold`
  await on('s1', 'session-start')
  for (const n of [1, 2, 3]) await on('s1', 'prompt', { prompt: typed(n) })
  await record('s1', ['record-learning', { title: 'totals', body: 'below', said: typed(2) }])
  await on('s1', 'prompt', { prompt: typed(4) })
  await on('s1', 'session-end', { reason: 'exit' })
  const { context = '' } = await on('s2', 'prompt', { prompt: 'mend the chart of the first quarter' })
  expect([1, 2, 3, 4].map((n) => context.includes(typed(n)))).toEqual([false, false, false, true])
})

test('[R2] a start asks for a review of what the review shows: what binds in nearly the same words is not asked again, a rule for some files says nothing of all', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Always use Minitest and fixtures', paths: ['test/**'] }]], { by: 'person' })
  t.act([['record-fact', { fact: 'Run all the tests before a commit' }]], { by: 'person' })
  await record('s1', ['record-fact', { fact: 'Run the tests before a commit' }])
  expect((await on('s2', 'session-start')).visible).not.toContain('to review')
  await record('s2', ['record-fact', { fact: 'Always use Minitest and fixtures here' }])
  expect((await on('s3', 'session-start')).visible).toContain('1 to review')
  expect(waitingIn(t.memory).map((e) => e.name)).toEqual(['Always use Minitest and fixtures here'])
})

test('[Y1] what a person typed is asked about at a start, though a file says nearly the same', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'prompt', { prompt: 'Validate the input of all handlers with zod schemas, as the others do.' })
  await record('s1', ['record-fact', { fact: 'Always validate the input of all handlers with zod schemas', said: 'Validate the input of all handlers with zod schemas' }]) // biome-ignore format: a row
  writeFileSync(join(t.dir, 'CLAUDE.md'), '- Always validate the input of handlers with zod schemas\n')
  t.act([['record-fact', { fact: 'Always validate the input of handlers with zod schemas', standing: 'proposed', locations: ['CLAUDE.md:1'] }]], { source: 'import claude-md CLAUDE.md' }) // biome-ignore format: a row
  expect((await on('s2', 'session-start')).context).toContain('Said in a prompt')
})

test('[Y1] [R4] a rule binds until one that binds takes its place; what was ended or replaced waits for no yes', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Use pnpm for installs' }]], { by: 'person' })
  await record('s1', ['record-fact', { fact: 'Use npm for installs' }], ['record-fact', { fact: 'Hash with argon2' }])
  t.act([['supersede', { old: 'fact:use-pnpm-for-installs', new: 'fact:use-npm-for-installs' }]], { by: 'person' })
  t.act([['retire', { ref: 'fact:hash-with-argon2', reason: 'not needed' }]], { by: 'person' })
  const { context = '', visible } = await on('s2', 'session-start')
  expect(context).toContain('- Use pnpm for installs')
  expect(visible).toContain('1 to review')
  t.act([['confirm', { ref: 'fact:use-npm-for-installs' }]], { by: 'person' })
  const { context: after = '', visible: then } = await on('s3', 'session-start')
  expect(after).toContain('- Use npm for installs')
  expect(after).not.toContain('pnpm')
  expect(then).not.toContain('review')
})

test('[W4] what a session left in its files is not put away by one that worked on others, but by one that goes on with them', async () => {
  const { t, on } = sessions()
  const works = async (id: string, file: string, said: string) => {
    t.clock.now += 60_000
    await on(id, 'session-start')
    await on(id, 'prompt', { prompt: `work on the file ${file} as we said` })
    await on(id, 'after-edit', { tool: { name: 'Edit', paths: [join(t.dir, file)] } })
    await on(id, 'stop', { said })
    await on(id, 'session-end', { reason: 'exit' })
  }
  const left = () => t.memory.reader.list('handoff').map((e) => String(e.fields.inProgress))
  await works('s1', 'gift.ts', 'Step 1 of 3 is done; parsing is missing.')
  await works('s2', 'tax.ts', 'The tax is 2 now.')
  expect(left()).toEqual([expect.stringContaining('The tax is 2'), expect.stringContaining('parsing is missing')])
  expect((await on('s3', 'session-start')).context).toMatch(/and 1 more handoff, the newest "[^"]*gift\.ts/)
  await works('s4', 'gift.ts', 'All of it is done.')
  expect(left()).toEqual([expect.stringContaining('All of it is done'), expect.stringContaining('The tax is 2')])
})

test('[P4] a session that goes on another branch is told as on that', async () => {
  const { t, on } = sessions()
  mkdirSync(join(t.dir, '.git'), { recursive: true })
  const onBranch = (name: string) => writeFileSync(join(t.dir, '.git/HEAD'), `ref: refs/heads/${name}\n`)
  onBranch('main')
  await on('s1', 'session-start')
  onBranch('feat/discount')
  await on('s1', 'prompt', { prompt: 'now the discount of the cart, as we said' })
  expect(sessionsOf(t.memory).get('s1')!.branch).toBe('feat/discount')
})

test('[R3] a rule keeps its commands: code in backticks stays, and dots of a path end no sentence', async () => {
  const { on } = sessions()
  await on('s1', 'session-start')
  const asks = async (prompt: string) => (await on('s1', 'prompt', { prompt })).visible ?? ''
  const said = 'From now on, always run go vet ./... and make test before you commit'
  expect(await asks(`${said}. Then look at src/pattern.go.`)).toContain(`"${said}`)
  expect(await asks('Always run `go test ./...` before you push.')).toContain(
    '"Always run `go test ./...` before you push',
  )
  expect(await asks('Never use git add . in this repository')).toContain('"Never use git add . in this repository"')
  // what was quoted is cut out, and half of a rule is none
  expect(await asks('From now on answer with "Cut by the captain of the ship" at the top')).not.toContain('confirm?')
})

test('[R4] an answer to what this session did not ask is no silence', async () => {
  const { on } = sessions()
  await on('s1', 'session-start')
  expect((await on('s1', 'prompt', { prompt: 'yes d74' })).visible).toContain('has no open question d74')
  for (const prompt of ['yes', 'no bad', 'no http://localhost:3000/x'])
    expect((await on('s1', 'prompt', { prompt })).visible).toBeUndefined()
})

test('[W3] [W4] what belongs to another app of the repository is not told where a session begins in its own, and its handoff stays', async () => {
  const { t, on, record } = sessions()
  for (const app of ['a', 'b']) {
    const cwd = join(t.dir, 'apps', app)
    mkdirSync(cwd, { recursive: true })
    const id = `in-${app}`
    await on(id, 'session-start', { cwd })
    await on(id, 'prompt', { cwd, prompt: `Work on the app ${app} for a while, please` })
    const of = [['record-decision', { name: `cache-of-${app}`, description: `${app} keeps its cache in memory` }]]
    await record(id, ...of, ['record-learning', { title: `The server of ${app} needs a restart` }])
    await record(id, ['record-fact', { fact: `Never log in ${app}`, paths: [`apps/${app}/**`] }])
    t.act([['confirm', { ref: `fact:never-log-in-${app}` }]])
    await record(id, ['write-handoff', { nextSteps: [`finish the form of ${app}`] }])
    await on(id, 'session-end', { cwd, reason: 'exit' })
  }
  mkdirSync(join(t.dir, 'apps/c'))
  const fresh = await on('first-c', 'session-start', { cwd: join(t.dir, 'apps/c') })
  expect(fresh.context).toContain('knows nothing of this folder yet')
  expect(fresh.visible).toContain('nothing recorded for this folder yet')
  t.act([['record-fact', { fact: 'Never push to main' }]])
  for (const page of ['docs/adr/1-money.md', 'apps/b/docs/adr/1-queue.md'])
    t.act([['record-decision', { name: `of-${page.length}`, description: `told by ${page}`, locations: [page] }]], {
      source: 'import decisions docs',
    })
  const told = async (folder: string) =>
    (await on(`now-${folder}`, 'session-start', { cwd: join(t.dir, folder) })).context ?? ''
  const inA = await told('apps/a')
  for (const line of [
    'cache in memory',
    'server of a needs',
    'Never log in a (for apps/a/**)',
    'form of a',
    'push to main',
    'told by docs/adr',
  ])
    expect(inA).toContain(line)
  expect(inA).not.toMatch(/\bb keeps|server of b|log in b|form of b|told by apps/)
  const everywhere = await told('')
  for (const line of ['a keeps', 'b keeps', 'server of a', 'server of b', 'log in a', 'log in b', 'form of b'])
    expect(everywhere).toContain(line)
})

test('[W2] a decision is not called outdated by the session that carries it out, but by the next one that changes its code', async () => {
  const { t, on, record } = sessions()
  const file = join(t.dir, 'auth.ts')
  const reads = (ttl: number) => {
    writeFileSync(file, `export const TTL = ${ttl}\n`)
    utimesSync(file, t.clock.now / 1000, t.clock.now / 1000)
  }
  const edit = async (session: string, ttl: number) => {
    const tool = { name: 'Edit', paths: [file], edits: [{ path: file, text: `TTL = ${ttl}` }] }
    await on(session, 'before-edit', { tool })
    reads(ttl)
    await on(session, 'after-edit', { tool })
    await scan(t.memory, t.project)
  }
  const start = async (session: string) => (await on(session, 'session-start')).context ?? ''
  reads(7200)
  await on('s1', 'session-start')
  await record('s1', ['record-decision', { name: 'short-sessions', description: 'Sessions end after 900 s', locations: ['auth.ts#TTL'] }], ['record-fact', { fact: 'TTL in auth.ts is 7200', locations: ['auth.ts#TTL'] }]) // biome-ignore format: a row
  await scan(t.memory, t.project)
  await edit('s1', 900)
  await on('s1', 'session-end', { reason: 'exit' })
  const after = await start('s3')
  expect(after).toMatch(/Sessions end after 900 s(?!.*changed)/)
  const stale = () => staleAnchors(t.memory.db, t.dir).map((a) => a.entity)
  expect(stale()).toEqual([expect.stringMatching(/^fact:ttl-in-auth/)])
  await edit('s3', 60)
  expect(await start('s4')).toMatch(/Sessions end after 900 s.*TTL in auth.ts changed/)
})

test('[W2] what somebody else wrote into a file while the session that decided is open outdates the decision', async () => {
  const { t, on, record } = sessions()
  const file = join(t.dir, 'auth.ts')
  const reads = (ttl: number) => {
    writeFileSync(file, `export const TTL = ${ttl}\n`)
    utimesSync(file, t.clock.now / 1000, t.clock.now / 1000)
  }
  reads(900)
  await on('s1', 'session-start')
  await on('s1', 'after-edit', { tool: { name: 'Edit', paths: [file] } })
  await record('s1', [
    'record-decision',
    { name: 'short', description: 'Sessions end after 900 s', locations: ['auth.ts#TTL'] },
  ])
  await scan(t.memory, t.project)
  t.clock.now += 3_600_000
  reads(86_400)
  await scan(t.memory, t.project)
  expect(staleAnchors(t.memory.db, t.dir).map((a) => a.entity)).toEqual(['decision:short'])
})

test('[W4] a handoff in the words of an agent is told without what hooks saw, and without its state once somebody has gone on', async () => {
  const { t, on, record } = sessions()
  const edit = (session: string, path: string) =>
    on(session, 'after-edit', { tool: { name: 'Edit', paths: [join(t.dir, path)] } })
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Make the form of the orders, with all its fields, please' })
  await edit('s1', 'form.ts')
  await record('s1', [
    'write-handoff',
    { inProgress: ['half of the fields are there'], nextSteps: ['add the sum'], blockers: ['no key yet'] },
  ])
  await on('s1', 'stop', { said: 'The first half is done.' })
  await on('s1', 'session-end', { reason: 'exit' })
  const next = (await on('s2', 'session-start')).context ?? ''
  for (const line of ['half of the fields are there', 'add the sum']) expect(next).toContain(line)
  expect(next).not.toMatch(/Edited form\.ts|Answered:|Asked:/)
  await on('s2', 'prompt', { prompt: 'Look at the list of the customers and mend its order' })
  await edit('s2', 'customers.ts')
  expect((await on('s3', 'session-start')).context).toContain('half of the fields are there') // beside it, not behind it
  await edit('s2', 'form.ts')
  await on('s2', 'session-end', { reason: 'exit' })
  const later = (await on('s4', 'session-start')).context ?? ''
  for (const line of ['add the sum', 'no key yet']) expect(later).toContain(line)
  expect(later).not.toContain('half of the fields are there')
})

test('[R3] a question mark in code is no question of the agent: a bare yes is for ours', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'The lists are sorted by name in every page of this shop' })
  await record('s1', [
    'record-fact',
    { fact: 'Lists are sorted by name', said: 'the lists are sorted by name in every page' },
  ])
  await on('s1', 'stop', {
    said: 'I read `data?.items` now:\n```ts\nconst n = data?.items ? 1 : 0\n```\nDone, a?.b works.',
  })
  await on('s1', 'prompt', { prompt: 'yes' })
  expect(t.get('fact:lists-are-sorted-by-name')?.fields.standing ?? 'confirmed').toBe('confirmed')
})

test('[W2] what is of files that have all gone is told at no start, of decisions the name is; one whose file is still to come is told', async () => {
  const { t, on, record } = sessions()
  writeFileSync(join(t.dir, 'old.ts'), 'export const sum = 1\n')
  await on('s1', 'session-start')
  const learning = (title: string, at: string) => [
    'record-learning',
    { title, body: `The ${title} adds up`, locations: [at] },
  ]
  const ended = ['record-decision', { name: 'no-pool', description: 'The pool is removed', locations: ['old.ts#sum'] }]
  await record('s1', learning('old-sum', 'old.ts#sum'), learning('new-sum', 'new.ts#sum'), ended)
  await scan(t.memory, t.project)
  expect((await on('s2', 'session-start')).context).toContain('old-sum adds up')
  rmSync(join(t.dir, 'old.ts'))
  const { context } = await on('s3', 'session-start')
  expect(context).toContain('new-sum adds up')
  expect(context).toMatch(/^- Also decided .*: no-pool$/m)
  expect(context).not.toContain('The pool is removed')
  expect(context).not.toContain('old-sum adds up')
})

test('[H3] a file is meant by its name, or by the end of a path on any machine; before an edit only what is near it is told', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await record('s1',
    ['record-decision', { name: 'grid-first', description: 'A grid comes first', locations: ['lib/plan/mod_grid.py'] }],
    ['record-learning', { title: 'No files', body: 'The host has no files to write', locations: ['lib'] }],
    ['record-failed-approach', { approach: 'Cloud hosting with root directory lib/plan', outcome: 'not found' }],
  ) // biome-ignore format: a list
  const told = async (...[session, event, more]: Parameters<typeof on>) =>
    (await on(session, event, more)).context ?? ''
  for (const [i, prompt] of ['do the same for mod_grid.py', String.raw`read @\home\me\repo\lib\plan\mod_grid.py:12 first`, 'look at plan/mod_grid.py'].entries())
    expect(await told(`p${i}`, 'prompt', { prompt }), prompt).toContain('A grid comes first') // biome-ignore format: a list
  expect(await told('p7', 'prompt', { prompt: 'look at old/mod_grid.py, and at rid.py' })).not.toContain('A grid')
  const trace =
    'Object.keys, Array.from, e.g. React.useState and console.log or process.env, then in lib/plan/mod_grid.py'
  expect(await told('p8', 'prompt', { prompt: trace })).toContain('A grid comes first')
  const edit = { tool: { name: 'Edit', paths: [join(t.dir, 'lib/plan/deep/x.py')] } }
  const before = await told('e1', 'before-edit', edit)
  expect(before).not.toMatch(/no files to write|Cloud hosting/)
  expect(await told('e2', 'before-edit', { tool: { name: 'Edit', paths: [join(t.dir, 'lib/y.py')] } })).toContain(
    'no files to write',
  )
})

test('[H3] a path in a prompt brings what stands on that file, not on another one of a common name, nor what was replaced', async () => {
  const { on, record } = sessions()
  await on('s1', 'session-start')
  await record('s1',
    ['record-learning', { title: 'Badges', body: 'The badges of README.md come from a script' }],
    ['record-learning', { title: 'Totals', body: 'cart.ts adds up in cents', locations: ['src/cart.ts'] }],
    ['record-decision', { name: 'floats', description: 'src/tax.ts computes with floats', locations: ['src/tax.ts'] }],
    ['record-decision', { name: 'cents', description: 'src/tax.ts computes in cents', locations: ['src/tax.ts'] }],
    ['supersede', { old: 'decision:floats', new: 'decision:cents', reason: 'rounding' }],
  ) // biome-ignore format: a list
  const told = async (session: string, prompt: string) => (await on(session, 'prompt', { prompt })).context ?? ''
  expect(await told('s2', 'please read docs/README.md')).not.toContain('badges')
  expect(await told('s3', 'open src/cart.ts now')).toContain('adds up in cents')
  const tax = await told('s4', 'open src/tax.ts now')
  expect(tax).toContain('computes in cents')
  expect(tax).not.toContain('floats')
})

test('[W4] the next steps of an agent are told before what hooks saw fail, with their branch, and a session by its work', async () => {
  const { t, on, record } = sessions()
  const file = join(t.dir, 'a.ts')
  const edit = async (id: string) => {
    const tool = { name: 'Edit', paths: [file], edits: [{ path: file, text: 'x' }] }
    await on(id, 'before-edit', { tool })
    await on(id, 'after-edit', { tool })
  }
  await on('aaaaaaaa-1', 'session-start')
  await on('aaaaaaaa-1', 'prompt', { prompt: 'my laptop died. where were we?' })
  await on('aaaaaaaa-1', 'prompt', { prompt: 'count the metrics of the bridge' })
  await edit('aaaaaaaa-1')
  await on('bbbbbbbb-2', 'session-start')
  await on('bbbbbbbb-2', 'prompt', { prompt: 'name the counter' })
  await edit('bbbbbbbb-2')
  await record('bbbbbbbb-2', ['write-handoff', { nextSteps: ['register the counter'] }])
  await on('bbbbbbbb-2', 'session-end', { reason: 'exit' })
  sessionsOf(t.memory).patch('aaaaaaaa-1', {
    failing: { x: { n: 1, command: 'go test', last: 'go: not found', at: 1 } },
  })
  await on('aaaaaaaa-1', 'session-end', { reason: 'exit' })
  const { context } = await on('c3', 'session-start')
  expect(context).toContain('register the counter')
  expect(context).toContain('1 more handoff, the newest "count the metrics of the bridge"')
  const elsewhere = brief(t.memory, t.project, { branch: 'hotfix' } as never).text
  expect(elsewhere).not.toContain('on branch')
  t.act([['write-handoff', { nextSteps: ['merge it'] }]], { session: 'd4', branch: 'main', agent: 'codex' } as never)
  expect(brief(t.memory, t.project, { branch: 'hotfix' } as never).text).toMatch(
    /Handoff .* on branch main .*\n.*\n.*merge it/,
  )
})

test('[X5] a session is not told that a file changed which its own command changed last', async () => {
  const { t, on, record } = sessions()
  const file = join(t.dir, 'a.ts')
  const write = (n: number) => {
    writeFileSync(file, `export const TTL = ${n}\n`)
    utimesSync(file, t.clock.now / 1000, t.clock.now / 1000)
  }
  write(1)
  for (const id of ['aaaaaaaa-1', 'bbbbbbbb-2']) {
    await on(id, 'session-start')
    await on(id, 'prompt', { prompt: `shorten the sessions for ${id}` })
  }
  await record('aaaaaaaa-1', ['record-fact', { fact: 'TTL in a.ts is 1', locations: ['a.ts#TTL'] }])
  await scan(t.memory, t.project)
  const tool = { name: 'Bash', paths: [], command: 'sed -i s/1/2/ a.ts' }
  await on('aaaaaaaa-1', 'before-tool', { tool })
  write(2)
  await on('aaaaaaaa-1', 'after-tool', { tool })
  await scan(t.memory, t.project)
  const told = async (id: string) => (await on(id, 'prompt', { prompt: 'and now the other constant' })).context ?? ''
  expect(await told('aaaaaaaa-1')).not.toContain('a.ts changed')
  expect(await told('bbbbbbbb-2')).toContain('a.ts changed')
})

test('[R4] a prompt brings no rule of a file that the client reads by itself', async () => {
  const { t, on } = sessions()
  writeFileSync(join(t.dir, 'CLAUDE.md'), '- Never write prices as floats\n')
  const fact = ['record-fact', { fact: 'Never write prices as floats', locations: ['CLAUDE.md:1'] }]
  t.act([fact], { source: 'import claude-md CLAUDE.md' })
  await on('s1', 'session-start')
  const prompt = 'write the prices as floats into the table'
  expect((await on('s1', 'prompt', { prompt })).context ?? '').not.toContain('Known about this')
  const codex = await on('s2', 'prompt', { prompt, client: 'codex' })
  expect(codex.context).toContain('Never write prices as floats')
})
