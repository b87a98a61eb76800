import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { provenanceOf } from '../../src/model/entity.ts'
import { answersIn } from '../../src/session/hooks/ask-person.ts'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { openPrompts } from '../../src/session/hooks/kept-prompts.ts'
import { mayBeRepeated, partsOf, saysItLasts } from '../../src/session/hooks/lasting-words.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { act } from '../../src/surfaces/tools/act.ts'
import { history } from '../../src/surfaces/tools/history.ts'
import { importTool } from '../../src/surfaces/tools/import.ts'
import { recall } from '../../src/surfaces/tools/recall.ts'
import type { ToolContext } from '../../src/surfaces/tools/tool.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { countTokens } from '../tokens.ts'
import { withoutMarksOfAgents } from './run.ts'

withoutMarksOfAgents()

function session(t: TestMemory, id = 's1', client = 'claude') {
  const on = async (event: HookCall['event'], more: Partial<HookCall> = {}) =>
    (await respond(t.memory, t.project, { client, event, session: id, cwd: t.dir, ...more }, () => 5_000)).reply
  return { on, types: (prompt: string, more: Partial<HookCall> = {}) => on('prompt', { prompt, ...more }) }
}
const contextOf = (t: TestMemory, id = 's1'): ToolContext =>
  ({ memory: t.memory, project: t.project, session: id, agent: 'claude-code', by: 'agent', local: true }) as never
/** What the agent of a session records. */
const records = async (t: TestMemory, actions: unknown, id = 's1') =>
  act.run(contextOf(t, id), { actions, intent: undefined, redact: undefined } as never)
const kept = (t: TestMemory) => {
  using prompts = openPrompts(t.project)
  return (prompts?.search('', 50) ?? []).map((p) => p.text)
}
const saidOf = (t: TestMemory, id: string) =>
  provenanceOf(t.get(id)!).flatMap((p) => (p.said === undefined ? [] : [p.said]))

test.each([
  'From now on, use pnpm here',
  'please always run the linter before you push',
  'Never commit to main',
  'Remember that the staging box has no GPU',
  'The staging box has no GPU, remember that.',
  'We never use console.log',
  'Ab jetzt bitte nur noch mit Testfall',
  'Schreib Kommentare immer auf Deutsch',
  'Dorénavant, un commit par fonction',
  'Je veux que ce fichier ne soit jamais publié',
  'De ahora en adelante usa tabuladores',
  'Nunca borres las migraciones',
  'A partir de agora escreva os testes primeiro',
  'Sempre rode os testes',
  '以后都用中文写注释',
  '今後はテストを先に書いてください',
  'Our rule is one change per commit',
  'our policy is never to push to main',
  'the rule is not to deploy on Fridays',
  'Use structured logging across the whole project',
  'Never ever push to main',
  'Never embed secrets in the binary',
  'Never again touch that file',
  'Always tabs, never spaces',
  'Always tests before code',
  'Never secrets in the code',
  'denk dran dass wir kein npm benutzen',
  'Immer wenn du fertig bist, Tests laufen lassen',
  'Every time you open a PR, link the issue',
  'In general keep functions short',
  'As a rule, keep functions short',
  'Prefer the standard library over packages',
  'Siempre escribe pruebas antes del código',
])('[G7] says itself that it lasts: %s', (sentence) => expect(saysItLasts(sentence)).toBe(true))

test.each([
  'The test always fails on Windows',
  'It never worked',
  'fix the login',
  'Increase the size of text in future days by 50%',
  'Ça ne marche toujours pas',
  'Das geht immer noch nicht',
  'Do you always read the whole file?',
  'remember to update the changelog',
  'I do not remember why',
  'move forward with the plan',
  'never mind, just do it',
  'Never mind the warning, go on',
  'Never again, please',
  'Never seen this error before',
  'Never worked for me',
  'We never had that problem',
  'Always the same error!',
  'always happy to help',
  'always fails with ECONNRESET',
  'Do it as from now on',
  'do it like this from now on',
  'always shows the old avatar after upload',
  'never updates the count',
  'always crashed before, now it only hangs',
  'Always a pleasure',
  'never ever seen such a slow test suite',
  'the rule is not firing for tsx files',
  'as a rule engine this is too slow',
  'In general I like it but the padding is off',
  'every time you click save, the modal flickers',
  'prefer the second option',
  'Immer wenn ich speichere springt der Cursor',
  'nie gesehen sowas',
  'generell sieht das gut aus, mach weiter',
  'ab jetzt kommt der Fehler bei jedem Request',
  'en général ça marche mais là ça bloque',
  'siempre falla en windows, mira el log',
  'siempre me sale el mismo error al compilar',
])('[G7] says nothing of the kind: %s', (sentence) => expect(saysItLasts(sentence)).toBe(false))

test('[G7] an order of each day is no rule, however often it is said', () => {
  for (const daily of ['commit and push', 'go on', 'src/a.ts:3 is undefined here again today'])
    expect(mayBeRepeated(daily), daily).toBe(false)
  expect(mayBeRepeated('ask me before you touch the billing code')).toBe(true)
})

test('[G7] [R1] words ask, and record nothing: the yes records the rule in them as it was typed, with where they were typed', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const { visible, context } = await types('Add a cart. From now on, use pnpm here.')
  expect(visible).toContain('"From now on, use pnpm here"')
  expect(context).toBeUndefined()
  expect(t.memory.newsSince(0).filter((n) => !n.presence)).toEqual([])
  await types('yes')
  expect(t.memory.reader.list('fact').map((e) => e.fields.fact)).toEqual(['use pnpm here'])
})

test('[G7] [R3] what is said in three sessions is asked about once, and a no is remembered', async () => {
  const t = openTestMemory()
  const line = 'ask me before you touch the billing code'
  for (const id of ['s1', 's2']) expect((await session(t, id).types(`Go on. ${line}`)).visible).toBeUndefined()
  const third = session(t, 's3')
  expect((await third.types(`New day. ${line}`)).visible).toContain(line)
  await third.types('no')
  expect((await session(t, 's4').types(`And again. ${line}`)).visible).toBeUndefined()
})

test('[G7] [R3] an order of work is no rule, however often it is given; a repetition is asked about once, also if nobody answers', async () => {
  const t = openTestMemory()
  const rule = 'keep the answers short and in bullet points'
  const asked: (string | undefined)[] = []
  for (const id of ['s1', 's2', 's3', 's4', 's5'])
    asked.push((await session(t, id).types(`add a test for the new endpoint. You should add a test for the route. ${rule}. we can deploy on Fridays again`)).visible) // biome-ignore format: one row
  expect(asked.filter(Boolean)).toEqual([expect.stringContaining(`noted: "${rule}" — confirm?`)])
})

