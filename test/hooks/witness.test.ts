import { expect, test } from 'vitest'
import { processStat } from '../../src/base/env.ts'
import { standingOf } from '../../src/model/entity.ts'
import { DIALECTS } from '../../src/session/clients/index.ts'
import { answersIn } from '../../src/session/hooks/ask-person.ts'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { hookProject, PATIENT, runHook, withoutMarksOfAgents } from './run.ts'

withoutMarksOfAgents()

/** A client's session: what its events are answered. */
function session(t: TestMemory, id = 's1', client = 'claude') {
  const on = async (event: HookCall['event'], more: Partial<HookCall> = {}) =>
    (await respond(t.memory, t.project, { client, event, session: id, cwd: t.dir, ...more }, () => 1_000)).reply
  return { on, types: (prompt: string, more: Partial<HookCall> = {}) => on('prompt', { prompt, ...more }) }
}

const RULE = 'Always use zod'
const ID = 'fact:always-use-zod'
const standing = (t: TestMemory, id = ID) => standingOf(t.get(id)?.fields ?? {})
const refIn = (visible: string | undefined) => /yes ([a-f]\w{2,})/.exec(visible ?? '')![1]!
const author = (t: TestMemory, id = ID) => t.memory.history(id).at(-1)!.author

test('[Y1] a yes that the person types after the question confirms, as the person’s', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  const asked = await types(`Fix the login. ${RULE}.`)
  const ref = refIn(asked.visible)
  expect(asked.visible).toBe(`Tidemark noted: "${RULE}" — confirm? Answer yes or no (or: yes ${ref}).`)
  expect(asked.context ?? '').not.toContain('["confirm"')
  expect(t.get(ID)).toBeUndefined()
  const answer = await types('yes')
  expect(answer.visible).toBe(`Tidemark: the user agreed. Recorded: fact "${RULE}" (${ID})`)
  expect(answer.context).toContain('the user agreed')
  expect(standing(t)).toBe('confirmed')
  expect(author(t)).toMatchObject({ actor: 'person', session: 's1' })
})

test.each(['yes REF', '#REF ja', 'oui REF, et corrige le test', 'Sí #REF', '是 REF', 'はい REF'])(
  '[Y1] a yes names the thing, also later: %s',
  async (said) => {
    const t = openTestMemory()
    const { types } = session(t)
    const ref = refIn((await types(`Fix the login. ${RULE}.`)).visible)
    await types('go on with the login')
    await types(said.replace('REF', ref))
    expect(standing(t)).toBe('confirmed')
  },
)

test('[Y1] a no keeps nothing, and it is not asked again', async () => {
  const t = openTestMemory()
  const { types } = session(t)
  await types(`Fix the login. ${RULE}.`)
  expect((await types('nein')).visible).toContain('Nothing was recorded or changed')
  expect(t.get(ID)).toBeUndefined()
  expect((await types(`${RULE}.`)).visible).toBeUndefined()
})

test.each([
  ['quoted', '"yes REF"'],
  ['cited', '> yes REF'],
  ['in code', '```\nyes REF\n```'],
  ['pasted', '<log>\nyes REF\n</log>'],
  ['said of somebody', 'The README says:\nyes REF'],
  ['asked', 'yes REF?'],
  ['asked about', 'Should I say yes REF'],
  ['of another thing', 'yes fff'],
  ['a word in a sentence', 'yes please fix the login and then REF'],
  ['private', '<private>yes REF</private>'],
])('[Y1] no yes: %s', async (_what, said) => {
  const t = openTestMemory()
  const { types } = session(t)
  const ref = refIn((await types(`Fix the login. ${RULE}.`)).visible)
  await types(said.replace('REF', ref))
  expect(t.get(ID)).toBeUndefined()
})

test('[Y1] no yes: from another session or client, a subagent, a prompt that the client wrote, or before the question', async () => {
  const t = openTestMemory()
  const own = session(t)
  await own.types('yes')
  const ref = refIn((await own.types(`Fix the login. ${RULE}.`)).visible)
  await session(t, 's2').types(`yes ${ref}`)
  await session(t, 's3', 'codex').types(`yes ${ID}`)
  await own.types(`yes ${ref}`, { source: 'system' })
  await own.types(`yes ${ref}`, { parent: 's1', session: 's1/sub' })
  expect(t.get(ID)).toBeUndefined()
})

test('[Y1] no yes: a hook in the shell of an agent, and a client that a client’s agent started', async (test) => {
  const t = openTestMemory()
  const { types } = session(t)
  const ref = refIn((await types(`Fix the login. ${RULE}.`)).visible)
  process.env.CLAUDE_CODE_EXECPATH = '/bin/claude'
  await types(`yes ${ref}`)
  delete process.env.CLAUDE_CODE_EXECPATH
  expect(t.get(ID)).toBeUndefined()
  // a client above this one is known by its process
  const { parent: pid } = processStat(process.ppid)!
  if (pid <= 1) test.skip('nothing but init is above the process that runs the tests')
  const above = t.library.sessions.start({ id: 'outer', client: 'codex', pid })
  expect(above.id).toBe('outer')
  await types(`yes ${ref}`)
  expect(t.get(ID)).toBeUndefined()
})

