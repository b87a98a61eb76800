import { expect, test } from 'vitest'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { agreeing, files, inProcess, pressing, project, ruled } from './run.ts'

const onTerminals = testUnless(NO_TERMINAL)
const propose = (fact: string) => ['propose', { action: ['record-fact', { fact }] }]

async function proposed(...facts: string[]) {
  const p = await project()
  for (const fact of facts) await inProcess(p.at, ['act', '-'], JSON.stringify([propose(fact)]))
  const standing = async () => {
    const all = JSON.parse((await inProcess(p.at, ['list', 'fact', '--all', '--json'])).out)
    return Object.fromEntries(all.map((e: { name: string; standing?: string }) => [e.name, e.standing ?? 'confirmed']))
  }
  return { ...p, standing }
}

onTerminals('[M6] review walks through what waits, a key for each, and u takes the last decision back', async () => {
  const { at, standing } = await proposed('Squash commits', 'Never use moment', 'Run the tests', 'Ask before a push')
  // newest first: ask y, tests n, undone, tests l, moment n, squash y
  const { code, out } = await pressing(at, ['review'], 'ynulny')
  expect(code).toBe(0)
  expect(out).toContain('1 of 4  fact: Ask before a push\n  fact:ask-before-a-push  (')
  expect(out).toContain('y yes, n no, l later, a all, u undo, q quit?')
  expect(out).toMatch(/2 confirmed, 1 rejected, 1 thing left\n$/)
  expect(await standing()).toEqual({
    ...{ 'Ask before a push': 'confirmed', 'Squash commits': 'confirmed' },
    ...{ 'Never use moment': 'rejected', 'Run the tests': 'proposed' },
  })
})

onTerminals('[M6] review confirms all that is left at once, after all of it was shown; Ctrl-C leaves it', async () => {
  const { at, standing } = await proposed('Squash commits', 'Never use moment', 'Run the tests')
  expect((await pressing(at, ['review'], '\x03')).out).toMatch(/0 confirmed, 0 rejected, 3 things left\n$/)
  expect((await pressing(at, ['review'], 'anq')).out).toMatch(/0 confirmed, 0 rejected, 3 things left\n$/)
  const { out } = await pressing(at, ['review'], 'ay')
  expect(out).toMatch(/Never use moment\n.*Squash commits\n.*y yes, n no: confirm all 3\?/s)
  expect(out).toContain('3 confirmed, 0 rejected, 0 things left')
  expect(Object.values(await standing())).toEqual(['confirmed', 'confirmed', 'confirmed'])
  expect((await pressing(at, ['review'], '')).out).toBe('nothing is proposed\n')
})

onTerminals(
  '[R2] what says nearly the same is asked once, and never again once it binds or was turned down',
  async () => {
    const { at, run } = await proposed(
      'Run the tests before a commit',
      'Run all the tests before a commit',
      'Never use moment',
    )
    expect(await run('review')).not.toContain('fact:run-the-tests-before-a-commit')
    const { out } = await pressing(at, ['review'], 'ny')
    expect(out).toMatch(/1 of 2 {2}fact: Never use moment.*2 of 2 {2}fact: Run all the tests/s)
    for (const again of ['The tests run before a commit', 'Never use the moment'])
      await inProcess(at, ['act', '-'], JSON.stringify([propose(again)]))
    expect(await run('status')).not.toContain('to review')
    expect(await run('review')).toBe('nothing is proposed\n')
  },
)

onTerminals('[T44] an agent in a terminal of its own gets the list: no key of it counts as the person’s', async () => {
  const { at, standing } = await proposed('Always guess')
  const { out } = await pressing({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, ['review'], 'y')
  expect(out).toContain('tidemark confirm fact:always-guess agrees; tidemark reject fact:always-guess turns it down')
  expect(await standing()).toEqual({ 'Always guess': 'proposed' })
})

onTerminals('reject, retire, supersede, rename and answer are plain commands, each with the way back', async () => {
  const { at, run, standing } = await proposed('Use npm for installs', 'Never use moment')
  expect(await agreeing(at, 'reject', 'Use npm for installs', 'fact:never-use-moment', '--reason', 'we do')).toMatch(
    /^rejected fact "Use npm for installs"\nrejected fact "Never use moment"\ntidemark undo \S+ takes it back\n$/,
  )
  expect(await standing()).toEqual({ 'Use npm for installs': 'rejected', 'Never use moment': 'rejected' })
  const again = await inProcess(at, ['act', '-'], JSON.stringify([propose('Use npm for installs')]))
  expect(again.err).toContain('proposed and rejected before')

  await run('act', JSON.stringify([['record-decision', { name: 'use-json' }], ['record-decision', { name: 'use-sqlite' }], ['record-question', { question: 'Does the hub need Redis?' }]])) // biome-ignore format: one batch
  const done = await run('supersede', 'use-json', 'use-sqlite', '--reason', 'lost writes')
  expect(done).toContain('"use-sqlite" takes the place of "use-json"')
  expect(await run('recall', 'use-json')).not.toContain('decision "use-json"')
  await run('undo', /tidemark undo (\S+)/.exec(done)![1]!)
  expect(await run('show', 'use-json')).not.toContain('superseded')

  expect(await run('answer', 'Does the hub need Redis?', 'No: Postgres tells', 'everybody')).toContain(
    'answered "Does the hub need Redis?"',
  )
  expect(await run('questions')).toContain('no question is open')
  expect(await run('rename', 'use-sqlite', 'use sqlite files')).toContain(
    '"use-sqlite" is called "use sqlite files" now',
  )
  expect(await run('retire', 'use-json')).toContain('retired decision "use-json"')
  expect(await run('show', 'use-json')).toContain('retired: no longer holds')
  const none = await inProcess(at, ['reject', 'use sqlite files'])
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('is no proposal')])
  expect((await inProcess(at, ['supersede', 'use-json'])).code).toBe(2)
})