test('[G7] [R4] what is taken back is named in the question, and goes with the yes', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Use pnpm for installs' }], ['record-fact', { fact: 'No deploys on Friday' }]]) // biome-ignore format: one row
  const { types } = session(t)
  expect((await types('Use npm from now on, not pnpm.')).visible).toContain('(replaces "Use pnpm for installs")')
  await types('yes')
  const current = () =>
    t.memory.reader
      .list('fact', { current: true })
      .map((e) => e.fields.fact)
      .sort()
  expect(current()).toEqual(['No deploys on Friday', 'Use npm from now on, not pnpm'])
  expect((await types('Forget the rule about Friday deploys.')).visible).toContain('(ends "No deploys on Friday")')
  await types('yes')
  expect(current()).toEqual(['Use npm from now on, not pnpm'])
  t.act([['record-fact', { fact: 'Run go vet before each commit' }], ['record-fact', { fact: 'Run go test often' }]]) // biome-ignore format: one row
  expect((await types('We don’t use npm any more, we use bun.')).visible).toContain('(replaces "Use npm from now on')
  await types('no')
  const asked = await types('Run staticcheck from now on, not go vet any more.')
  expect(asked.visible).toContain('(replaces "Run go vet before each commit")')
  await types('no')
  for (const other of ['Look at the rule engine.', 'Forget the rule about Monday releases.', 'Edit b.ts, not npm.'])
    expect((await types(other)).visible, other).toBeUndefined()
})

test.each([
  ['Add the route. Also forget the rule about card numbers.', [], ['card']],
  ['Use slog from now on. And please forget the rule about card numbers.', ['Use slog from now on'], ['card']],
  ['Always write reST here, and forget the rule about card numbers', ['Always write reST here'], ['card']],
  ['Add the route, forget the rule about card numbers', [], ['card']],
  ['Forget the rule about card numbers and use slog from now on', ['use slog from now on'], ['card']],
])('[G7] [R4] what is taken back beside other words is asked about: %s', async (prompt, kept, gone) => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Never log card numbers' }]])
  const { types } = session(t)
  const { visible = '' } = await types(prompt)
  for (const rule of kept) expect(visible).toContain(`"${rule}"`)
  for (const _ of gone) expect(visible).toContain('(ends "Never log card numbers")')
  await types('yes to both')
  await types('yes')
  expect(t.memory.reader.list('fact', { current: true }).map((e) => e.fields.fact)).toEqual(kept)
})

test('[G7] [R1] typed prompts are kept beside the store for their user alone, without what was pasted or secret, and can be searched', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`
  await types(`Look at the parser with ${token}\n\`\`\`\nconst pasted = 1\n\`\`\`\n<log>not typed</log>`)
  await types('ok')
  expect(kept(t)).toEqual(['Look at the parser with [redacted: GitHub token]'])
  const file = join(dirname(t.project.storePath), 'prompts.db')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const found = await recall.run(contextOf(t), { text: 'parser', prompts: true } as never)
  expect(found.text).toContain('Look at the parser')
  expect((await history.run(contextOf(t), { prompts: true } as never)).text).toContain('Look at the parser')
})

test.each([
  'Never put code in __init__.py',
  'Never call __enter__ or __exit__ yourself',
  'Never edit src/**/gen/** by hand',
  'Always pass *args and **kwargs, never *a and **k',
  'Never delete *.lock or *.toml files',
])('[G7] what is typed is kept as it is typed: %s', async (rule) => {
  const t = openTestMemory()
  const { types } = session(t)
  expect((await types(`${rule}.`)).visible).toContain(`"${rule}"`)
  await types('yes')
  expect(t.memory.reader.list('fact').map((e) => e.fields.fact)).toEqual([rule])
})

test('[G7] a short rule is kept; a go-ahead and an answer are not', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const rules = ['Commit in English', 'no yarn here please']
  for (const text of [...rules, 'go on please', 'Yes, commit and push it now', 'no a7c', 'ok!']) await types(text)
  expect(kept(t).sort()).toEqual(rules)
})

test('[G7] nothing is kept of what no person typed, nor where that is switched off', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Loop again and again', { source: 'loop_wakeup' })
  await types('Of a subagent', { parent: 's1', session: 's1/a' })
  process.env.CLAUDE_CODE_EXECPATH = '/bin/claude'
  await types('Typed by another agent')
  delete process.env.CLAUDE_CODE_EXECPATH
  expect(kept(t)).toEqual([])
  Object.assign(t.project, { hooks: { keepPrompts: false } })
  await types('Look at the parser')
  expect(existsSync(join(dirname(t.project.storePath), 'prompts.db'))).toBe(false)
})

test('[G7] [K15] a purge erases a text from the kept prompts, and proves it', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Erika Mustermann pays late, so remind her')
  await types('Look at the parser')
  const done = t.act([['purge', { secret: 'Erika Mustermann', reason: 'a customer' }]])
  expect(done.notes.join('\n')).toMatch(/stands in none of them/)
  expect(kept(t)).toEqual(['Look at the parser'])
  const dir = dirname(t.project.storePath)
  for (const f of readdirSync(dir).filter((f) => f.startsWith('prompts.db')))
    expect(readFileSync(join(dir, f)).includes('Mustermann'), f).toBe(false)
})

test('[G7] [R2] [Y1] the agent records in the user’s words: what they typed is evidence, and the person is asked', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  expect((await on('session-start')).context).toContain('"said": their exact words')
  await types('The cart rounds to cents. Prices are integers in cents everywhere, mind that.')
  await records(t, [
    ['record-fact', { fact: 'Prices are integers in cents', said: 'Prices are integers in cents everywhere' }],
  ])
  const id = 'fact:prices-are-integers-in-cents'
  expect(saidOf(t, id)).toEqual([expect.stringMatching(/^1:[0-9a-f]{16}$/)])
  expect((await on('stop')).visible).toContain('"Prices are integers in cents"')
  await types('yes')
  expect(t.get(id)!.fields.standing).toBe('confirmed')
})

test('[G7] one sentence is asked about once: what the agent made of the same words gives way to them', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  expect((await types('Fix the total. Never use floats for money.')).visible).toContain('confirm?')
  await records(t, [['record-fact', { fact: 'Money is never a float', said: 'Never use floats for money' }]])
  expect((await on('stop')).visible).toBeUndefined()
  await types('yes')
  const facts = t.memory.reader.list('fact', { all: true })
  expect(facts.map((e) => [e.name, e.fields.standing ?? 'confirmed']).sort()).toEqual([
    ['Money is never a float', 'rejected'],
    ['Never use floats for money', 'confirmed'],
  ])
})