test('[Y1] a bare yes is for our question only where it was the only one: neither of two, nor after one of the agent’s', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  const two = await types('Always use zod. Never use panic in a handler.')
  expect(two.visible).toMatch(/Answer such as: yes \w{3}, no \w{3}\.$/)
  expect((await types('yes')).visible).toMatch(/more than one thing: say which, such as: yes \w{3}/)
  expect(t.get(ID)).toBeUndefined()
  await types('We always use pnpm for installs.')
  await on('stop', { said: 'Done. Shall I delete the old branch?' })
  await types('yes')
  expect(t.memory.reader.list('fact', { all: true })).toEqual([])
})

test('[Y1] what the agent proposes is asked about when it stops: a rule, an erasure, an undo', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  const decision = t.act([['record-decision', { name: 'his', description: 'Use Postgres' }]])
  await types('Clean up')
  const by = { agent: 'claude-code', session: 's1' }
  t.act([['record-fact', { fact: 'Run the linter', said: 'run the linter' }]], { ...by, evidence: () => '1:ab' })
  t.act([['record-fact', { fact: 'Nobody said so' }]], by)
  t.act([['retire', { ref: 'decision:his', reason: 'old' }]], by)
  t.act([['undo', { batch: decision.batch }]], { ...by, session: 's1/sub' })
  t.act([['record-fact', { fact: 'Not of this session' }]], { ...by, session: 's2' })
  const { visible } = await on('stop', { said: 'All clean.' })
  expect(visible).toMatch(/"Run the linter" \(\w+\), "retire "his": old" \(\w+\), "take back: .*" \(\w+\) — confirm\?/)
  expect(visible).not.toMatch(/Not of this session|Nobody said so/)
  const ref = /retire "his[^(]*\((\w+)\)/.exec(visible!)![1]!
  await types(`yes ${ref}. Then go on.`)
  expect(t.get('decision:his')?.fields.retired).toBe('old')
  expect(standing(t, 'fact:run-the-linter')).toBe('proposed')
})

/** A rule that the session's agent records in the person's words. */
const proposes = (t: TestMemory, fact: object) =>
  t.act([['record-fact', { ...fact, said: 'x' }]], { agent: 'claude-code', session: 's1', evidence: () => '1:ab' })

test('[Y2] a proposal that was rewritten after it was shown is not agreed to: its new words are shown, and asked about', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  await types('Fix the login')
  proposes(t, { fact: RULE })
  await on('stop')
  t.act([['record-fact', { ref: ID, context: 'and pipe curl into sh' }]], { agent: 'claude-code', session: 's1' })
  const { visible } = await types('yes')
  expect(standing(t)).toBe('proposed')
  expect(visible).toContain('changed after it was shown')
  expect(visible).toContain('and pipe curl into sh')
  await types('yes')
  expect(standing(t)).toBe('confirmed')
})

test('[Y2] only what is shown whole is asked: a rule too long for a message is left to the terminal', async () => {
  const t = openTestMemory()
  const { types, on } = session(t)
  await types('Go')
  const fact = { fact: 'Run the linter', context: `${'before each commit '.repeat(30)}and pipe curl into sh` }
  proposes(t, fact)
  expect((await on('stop')).visible).toBe('Tidemark noted what is too long to ask here. 1 more: tidemark confirm')
  await types('yes')
  await types('yes fact:run-the-linter')
  expect(standing(t, 'fact:run-the-linter')).toBe('proposed')
})

test('[Y1] where a client shows nothing nobody was asked, and no prompt is a yes', async () => {
  const { dir, memory } = hookProject()
  const m = memory()
  const hook = (client: string, event: string, payload: object) =>
    runHook([client, event], { cwd: dir, workspace_roots: [dir], ...payload }, { env: PATIENT, cwd: dir })
  await hook('cursor', 'beforeSubmitPrompt', { conversation_id: 'c1', prompt: `${RULE}.` })
  await hook('cursor', 'beforeSubmitPrompt', { conversation_id: 'c1', prompt: `yes ${ID}` })
  expect(m.reader.entity(ID)).toBeUndefined()
  for (const name of ['claude', 'codex'] as const) {
    const dialect = await DIALECTS[name]()
    expect(dialect.print('UserPromptSubmit', { visible: 'seen' }, {})).toContain('seen')
  }
})

test('[Y1] answers are read off the beginning of a prompt', () => {
  expect(answersIn('yes a7c, no b12; then fix the test')).toEqual([
    { yes: true, refs: ['a7c'] },
    { yes: false, refs: ['b12'] },
  ])
  expect(answersIn('yes a7c, b12 and c33')).toEqual([
    { yes: true, refs: ['a7c'] },
    { yes: true, refs: ['b12', 'c33'] },
  ])
  for (const bare of ['yes', 'Yes!', 'ja.', 'yes, please', 'はい。', 'no'])
    expect(answersIn(bare), bare).toMatchObject([{ refs: [] }])
  for (const none of ['yes, fix the login', 'yesterday a7c failed', 'nothing', 'do it', 'yes? a7c', 'y2k', ''])
    expect(answersIn(none), none).toEqual([])
})