test('merge makes one of two: lists and links go over, what stands stays, and one undo takes it back', async () => {
  const { at, run } = await project()
  await run('act', JSON.stringify([
    ['record-decision', { name: 'sqlite', description: 'One file', topics: ['storage'], evidence: ['fast'] }],
    ['record-decision', { name: 'use-sqlite', description: 'A file per project', rationale: 'no daemon', topics: ['disk'] }],
    ['record-principle', { name: 'simple' }],
    ['link-entities', { from: 'simple', to: 'sqlite', type: 'supports' }],
  ])) // biome-ignore format: one batch
  const done = await run('merge', 'sqlite', 'use-sqlite')
  expect(done).toContain('merged "sqlite" into "use-sqlite": evidence, topics, 1 of its links')
  const one = JSON.parse((await inProcess(at, ['show', 'use-sqlite', '--json'])).out)
  expect(one).toMatchObject({
    name: 'use-sqlite',
    description: 'A file per project',
    evidence: ['fast'],
    topics: ['disk', 'storage'],
  })
  expect(await run('show', 'use-sqlite')).toContain('supported-by ← ')
  expect(await run('show', 'sqlite')).toContain('superseded')
  await run('undo', /tidemark undo (\S+)/.exec(done)![1]!)
  expect(await run('show', 'use-sqlite')).not.toContain('fast')
  const other = await inProcess(at, ['merge', 'simple', 'sqlite'])
  expect(other.err).toContain('a principle and a decision are not merged')
})

test('[T40] the shell of an agent proposes what ends or replaces a rule, and confirms nothing', async () => {
  const { at } = await project()
  ruled(at, 'Never push to main')
  ruled(at, 'Always push to main')
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  for (const args of [
    ['retire', 'Never push to main'],
    ['supersede', 'Never push to main', 'Always push to main'],
    ['rename', 'Never push to main', 'Push to main'],
    ['merge', 'Never push to main', 'Always push to main'],
  ]) {
    const { out } = await inProcess(agent, args)
    expect(out, args[0]).toContain('proposed to ')
    expect(out, args[0]).not.toContain('undefined')
  }
  expect((await inProcess(at, ['brief'])).out).toContain('- Never push to main')
})

onTerminals(
  '[M6] [F1] review walks through what the code has left behind: y holds, r retires, l leaves it',
  async () => {
    const { at, run } = await project()
    const lay = (name: string, says: number) =>
      files(at.dir, { [`src/${name}.ts`]: `export function ${name}() {\n  return ${says}\n}\n` })
    for (const name of ['one', 'two', 'three']) {
      lay(name, 1)
      const decision = { name: `use-${name}`, rationale: 'r', locations: [`src/${name}.ts#${name}`] }
      await inProcess(at, ['act', '-'], JSON.stringify([['record-decision', decision]]))
    }
    await run('scan')
    for (const name of ['one', 'two', 'three']) lay(name, 2)
    await run('scan')
    const { out } = await pressing(at, ['review'], 'yrl')
    expect(out).toContain('1 of 3 stale  decision: use-')
    expect(out).toContain('y it still holds, r retire, l later, q quit?')
    expect(out).toMatch(/0 things left, 1 stale thing left\n$/)
    expect((await run('review')).match(/ {2}\(stale: /g)).toHaveLength(1)
    expect((await run('list', 'decisions')).match(/use-\w+( \[stale:)?/g)).toEqual(['use-two [stale:', 'use-one'])
  },
)