test.each([
  ['nobody typed', 'The user wants yarn always'],
  ['stood in code', 'const rule = "use yarn"'],
  ['stood in a pasted log', 'the user says: use yarn for everything'],
  ['stood in a quotation', 'Always use yarn in each project'],
  ['is too short', 'yarn'],
])('[Y1] what %s is no evidence, and nobody is asked', async (_what, said) => {
  const t = openTestMemory()
  const { types, on } = session(t)
  await types(
    'Look at this:\n```\nconst rule = "use yarn"\n```\n<log>\nthe user says: use yarn for everything\n</log>\nHe wrote "Always use yarn in each project" there.',
  )
  const done = await records(t, [['record-fact', { fact: 'Use yarn', said }]])
  expect(done.text).toContain('no evidence')
  expect(saidOf(t, 'fact:use-yarn')).toEqual([])
  expect((await on('stop')).visible).toBeUndefined()
})

test('[G7] at the handoff the agent is asked about what was typed and not recorded, once', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  await types('The staging box is the one without a GPU, by the way.')
  await types('Payments go through the old gateway until March.')
  await types('why is that?')
  await records(t, [
    ['record-learning', { title: 'Staging has no GPU', said: 'The staging box is the one without a GPU' }],
  ])
  const { context } = await on('stop', { contextUsed: 85 })
  expect(context).toContain('old gateway until March')
  expect(context).not.toMatch(/GPU|why is that/)
  expect((await on('session-start', { source: 'compact' })).context).not.toContain('old gateway')
})

test('[G7] what a session left that nobody judged goes to the next one in which a person types, once', async () => {
  const t = openTestMemory()
  const first = session(t, 's1')
  await first.types('Payments go through the old gateway until March.')
  await first.on('session-end', { reason: 'exit' })
  expect((await session(t, 's2').types('hello there, you', { source: 'sdk' })).context).toBeUndefined()
  expect((await session(t, 's3').types('Add a cart page')).context).toContain('old gateway until March')
  expect((await session(t, 's4').types('Add a login page')).context).toBeUndefined()
})

test('[G7] [R2] what the person was asked about and never answered goes to a later session, whatever the agent recorded since', async () => {
  const t = openTestMemory()
  const first = session(t, 's1')
  await first.types('Remember that the sandbox of the bank takes two minutes.')
  await first.types('The cart needs a header, add it.')
  await records(t, [['record-decision', { name: 'cart-header', description: 'The cart has a header' }]])
  await first.on('session-end', { reason: 'exit' })
  const { context = '' } = await session(t, 's2').types('Add a login page')
  expect(context).toContain('sandbox of the bank')
  expect(context).not.toContain('needs a header')
})

test('[G7] [R3] what the person said no to goes to no later session', async () => {
  const t = openTestMemory()
  const first = session(t, 's1')
  await first.types('We always deploy on Tuesdays.')
  await first.types('no')
  await first.on('session-end', { reason: 'exit' })
  expect((await session(t, 's2').types('Add a login page')).context).toBeUndefined()
})

test('[G7] a greeting with a question holds nothing that a later session is asked to judge', async () => {
  const t = openTestMemory()
  const first = session(t, 's1')
  await first.types('Good morning. Where were we yesterday?')
  await first.types('What about the price in Offer.php then?')
  await first.on('session-end', { reason: 'exit' })
  expect((await session(t, 's2').types('Add a login page')).context).toBeUndefined()
})

test('[G7] the richest sessions of a past that was taken in go to the next session in which a person types, once, and how much that is, is said before', async () => {
  const t = openTestMemory()
  vi.stubEnv('HOME', join(t.dir, 'home'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const told = (day: string, ...typed: string[]) =>
    [`# aider chat started at 2026-${day} 10:00:00\n`, ...typed.map((words) => `#### ${words}  \n\nDone.\n`)].join('\n')
  const daily = (n: number) =>
    `Move the ${n}. button of the page over to the right side, as it stands in the design of the shop.`
  const history = [
    told('09-01', daily(90), 'Never round before the tax is known.', 'From now on all prices are integers in cents.'),
    told('10-01', daily(91), 'We never use console.log in the shop.'),
    ...Array.from({ length: 15 }, (_, i) => told(`11-${i + 1 < 10 ? '0' : ''}${i + 1}`, daily(i))),
  ]
  writeFileSync(join(t.dir, '.aider.chat.history.md'), history.join('\n'))
  const importing = () => importTool.run(t, { format: 'transcripts' })
  const { text } = await importing()
  const [, n, sessions, cost] = /^at your next prompt the agent is shown (\d+) prompts of your (\d+) richest past sessions to judge, about (\d+) tokens$/m.exec(text)!.map(Number) // biome-ignore format: one line
  expect([n! > 4, n! < 12, sessions! > 2]).toEqual([true, true, true])
  expect((await session(t, 's2').types('hello there, you', { source: 'sdk' })).context).toBeUndefined()
  const { context } = await session(t, 's3').types('Add a cart page')
  const lines = context!.split('\n').filter((line) => line.startsWith('- '))
  expect(lines).toHaveLength(n!)
  for (const words of ['Never round before', 'integers in cents', 'console.log', daily(14)])
    expect(lines.join()).toContain(words)
  expect(lines.join()).not.toContain(daily(0))
  expect(context).toContain('What of this will a later session need? Record only that, with act')
  expect(countTokens(context!)).toBeLessThanOrEqual(300)
  expect(Math.abs(countTokens(context!) - cost!)).toBeLessThan(60)
  for (const id of ['s3', 's4', 's5']) expect((await session(t, id).types('Add a login page')).context).toBeUndefined()
  expect((await importing()).text).not.toContain('the next session')
})

test('[G7] what a hook saw is no past: it stays with its session, and a past that was erased is not offered', async () => {
  const t = openTestMemory()
  vi.stubEnv('HOME', join(t.dir, 'home'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const first = session(t, 's1')
  await first.types('Payments go through the old gateway until March.')
  const history = '# aider chat started at 2026-10-01 10:00:00\n\n#### Never round before the tax is known.  \n'
  writeFileSync(join(t.dir, '.aider.chat.history.md'), history)
  expect((await importTool.run(t, { format: 'transcripts' })).text).toContain('1 prompt of your richest past session')
  using prompts = openPrompts(t.project, { now: t.memory.env.now() })
  prompts!.erase(['round before the tax'])
  expect((await session(t, 's2').types('Add a cart page')).context).toBeUndefined()
  await first.on('session-end', { reason: 'exit' })
  expect((await session(t, 's2').types('Add a login page')).context).toContain('old gateway until March')
})

test.each([
  ['a "not" left out', 'Never use yarn in this repository.', 'use yarn in this repository'],
  ['a question', 'Should we use yarn in this repository?', 'we use yarn in this repository'],
  ['what others say', 'The README says: use yarn in each project', 'use yarn in each project'],
  ['the inside of words', 'because npm is slow I refuse tabs', 'use npm is slow'],
  ['two sentences as one', 'Do not touch prod. Drop the database', 'prod drop the database'],
  [
    'what stands between its words',
    'Please use yarn for each project',
    'use "and push to main without review" yarn for each project',
  ],
  ['a question whether', 'Can it use yarn in this repository?', 'use yarn in this repository'],
  ['one common word', 'Look at the function, please.', 'please'],
  ['single quotation marks', "He wrote 'always use yarn in each project' there", 'always use yarn in each project'],
])('[Y1] %s is no evidence', async (_what, prompt, said) => {
  const t = openTestMemory()
  await session(t).types(prompt)
  await records(t, [['record-fact', { fact: 'Use yarn', said }]])
  expect(saidOf(t, 'fact:use-yarn')).toEqual([])
})

test('[Y1] what the person says of having said before is evidence, what they say not to have said is none', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const said = 'the file name begins with the edit mode'
  await types(`I have never said that ${said}.`)
  await records(t, [['record-fact', { fact: 'Names begin with it', said }]])
  expect(saidOf(t, 'fact:names-begin-with-it')).toEqual([])
  await types(`I have said earlier that ${said}, please keep it so.`)
  await records(t, [['record-fact', { fact: 'Names begin with the mode', said }]])
  expect(saidOf(t, 'fact:names-begin-with-the-mode')).toHaveLength(1)
})

test('[G7] a sentence whose object stands elsewhere is no question: the agent has the words around', async () => {
  for (const prompt of [
    'Remember that this script is only meant to check :',
    'Nunca tienes que generar esto a mano',
    'Never do this by hand.',
  ])
    expect((await session(openTestMemory()).types(prompt)).visible, prompt).toBeUndefined()
  for (const prompt of [
    'Never edit this file by hand.',
    'Never push code without testing it.',
    'Always read a file before you edit it.',
    'Always run the linter and fix what breaks it.',
    'Il faut toujours vérifier que ça compile avant le commit',
  ])
    expect((await session(openTestMemory()).types(prompt)).visible, prompt).toContain('Tidemark noted')
})

test('[G7] what was typed before a handoff was judged by who wrote it, and comes to no later session', async () => {
  const t = openTestMemory()
  const first = session(t, 's1')
  await first.types('Payments go through the old gateway until March.')
  await records(t, [['write-handoff', { nextSteps: ['test the cart'] }]])
  await first.on('session-end', { reason: 'exit' })
  expect((await session(t, 's2').types('Add a cart page')).context ?? '').not.toContain('old gateway until March')
})

test('[G7] a rule for one folder is noticed where the folder stands first, and is asked and kept as one for that', async () => {
  const t = openTestMemory()
  mkdirSync(join(t.dir, 'apps/web'), { recursive: true })
  const { types } = session(t)
  expect((await types('In apps/web, always use const instead of var.')).visible).toContain('(holds for apps/web/**)')
  await types('yes')
  expect(t.memory.reader.list('fact')[0]!.fields.paths).toEqual(['apps/web/**'])
  expect((await types('In apps/web never import pydantic, ok?')).visible).toContain('(holds for apps/web/**)')
  await types('yes')
  expect(t.memory.reader.list('fact')).toHaveLength(2)
  expect((await types('For now, always use the old server')).visible).toBeUndefined()
  expect((await types('From now on, never import from apps/web in new code')).visible).not.toContain('holds for')
})

test('[G7] a rule for a folder needs no comma, and a report from a place is no rule', () => {
  for (const rule of ['In src/carry_on/domain never import pydantic', 'In web/ never use inline styles', 'in Go code always wrap errors', 'oh and please never use any', 'In tests, always mock the clock']) // biome-ignore format: a row
    expect([rule, saysItLasts(rule)]).toEqual([rule, true])
  for (const told of ['In Safari never shows the button', 'In the end we use redis', 'in the app never fails', 'in the tests always passes', 'in the past we always used tabs', 'For now always use the old server']) // biome-ignore format: a row
    expect([told, saysItLasts(told)]).toEqual([told, false])
})

test('[G7] "both" where one thing was asked keeps that one, and says that the other was not asked', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always use single quotes in SQL.')
  expect((await types('yes to both')).visible).toMatch(/only one thing.*single quotes/s)
  expect(t.memory.reader.list('fact', { current: true })).toHaveLength(1)
})

test('[G7] what is ordered beside a rule is no part of it', async () => {
  const { types } = session(openTestMemory())
  const asked = async (prompt: string) => (await types(prompt)).visible
  expect(await asked('Add the multiply route, and tasks use time_limit=60 from now on')).toContain('noted: "tasks use')
  expect(await asked('Rename the flag, and use it from now on as well')).toContain('"Rename the flag, and use it')
  expect(await asked('From now on each change has a note, except in tools/. Then fix the cart.')).toContain('except in tools/"') // biome-ignore format: one row
  expect(await asked('Always lint src, tests etc. Then fix the cart.')).toContain('noted: "Always lint src, tests etc"')
  expect(await asked('Always run ./... first, and git add . before that')).toContain(
    'first, and git add . before that"',
  )
})

test.each([
  ['y', 1],
  ['Y.', 1],
  ['n', 0],
])('[G7] one letter answers: %s', async (answer, kept) => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always use single quotes in SQL.')
  expect((await types(answer)).visible).toMatch(kept === 1 ? /agreed/ : /the user said no to "Always use single quotes in SQL"/) // biome-ignore format: one row
  expect(t.memory.reader.list('fact')).toHaveLength(kept)
})

test.each(['yes to both', 'yes, both', 'yes all.'])('[G7] two questions are answered at once: %s', async (answer) => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always use single quotes in SQL. Never log passwords in the server.')
  expect((await types(answer)).visible).toMatch(/single quotes.*passwords/s)
  expect(t.memory.reader.list('fact', { current: true })).toHaveLength(2)
})

test('[G7] who was told that an answer was not understood may answer with the next prompt', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always use single quotes in SQL.')
  expect((await types('yes we can')).visible).toContain('did not take this for an answer')
  expect((await types('yes')).visible).toContain('the user agreed')
})

test('[G7] a bare yes after the agent asked something too is not taken, and that is said', async () => {
  const t = openTestMemory()
  const { on, types } = session(t)
  await types('Never use default exports in packages. Add a test.')
  await on('stop', { said: 'Done. Which bundler do you use?' })
  expect((await types('yes')).visible).toMatch(/did not take this for an answer: say yes \w{3}/)
  // whoever answers the agent a second time answers the agent
  await on('stop', { said: 'Pushed. I can delete the branch too, just say yes.' })
  const { visible } = await types('yes')
  expect(t.memory.reader.list('fact')).toEqual([])
  expect((await types(/yes \w{3}/.exec(visible!)![0])).visible).toContain('the user agreed')
})

test('[Y1] what a program sent is no words of a person: no agent is asked what of it lasts', async () => {
  const t = openTestMemory()
  vi.stubEnv('CLAUDE_CODE_SESSION_ATTENDED', '0')
  await session(t).types('Fix the readme. The database of the tests is made anew for each run.')
  await session(t).on('session-end', { reason: 'other' })
  vi.unstubAllEnvs()
  expect((await session(t, 's2').types('What is next here?')).context ?? '').not.toContain('Fix the readme')
})

test('[G7] "remember" leads to a rule and is no part of it', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Remember: never log cookies in the session code.')
  await types('yes')
  expect(t.memory.reader.list('fact').map((e) => e.name)).toEqual(['never log cookies in the session code'])
})

test('[G7] two quotation marks with nothing between are typed like others; dots in a row end a sentence', async () => {
  const { types } = session(openTestMemory())
  for (const [prompt, asked] of [
    ['Never return "" for missing values from the parsers', 'Never return "" for missing values from the parsers'],
    ['Well... never push to main without a review.', '"never push to main without a review"'],
  ] as const)
    expect((await types(prompt)).visible).toContain(asked)
})

test('[G7] what is asked for together is evidence in each language; what is asked is none', async () => {
  const t = openTestMemory()
  await session(t).types('Peut-on garder un résumé dans le fichier NOTES.md ?')
  await session(t).types('Können wir die Preise in Cent speichern?')
  await session(t).types('Kann es die Preise in Euro speichern?')
  for (const [fact, said, is] of [
    ['Keep a summary', 'garder un résumé dans le fichier NOTES.md', 1],
    ['Prices in cents', 'die Preise in Cent speichern', 1],
    ['Prices in euros', 'die Preise in Euro speichern', 0],
  ] as const) {
    await records(t, [['record-fact', { fact, said }]])
    expect(saidOf(t, `fact:${fact.toLowerCase().replaceAll(' ', '-')}`), fact).toHaveLength(is)
  }
})

test('[Y1] nor is what a headless run was given, and nobody is asked there', async () => {
  const t = openTestMemory()
  process.env.CLAUDE_CODE_SESSION_ATTENDED = '0'
  onTestFinished(() => void delete process.env.CLAUDE_CODE_SESSION_ATTENDED)
  expect((await session(t).types('From now on push to main without review.')).visible).toBeUndefined()
  await records(t, [['record-fact', { fact: 'Push to main', said: 'From now on push to main without review' }]])
  expect(saidOf(t, 'fact:push-to-main')).toEqual([])
})

test('[Y1] where the rule says something else than the words it rests on, the person sees both', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  await types('Look at src/cart.ts, the totals are wrong for two items')
  await records(t, [['record-fact', { fact: 'Deploy with curl | bash', said: 'the totals are wrong for two items' }]])
  expect((await on('stop')).visible).toContain(
    '"Deploy with curl | bash" (you said: "the totals are wrong for two items")',
  )
})

test('[Y1] a yes touches nothing else that rests on the same prompt, and nothing of other sessions', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('From now on use pnpm for installs. The discount is never applied to gift cards, because of tax law.')
  const said = 'The discount is never applied to gift cards'
  await records(t, [['record-fact', { fact: 'No discount on gift cards', said }]])
  await types('yes')
  expect(t.get('fact:no-discount-on-gift-cards')!.fields.standing).toBe('proposed')
})

test('[Y2] a yes to the end of a rule counts for the rule as it was shown', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'No deploys on Friday' }]])
  const { types } = session(t)
  await types('Forget the rule about Friday deploys.')
  t.act([['record-fact', { ref: 'fact:no-deploys-on-friday', context: 'nor drop the database' }]])
  expect((await types('yes')).visible).toContain('was changed after you were asked')
  expect(t.get('fact:no-deploys-on-friday')!.fields.retired).toBeUndefined()
})

test('[Y1] what looks like an answer and is none is said, and what stands behind an answer is heard', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('From now on, use pnpm here.')
  expect((await types('yes and now fix the cart')).visible).toMatch(/did not take this for an answer: say yes \w{3}/)
  expect(kept(t)).toContain('yes and now fix the cart')
  const ref = /yes (\w{3})/.exec((await types('Always run the linter first.')).visible!)![1]!
  const { visible } = await types(`yes ${ref}. From now on all logs are JSON lines.`)
  expect(visible).toContain('"From now on all logs are JSON lines"')
  expect(kept(t)).toContain('From now on all logs are JSON lines.')
})

test.each<readonly [string, (file: string, dir: string) => void]>([
  ['garbage', (file) => writeFileSync(file, 'no database'.repeat(1_000))],
  ['a directory', (file) => mkdirSync(file)],
  ['a link to another file', (file, dir) => symlinkSync(join(dir, 'target.db'), file)],
])(
  '[Y1] [T31] in the place of the kept prompts there is %s: knowledge is written, and nothing goes through it',
  async (_what, put) => {
    const t = openTestMemory()
    const dir = dirname(t.project.storePath)
    put(join(dir, 'prompts.db'), dir)
    const { types } = session(t)
    await types('Look at the parser of dates')
    await types('Always run the linter first.')
    await types('yes')
    await records(t, [['record-learning', { title: 'Dates are UTC', said: 'Look at the parser of dates' }]])
    expect(t.memory.reader.list('fact').map((e) => e.name)).toEqual(['Always run the linter first'])
    expect(t.memory.reader.list('learning')).toHaveLength(1)
    expect(existsSync(join(dir, 'target.db'))).toBe(false)
    expect((await history.run(contextOf(t), { prompts: true } as never)).text).toContain('last 90 days')
  },
)

test('[Y1] [T40] an agent does not erase what a person typed', async () => {
  const t = openTestMemory()
  await session(t).types('Never email customers at night, please')
  const erase = records(t, [['purge', { secret: 'email customers at night', reason: 'tidy' }]])
  await expect(erase).rejects.toThrow('only the user erases it')
  expect(kept(t)).toEqual(['Never email customers at night, please'])
})

test('[A7] git does not see the kept prompts, where the store of before lies in a work tree', async () => {
  const t = openTestMemory()
  const dir = dirname(t.project.storePath)
  writeFileSync(join(dir, '.gitignore'), '/store.db*')
  await session(t).types('Look at the parser of dates')
  expect(readFileSync(join(dir, '.gitignore'), 'utf8').split('\n')).toEqual(['/store.db*', '/prompts.db*', ''])
})

test('[G7] a rule of a few words asks also where its second word looks like a past tense', () => {
  for (const rule of ['Never nested ternaries in this project please', 'Always named exports, never default ones', 'Never something like console.log in production code', 'Never do it without a test first']) // biome-ignore format: a row
    expect([rule, saysItLasts(rule)]).toEqual([rule, true])
})

test('[R1] no prohibition is cut at the rule that stands beside it, nor the words of a rule that is taken back', () => {
  for (const one of ['Never disable the linter and drop the rule about tabs', 'Please do not touch the config and drop the rule about tabs', 'Forget the rule that we always use tabs and never use spaces', 'Forget the rule that says never use any, always use unknown', 'We won’t use spaces and drop the rule about tabs', 'Nobody may edit the config and drop the rule about tabs', 'What happens if we use spaces and drop the rule about tabs?', 'Should we use spaces, and also drop the rule about tabs?', 'If Ana agrees, use spaces and drop the rule about tabs', 'If Ana agrees, drop the rule about tabs', 'Once we have spaces, drop the rule about tabs', 'We cannot use spaces, and drop the rule about tabs', 'We could use spaces and drop the rule about tabs']) // biome-ignore format: a row
    expect(partsOf(one)).toEqual([one])
  for (const two of ['Always write docstrings in reST here, and forget the rule about __str__', 'Always use spaces and drop the rule about tabs', 'Forget that rule about tabs, and from now on we use spaces', 'From now on write to stdout, and drop the rule about stderr', 'Always write tests to tests/unit, and drop the rule about spec files', 'Add the route, and drop the rule about tabs, ok?']) // biome-ignore format: a row
    expect([two, partsOf(two).length]).toEqual([two, 2])
  for (const told of ['Never worked properly on Windows', 'Always worked fine until yesterday'])
    expect(saysItLasts(told)).toBe(false)
})

test.each([
  ['and forget the rule about the error codes, we do that in the exception filter instead', 'Put the error code'],
  ['Forget the rule about error codes because the filter handles serialization', 'Put the error code'],
  ['forget the rule about error codes now that the exception filter handles serialization', 'Put the error code'],
  ['forget the error code rule', 'Put the error code'],
  ['Please drop the Friday rule, we ship daily now', 'Never deploy on Fridays'],
  ['forget what i said about pnpm', 'use pnpm'],
  ['you can forget the rule about Friday deploys', 'Never deploy on Fridays'],
  ["let's drop the rule about Friday deploys", 'Never deploy on Fridays'],
  ['remove the rule about Friday deploys', 'Never deploy on Fridays'],
  ['forget about the pnpm rule', 'use pnpm'],
  ['Ignore the rule about Friday deploys from now on', 'Never deploy on Fridays'],
  ['supprime la règle sur pnpm stp', 'use pnpm'],
  ['forget the rule about Friday deploys for today', undefined],
  ['Ignore the rule about Friday deploys this time', undefined],
  ['remove the rule about semicolons from the eslint config', undefined],
  ['I take back the rule about error codes, the filter does it', 'Put the error code'],
  ['Thing may have it. I take back the rule "Never deploy on Fridays".', 'Never deploy on Fridays'],
  ['I take back the rule "Never deploy on Fridays. Then fix it".', 'Never deploy on Fridays'],
  ['drop the rule "Put the error code into the response", and always use the filter', 'Put the error code'],
  ['Never mind the Friday rule, we ship daily', 'Never deploy on Fridays'],
  ['Actually we can drop the rule about Fridays.', 'Never deploy on Fridays'],
  ['The rule about Fridays no longer applies.', 'Never deploy on Fridays'],
  ['please delete the rule on pnpm', 'use pnpm'],
  ['Should we drop the rule about Fridays?', undefined],
  ['The README says to drop the rule "Never deploy on Mondays and Tuesdays"', undefined],
  ['forget what I said about the office', undefined],
  ['Drop the semicolon rule from the config', undefined],
])('[G7] [R4] the rule that is meant is the one described, and not what stands beside it: %s', async (said, ends) => {
  const t = openTestMemory()
  for (const fact of ['Put the error code into the response', 'Throw NestJS exceptions: the global exception filter handles serialization', 'Never deploy on Fridays', 'use pnpm', 'No semicolons']) // biome-ignore format: one row
    t.act([['record-fact', { fact }]])
  const { visible } = await session(t).types(said)
  expect(visible === undefined ? undefined : /\(ends "([^"]*)"\)/.exec(visible)?.[1]).toEqual(
    ends === undefined ? undefined : expect.stringContaining(ends),
  )
})

test('[R4] where several rules may be meant nothing ends, and the person is told which they are', async () => {
  const t = openTestMemory()
  for (const fact of ['Never deploy on Fridays', 'Deploy with the blue script', 'use pnpm'])
    t.act([['record-fact', { fact }]])
  const { types } = session(t)
  const { visible } = await types('forget the rule about deploys')
  expect(visible).toMatch(
    /^Tidemark: "(?:Never|Deploy)[^"]+", "(?:Never|Deploy)[^"]+" may be meant\. Nothing was ended/,
  )
  await types('yes')
  expect(t.memory.reader.list('fact').filter((e) => e.fields.retired === undefined)).toHaveLength(3)
  expect((await types('forget the rule about Friday deploys')).visible).toContain('ends "Never deploy on Fridays"')
  expect((await types('forget the rule about the office')).visible).toBeUndefined()
})

test.each([
  ['And please use poetry instead of uv from now on', 'use poetry instead of uv from now on', 'tool'],
  ['so from now on use npm', 'use npm', 'tool'],
  ['From now on, no deploys on Fridays', 'no deploys on Fridays', undefined],
  ['oh and also from now on always put the error code into the response', 'always put the error code into the response', 'constraint'], // biome-ignore format: one row
  ['From now on it has to be sorted by name', 'From now on it has to be sorted by name', 'constraint'],
])('[G7] a rule is kept without the talk that leads to it: %s', async (said, fact, category) => {
  const t = openTestMemory()
  const { types } = session(t)
  expect((await types(said)).visible).toContain(said)
  await types('yes')
  expect(t.memory.reader.list('fact').map((e) => [e.fields.fact, e.fields.category])).toEqual([[fact, category]])
})

test.each([
  'hm no. we keep npm, sorry',
  'no wait, take that back',
  'no, take that back please',
  'undo that',
  'Sorry, stay with uv. poetry was nonsense',
  'stick with uv please',
  'sorry, no, we keep uv for now',
  'no, wait, scratch that',
  'forget poetry',
  'nein, nimm das zurück',
  'nein, doch nicht, vergiss das',
  'mach das rückgängig',
  'oublie ça stp',
  'oops, wrong, take that back',
  'I take that back',
  'on second thought, drop that',
  'undo that, poetry was a mistake',
])('[G7] [R4] the prompt behind a yes may take it back, and what was replaced is back: %s', async (said) => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Use uv for dependencies' }]])
  const { types } = session(t)
  const rules = () => t.memory.reader.list('fact', { current: true }).map((e) => e.fields.fact)
  await types('Use poetry from now on instead of uv.')
  await types('yes')
  expect(rules()).toEqual(['Use poetry from now on instead of uv'])
  await records(t, [['record-decision', { name: 'containers' }], ['link-entities', { from: 'containers', to: 'Use poetry from now on instead of uv', type: 'informs' }]]) // biome-ignore format: a row
  const { visible } = await types(said)
  expect(visible).toContain('(ends "Use poetry from now on instead of uv" and brings back "Use uv for dependencies")')
  expect((await types('yes')).visible).toContain('the user agreed. This ends')
  expect(rules()).toEqual(['Use uv for dependencies'])
  expect((await types(said)).visible).toBeUndefined()
})

test.each([
  'Great, keep poetry and fix the header',
  'No, keep going with the header',
  'wait, keep the button blue',
  'no worries, switch back to the main branch',
  'sorry, should we keep npm?',
  'keep uv.lock in the ignore file for now',
  'forget the poetry lock file, just fix the import',
  'forget poetry conflicts, take theirs',
  'I changed my mind, make the button green',
  'scratch that, make the button red',
  'revert that, the header is broken now',
  'forget it, the test is fine',
])('[G7] [R4] behind a yes to a rule this takes nothing back: %s', async (said) => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Use uv for dependencies' }]])
  const { types } = session(t)
  await types('Use poetry from now on instead of uv.')
  await types('yes')
  expect((await types(said)).visible).toBeUndefined()
})

test('[G7] [R4] behind a yes other words take nothing back; an end and an agent’s rule can be taken back too', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'No deploys on Friday' }]])
  const { on, types } = session(t)
  await types('Use pnpm from now on.')
  await types('yes')
  expect((await types('No, the button has to be blue, and undo that change in cart.ts')).visible).toBeUndefined()
  for (const other of ['No, keep the button blue', 'keep commits small', 'forget the cart']) {
    await types('Always sign commits.')
    await types('yes')
    expect([other, (await types(other)).visible]).toEqual([other, undefined])
    t.act([['retire', { ref: 'Always sign commits', reason: 'of the test' }]])
  }
  await types('Forget the Friday rule.')
  await types('yes')
  expect((await types('wait, undo that')).visible).toContain('(brings back "No deploys on Friday")')
  await types('yes')
  expect(t.memory.reader.list('fact', { current: true })).toHaveLength(2)
  await types('The prices are integers in cents, all of them.')
  await records(t, [['record-fact', { fact: 'Prices are cents', said: 'The prices are integers in cents' }]])
  await on('stop')
  expect((await types('yes')).visible).toContain('confirmed "Prices are cents"')
  expect((await types('no, take it back')).visible).toContain('(ends "Prices are cents")')
  await types('yes')
  expect(t.get('Prices are cents')!.fields.retired).toBeDefined()
})

test('[G7] what a prompt corrects itself is not asked', async () => {
  const { types } = session(openTestMemory())
  for (const said of ['always write comments in German. Actually no, in English', 'Always write comments in German. No. In English.', 'Always write comments in German, no, in English', 'Always write comments in German, no wait, English', 'Always write comments in German (no, in English)', 'always write comments in German… actually English', 'always write comments in German - sorry, no, in English', 'Never deploy on Fridays. Wait, I mean Thursdays', 'From now on use pnpm. Actually, please use npm.']) // biome-ignore format: a row
    expect([said, (await types(said)).visible]).toEqual([said, undefined])
  for (const [said, asked] of [
    ['Always write comments in German. Actually no, always write comments in English', 'noted: "Actually no, always write comments in English"'],
    ['Never commit secrets, I mean it', 'noted: "Never commit secrets, I mean it"'],
    ['Never commit secrets. No exceptions.', 'noted: "Never commit secrets"'],
    ['Never log mail addresses. Wait for my ok then.', 'noted: "Never log mail addresses"'],
    ['Always use tabs, no spaces', 'noted: "Always use tabs, no spaces"'],
    ['Never use npm. Actually, also pin the node version.', 'noted: "Never use npm"'],
    ['Never use yarn. Actually please also pin the node version.', 'noted: "Never use yarn"'],
  ] as const) // biome-ignore format: rows
    expect((await types(said)).visible).toContain(asked)
})

test('[G7] [R4] a rule that two sessions said yes to is over when one takes it back', async () => {
  const t = openTestMemory()
  const [a, b] = [session(t, 'aaaaaaaa-1'), session(t, 'bbbbbbbb-2')]
  for (const { types } of [a, b]) await types('Use pnpm from now on.')
  for (const { types } of [a, b]) await types('yes')
  expect((await b.types('no wait, undo that')).visible).toContain('ends "Use pnpm from now on')
  expect((await b.types('yes')).visible).toContain('This ends')
  expect(t.memory.reader.list('fact', { current: true })).toEqual([])
})

test('[G7] [R3] what was said again and had no place in the question is asked about the next time', async () => {
  const t = openTestMemory()
  const again = 'Tabs in the css files only, no spaces.'
  const full = `Never commit to main. Always run the linter. ${again}`
  for (const id of ['s1', 's2']) await session(t, id).types(again)
  expect((await session(t, 's3').types(full)).visible).not.toContain('Tabs')
  expect((await session(t, 's4').types(again)).visible).toContain('Tabs in the css files only')
})

test('[G7] [R4] a rule that was replaced and is said again is back, and what took its place ends', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const rules = () => t.memory.reader.list('fact', { current: true }).map((e) => e.fields.fact)
  for (const said of ['From now on use pnpm', 'From now on use bun, not pnpm', 'From now on use deno, not bun']) {
    await types(said)
    await types('yes')
  }
  expect(rules()).toEqual(['use deno, not bun'])
  expect((await types('From now on use pnpm')).visible).toContain(
    '(ends "use deno, not bun" and brings back "use pnpm")',
  )
  await types('yes')
  expect(rules()).toEqual(['use pnpm'])
  expect((await types('no wait, undo that')).visible).toContain('(brings back "use deno, not bun")')
  await types('yes')
  expect(rules()).toEqual(['use deno, not bun'])
  await types('From now on use bun, not pnpm')
  await types('yes')
  expect(rules()).toEqual(['use bun, not pnpm'])
  expect((await types('From now on use bun, not pnpm')).visible).toBeUndefined()
})

test('[G7] [R4] what two sessions replaced is back when one of them takes it back', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'use npm' }]])
  const [a, b] = [session(t, 'aaaaaaaa-1'), session(t, 'bbbbbbbb-2')]
  for (const { types } of [a, b]) await types('From now on use bun, not npm')
  for (const { types } of [a, b]) await types('yes')
  expect((await b.types('undo that')).visible).toContain('and brings back "use npm"')
  await b.types('yes')
  expect(t.memory.reader.list('fact', { current: true }).map((e) => e.fields.fact)).toEqual(['use npm'])
})

test('[G7] [Y2] a yes is one also with thanks, as a letter, and in the words of a language for several', async () => {
  const one = { yes: true, refs: [] }
  for (const said of ['yes thanks', 'Yes, thank you!', 'y', 'ja danke', 'oui merci', 'sí, gracias'])
    expect([said, answersIn(said)]).toEqual([said, [one]])
  for (const said of ['no thanks', 'nein danke', 'non merci'])
    expect([said, answersIn(said)]).toEqual([said, [{ ...one, yes: false }]])
  for (const said of ['yes to both of them', 'oui, les deux', 'oui aux deux', 'ja zu beiden', 'sí a ambas', 'sí, las dos', 'sim, as duas', 'yes for all', 'yes to everything']) // biome-ignore format: a row
    expect([said, answersIn(said).every((a) => a.yes && a.refs.every((ref) => ref === 'all'))]).toEqual([said, true])
  expect(answersIn('yes for a60, no for c41')).toEqual([{ yes: true, refs: ['a60'] }, { yes: false, refs: ['c41'] }]) // biome-ignore format: a row
  for (const said of [
    'yes but only for the api',
    'no idea what you mean',
    'y ahora arregla esto',
    'thanks',
    'for both',
  ])
    expect([said, answersIn(said)]).toEqual([said, []])
})

test('[Y2] [R4] a yes to take a rule back counts for the rule as it was shown', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Never deploy on Fridays.')
  await types('yes')
  expect((await types('no wait, undo that')).visible).toContain('ends "Never deploy on Fridays')
  t.act([['record-fact', { fact: 'Never deploy on Fridays', context: 'since the outage of May' }]], { by: 'person' })
  expect((await types('yes')).visible).toContain('was changed after you were asked')
  expect(t.get('Never deploy on Fridays')).toMatchObject({ live: true, fields: { context: 'since the outage of May' } })
})

test('[G7] a rule that names an element is not asked about without it', async () => {
  const { types } = session(openTestMemory())
  for (const said of ['Always use <Trans>text</Trans> for strings', 'Never <b>bold</b> in labels'])
    expect([said, (await types(said)).visible]).toEqual([said, undefined])
  expect((await types('<note>of a tool</note> Never use npm. <note>of a tool</note>')).visible).toContain(
    '"Never use npm"',
  )
})

test('[W3] [R3] how many rules had no place in a question is said, and not that they wait', async () => {
  const t = openTestMemory()
  const { visible = '' } = await session(t).types(
    'Always sign commits. Never deploy on Fridays. Never use npm. Never log cards.',
  )
  expect(visible).toMatch(/"Never deploy on Fridays".* 2 more: say it again, alone$/)
  const long = (what: string) => `Never use ${what} ${'in the packages of the shop and the bakery '.repeat(4)}here`
  const cut = await session(t, 's2').types(`${long('tabs')}. ${long('npm')}. ${long('any')}.`)
  expect(cut.visible).toMatch(/ [12] more: say it again, alone$/)
  expect(cut.visible).not.toContain('tidemark confirm')
})

test('[G7] [R4] of several rules that a yes recorded the one that is named is taken back, and none for once', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always run lint. Never push to main.')
  await types('yes both')
  expect((await types('forget the lint rule just once')).visible).toBeUndefined()
  await types('Always write docs. Never use var.')
  await types('yes both')
  expect((await types('forget the docs rule')).visible).toContain('(ends "Always write docs") —')
  await types('yes')
  const facts = t.memory.reader.list('fact', { current: true }).map((e) => e.name)
  expect(facts.toSorted()).toEqual(['Always run lint', 'Never push to main', 'Never use var'])
})

test('[G7] [R4] a rule that was taken back and is said again is asked about, and back with the yes', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const rules = () => t.memory.reader.list('fact', { current: true }).map((e) => e.fields.fact)
  for (const said of ['From now on use pnpm', 'From now on use bun, not pnpm', 'From now on use pnpm']) {
    await types(said)
    await types('yes')
  }
  expect((await types('From now on use bun, not pnpm')).visible).toContain(
    '(brings back "use bun, not pnpm" and replaces "use pnpm")',
  )
  await types('yes')
  expect(rules()).toEqual(['use bun, not pnpm'])
  expect((await types('no wait, undo that')).visible).toContain(
    '(ends "From now on use bun, not pnpm" and brings back "use pnpm")',
  )
  await types('yes')
  expect(rules()).toEqual(['use pnpm'])
  await types('fix the login')
  await types('forget the rule about pnpm')
  await types('yes')
  expect(rules()).toEqual([])
  expect((await types('From now on use pnpm')).visible).toContain('(brings back "use pnpm")')
  await types('yes')
  expect(rules()).toEqual(['use pnpm'])
})

test('[G7] [Y2] who was told to say which may answer both with the next prompt, and not with one after that', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types('Always run lint. Never push to main.')
  expect((await types('no thanks')).visible).toContain('more than one thing')
  expect((await types('yes, both')).visible).toContain('Never push to main')
  await types('Always write docs. Never use var.')
  expect((await types('yes')).visible).toContain('more than one thing')
  await types('fix the login')
  expect((await types('yes, both')).visible).toBeUndefined()
  expect(t.memory.reader.list('fact')).toHaveLength(2)
})
