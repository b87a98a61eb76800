import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { HookCall, HookReply } from '../../src/session/hooks/call.ts'
import { operationsOf, outcomeIn, runsAllOf } from '../../src/session/hooks/operations.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { synthesize, synthesizeIfDue } from '../../src/work/evolution/synthesis.ts'
import { observationLine } from '../../src/work/handoff/views/observations.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

function day(config: object = {}) {
  const t = openTestMemory()
  const project = { ...t.project, hooks: config }
  const hook = async (event: HookCall['event'], more: Partial<HookCall> = {}, session = 's1'): Promise<HookReply> => {
    const call: HookCall = { client: 'claude', event, session, cwd: t.dir, pid: process.pid, ...more }
    const { reply, errors } = await respond(t.memory, project, call, () => 1_000)
    expect(errors).toEqual([])
    return reply
  }
  const ran = async (command: string, failed = false, response = '', session = 's1') => {
    t.clock.now += 60_000
    const tool = { name: 'Bash', paths: [], command, response, ...(failed ? { failed } : {}) }
    return hook(failed ? 'tool-failed' : 'after-tool', { tool }, session)
  }
  const edited = async (path: string, session = 's1') => {
    t.clock.now += 60_000
    const tool = { name: 'Edit', paths: [path] }
    const reply = await hook('before-edit', { tool }, session)
    await hook('after-edit', { tool }, session)
    return reply
  }
  return { t, hook, ran, edited, lines: () => linesOf(t) }
}

/** The observations without their time, oldest first. */
const linesOf = ({ memory }: TestMemory): string[] =>
  memory.reader.list('observation').toReversed().map((e) => observationLine(e).slice(19)) // biome-ignore format: one thought

function lay(t: TestMemory, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(t.dir, path)), { recursive: true })
    writeFileSync(join(t.dir, path), text)
  }
}

test('[P1] a verification that failed and then passed is one line with its time, and none the second time it passes', async () => {
  const { ran, edited, lines, hook, t } = day()
  await hook('session-start', { source: 'startup' })
  await ran('npm test', true, 'Exit code 1')
  await edited('src/a.ts')
  await ran('npm test', true, 'Exit code 1')
  await edited('src/a.ts')
  await ran('cd . && npm test', true, 'Exit code 1')
  t.clock.now += 7 * 60_000
  await ran('npm test && git commit -m done')
  await ran('npm test')
  expect(lines()).toEqual(['verify | npm test failed 3 times, then passed | cost: 12 min'])
})

test('[P1] all tests that pass settle the ones of them that failed before, and not the other way round', async () => {
  const { ran, lines } = day()
  for (let i = 0; i < 2; i++) await ran('npm test -- a.test.ts', true)
  await ran('cd . && npm test -- -t totals', true)
  await ran('npm test -- -t totals', true)
  await ran('make test', true)
  await ran('make test', true)
  await ran('npm test')
  expect(lines()).toEqual([
    'verify | npm test -- a.test.ts failed 2 times, then passed | cost: 6 min',
    'verify | npm test -- -t totals failed 2 times, then passed | cost: 4 min',
  ])
  await ran('make test unit')
  expect(lines()).toHaveLength(2)
})

test.each([
  ['npm test', 'npm test -- a', true],
  ['npx vitest run', 'vitest run test/a.test.ts 2>&1', true],
  ['cd web && npm test', 'cd web && npm test -- -t x', true],
  ['pytest', 'pytest -k totals tests', true],
  ['pip install -e . && pytest tests/db', 'pytest tests/db', true],
  ['pip install -e . ; pytest tests/db', 'pytest tests/db', false],
  ['npm test -- a', 'npm test', false],
  ['cd web && npm test', 'cd api && npm test', false],
  ['tsc', 'tsc -p web', false],
  ['npm test', 'npm test && npm run lint', false],
  ['make', 'make deploy', false],
  ['curl', 'curl http://localhost', false],
])('[P1] whether %s runs all of %s: %s', (wide, narrow, is) => {
  expect(runsAllOf(wide, narrow)).toBe(is)
})

test('[P1] one quick red is no line, one that took long is; the first run of a test that was just written neither', async () => {
  const { ran, edited, lines, t } = day()
  await ran('npx tsc --noEmit', true)
  await ran('npx tsc --noEmit')
  expect(lines()).toEqual([])
  await edited('src/a.test.ts')
  await ran('pytest -q', true)
  t.clock.now += 20 * 60_000
  await ran('pytest -q')
  expect(lines()).toEqual([])
  await ran('npm run lint', true)
  t.clock.now += 8 * 60_000
  await ran('npm run lint')
  expect(lines()).toEqual(['verify | npm run lint failed once, then passed | cost: 9 min'])
})

test('[P1] the time in which the agent waited for its user is no cost', async () => {
  const { ran, hook, lines, t } = day()
  await ran('cargo test', true)
  await ran('cargo test', true)
  await hook('stop')
  t.clock.now += 90 * 60_000
  await hook('prompt', { prompt: 'please look at the parser again' })
  await ran('cargo test')
  expect(lines()).toEqual(['verify | cargo test failed 2 times, then passed | cost: 2 min'])
})

test('[P1] behind a pipe the exit code says nothing: what was printed does, or nobody knows', async () => {
  const { ran, lines } = day()
  for (const printed of ['Tests  2 failed | 10 passed (12)', '', 'Tests  1 failed | 11 passed (12)'])
    await ran('npx vitest run 2>&1 | tail -20', false, printed)
  await ran('npx vitest run 2>&1 | tail -20', false, 'Tests  12 passed (12)')
  expect(lines()).toEqual(['verify | vitest run failed 2 times, then passed | cost: 3 min'])
  expect(outcomeIn('12 passed, 0 failed')).toBe('passed')
  expect(outcomeIn('nothing to see')).toBeUndefined()
})

test('[P1] what leaves the machine untested is a line, once until the next edit', async () => {
  const { ran, edited, lines, t } = day()
  lay(t, { 'package.json': '{"scripts": {"test": "vitest run"}}' })
  await edited('src/a.ts')
  await edited('README.md')
  await ran('git push origin main', false, 'main -> main')
  await ran('git push', false, 'main -> main')
  expect(lines()).toEqual(['push | went out without a test run since the last edit | cost: 1 file untested'])
  await edited('src/b.ts')
  await ran('npm run test:unit -- b')
  await ran('git push')
  await edited('docs/b.md')
  await ran('npx vercel --prod')
  await edited('src/b.ts')
  for (const command of ['git push --dry-run', 'git push --tags', 'echo git push', 'npm publish --help'])
    await ran(command)
  await ran('git push', false, ' ! [rejected] main -> main (fetch first)')
  await ran('npm test && npm publish')
  expect(lines()).toHaveLength(1)
})

test('[P1] nothing is said of what may test itself, of a project without tests, and of tests a subagent ran', async () => {
  const without = day()
  await without.edited('src/a.ts')
  await without.ran('git push')
  expect(without.lines()).toEqual([])
  const own = day()
  lay(own.t, { 'tests/a.py': '', '.husky/pre-push': 'npm test\n' })
  await own.edited('src/a.ts')
  await own.ran('git push')
  expect(own.lines()).toEqual([])
  const script = day()
  lay(script.t, { 'tests/a.py': '', 'scripts/deploy.sh': 'set -e\npytest\nrsync\n' })
  await script.edited('src/a.ts')
  await script.ran('./scripts/deploy.sh prod')
  expect(script.lines()).toEqual([])
  const child = day()
  lay(child.t, { 'tests/a.py': '' })
  await child.hook('session-start', { source: 'startup' })
  await child.edited('src/a.py')
  const call = { session: 's1/a1', parent: 's1', agent: 'tester' }
  child.t.clock.now += 1_000
  await child.hook('after-tool', { ...call, tool: { name: 'Bash', paths: [], command: 'pytest' } })
  await child.ran('git push')
  expect(child.lines()).toEqual([])
})

test('[P1] an edit that met a claim is one line for each claim', async () => {
  const { edited, lines, hook, t } = day()
  await hook('session-start', { source: 'startup' }, 'other')
  await hook('session-start', { source: 'startup' })
  t.act([['claim', { paths: ['src/a.ts'] }]], { session: 'other' })
  expect((await edited('src/a.ts')).decision).toBe('deny')
  expect((await edited('src/a.ts')).decision).toBe('deny')
  await edited('src/b.ts', 'other')
  expect((await edited('src/b.ts')).decision).toBe('deny')
  expect(lines()).toEqual([
    expect.stringMatching(
      /^edit \| tried to edit what another session held, and was refused \(src\/a\.ts, .{0,40}other.{0,40}\) \| -$/,
    ),
    expect.stringMatching(
      /^edit \| tried to edit what another session held, and was refused \(src\/b\.ts, .{0,40}other.{0,40}\) \| -$/,
    ),
  ])
})

test('[P1] a commit that is taken back is a line: by revert, or by a reset over what the session committed', async () => {
  const { ran, lines } = day()
  await ran('git reset --hard HEAD~1', false, 'HEAD is now at 1234567 before')
  await ran('git revert --abort')
  expect(lines()).toEqual([])
  await ran('git add -A && git commit -m "add a cache"', false, '[main 1234567] add a cache')
  await ran('git reset --hard HEAD', false, 'HEAD is now at 1234567 add a cache')
  await ran('git reset --hard HEAD~1', false, 'HEAD is now at 7654321 before')
  await ran('git revert --no-edit HEAD', false, '[main abcdef1] Revert "add a queue"\n 1 file changed')
  expect(lines()).toEqual([
    'commit | a commit thrown away with git reset --hard | -',
    'commit | reverted: add a queue | -',
  ])
})

test('[P1] of one sort a session tells three; a secret stays out; nothing while capture is off or the command is excluded', async () => {
  const { ran, lines } = day({ excludeCommands: ['tox'] })
  const mended = async (command: string) => {
    await ran(command, true)
    await ran(command, true)
    await ran(command)
  }
  await mended('tox -e py312')
  await mended('pytest --token=ghp_0123456789abcdefghijABCDEFGHIJ456789')
  for (const n of [1, 2, 3]) await mended(`pytest tests/part${n}`)
  expect(lines()).toHaveLength(3)
  expect(lines().join()).not.toContain('0123456789abcdef')
  const off = day({ capture: false })
  await off.ran('npm test', true)
  await off.ran('npm test', true)
  await off.ran('npm test')
  expect(off.lines()).toEqual([])
})

test('[P1] what a command line does, as far as it can be told for certain', () => {
  const says = (line: string) =>
    operationsOf(line).map(
      (o) => `${o.as ?? o.does} ${o.text}${o.passes ? '' : ' ?passed'}${o.fails ? '' : ' ?failed'}`,
    )
  const table: readonly (readonly [line: string, ...operations: string[]])[] = [
    ['npm test', 'verify npm test'],
    ['cd web && CI=1 npx vitest run', 'verify vitest run'],
    ['npm test || true', 'verify npm test ?passed ?failed'],
    ['npm test; echo $?', 'verify npm test ?passed ?failed'],
    ['npm run build && npm test', 'verify npm run build ?failed', 'verify npm test ?failed'],
    ['make -j4 test > log.txt 2>&1', 'verify make -j4 test'],
    ['git commit -m "then npm publish; git push"', 'commit git commit -m then npm publish; git push'],
    [`git commit -m "$(cat <<'EOF'\nfix "it" && git push\nEOF\n)" && git push`, 'commit git commit -m $(cat \n) ?failed', 'push git push ?failed'],
    ['npm ci'], ['cat deploy.sh'], ['git log --grep deploy'],
    ['sh scripts/release.sh 1.2.0', 'release sh scripts/release.sh 1.2.0'],
    ['terraform apply -auto-approve', 'deploy terraform apply -auto-approve'],
    ['vercel env pull'], ['kubectl get pods'], ['git push origin :old'], ['rg "npm publish" docs'],
  ] // biome-ignore format: a table
  for (const [line, ...expected] of table) expect([line, ...says(line)]).toEqual([line, ...expected])
  // what only may run tests is none to watch; but nobody says after it that none ran
  expect(operationsOf('./run-all-tests.sh')).toMatchObject([{ does: 'verify', text: '', tests: true }])
})

test('[P1] a check whose program is missing is left neither failing nor passing', async () => {
  const { hook, ran, lines } = day()
  await hook('session-start', { source: 'startup' })
  for (const said of ['Exit code 127\n/bin/bash: line 1: npm: command not found', 'npm: command not found'])
    await ran('npm run lint', true, said)
  await hook('session-end', { reason: 'other' })
  expect(lines()).toEqual([])
})

test('[P1] a session that leaves a check failing says so in one line, and one that leaves nothing says nothing', async () => {
  const { hook, ran, lines } = day()
  await hook('session-start', { source: 'startup' })
  await ran('npm run lint', true)
  await ran('npm run lint', true)
  await hook('session-end', { reason: 'other' })
  expect(lines()).toEqual(['handoff | left npm run lint failing after 2 runs | -'])
  await hook('session-start', { source: 'startup' }, 's2')
  await ran('npm run lint', false, '', 's2')
  await hook('session-end', { reason: 'other' }, 's2')
  expect(lines()).toHaveLength(1)
})

/** Lines of a transcript of Claude Code. */
function transcript(t: TestMemory, turns: readonly object[]): string {
  const path = join(t.dir, 'transcript.jsonl')
  const timestamp = new Date(t.clock.now + 1_000).toISOString()
  writeFileSync(path, turns.map((turn) => `${JSON.stringify({ timestamp, ...turn })}\n`).join(''))
  return path
}
const uses = (name: string, input: object, id = 't1') => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const failedIs = (id: string) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, is_error: true, content: 'Exit code 1' }] },
})

test("[P1] a run of the project's own skill is one line, with how it went where that is known; three of five have their five", async () => {
  const { hook, lines, t } = day()
  lay(t, { '.claude/skills/deploy/SKILL.md': '1. Build\n2. Push\n', '.claude/commands/check.md': 'Check all' })
  const turn = async (prompt: string, ...turns: object[]) => {
    t.clock.now += 60_000
    await hook('prompt', { prompt })
    const call = { transcript: transcript(t, turns) }
    await hook('stop', call)
    await hook('stop', call)
  }
  await hook('session-start', { source: 'startup' })
  await turn('/deploy to staging')
  await turn('please deploy', uses('Skill', { skill: 'deploy' }), uses('Bash', { command: 'npm run deploy' }, 't2'))
  await turn('/check', uses('Bash', { command: 'npm test' }), failedIs('t1'))
  await turn('/tmp is full, and /unknown is no skill', uses('Skill', { skill: 'pdf' }))
  await turn('write about deploy', uses('Write', { file_path: 'a.md', content: '"name":"Skill","skill":"deploy"' }))
  expect(lines()).toEqual([
    'deploy | ran | -',
    'deploy | ran, and npm run deploy passed | -',
    'check | ended with npm test failing | -',
  ])
  const said = { operation: '/deploy', what: 'skipped the smoke test', cost: 'cost: 1 h' }
  t.clock.now += 60_000
  await hook('prompt', { prompt: '/deploy' })
  t.act([['record-observation', said]])
  await hook('stop')
  expect(lines()).toHaveLength(4) // the skill said it itself
  t.act([['record-observation', said], ['record-observation', said]]) // biome-ignore format: one thought
  const [proposal, ...more] = synthesize(t.memory, t.project)
  expect(more).toEqual([])
  expect(proposal!.fields.trigger).toMatch(/^3 of 5 deploy observations, cost 3 h: /)
})

test('[P1] skills that Tidemark ships end with the step to record one observation', () => {
  const skills = join(import.meta.dirname, '../../plugin/skills')
  for (const name of readdirSync(skills).filter((n) => n !== 'observe')) {
    const text = readFileSync(join(skills, name, 'SKILL.md'), 'utf8')
    expect(text.slice(text.indexOf('\nLast, record one observation'))).toMatch(
      /\["record-observation", \{"operation": "[a-z]+"/,
    )
  }
})

const insights = ({ memory }: TestMemory) => memory.reader.list('insight').toReversed()

test('[P1] when the last subagent ends, what they observed is one insight; what its chief adds goes into the same one', async () => {
  const { hook, t } = day()
  const child = (name: string) => ({ call: { parent: 's1', agent: name }, session: `s1/${name}` })
  const says = (session: string, what: string, more: object = {}) => {
    t.clock.now += 1_000
    t.act([['record-observation', { operation: 'tdd-cycle', what, ...more }]], { session })
  }
  const turn = async (prompt: string, ...agents: string[]) => {
    t.clock.now += 60_000
    await hook('prompt', { prompt })
    for (const name of agents) await hook('subagent-start', child(name).call, `s1/${name}`)
  }
  const ends = (name: string) => hook('subagent-stop', child(name).call, `s1/${name}`)
  await hook('session-start', { source: 'startup' })
  says('s1', 'long before', { cost: 'cost: 1 h' })
  await turn('build the login', 'writer', 'reviewer')
  says('s1/reviewer', 'implementer skipped error handling on API calls', {
    tags: ['agent-retro'],
    cost: 'cost: 20 min',
  })
  says('s1/reviewer', 'ran', { tags: ['run'] })
  await ends('reviewer')
  expect(insights(t)).toEqual([])
  await ends('writer')
  expect(insights(t)).toHaveLength(1)
  says('s1', 'Implementer skipped error handling on API calls', { cost: 'cost: 15 min' })
  says('s1', 'npm test failed 3 times, then passed', { cost: 'cost: 5 min' })
  await hook('stop')
  await hook('stop')
  const [insight, ...more] = insights(t)
  expect(more).toEqual([])
  expect(insight!.fields).toMatchObject({
    summary: 'implementer skipped error handling on API calls (2 times); npm test failed 3 times, then passed; cost 40 min',
    implications: ['Required: error handling on API calls. Go on only when it has passed.', expect.stringMatching(/^Run npm test /)],
    detail: expect.stringMatching(/\[agent-retro\] implementer .*\n.*\n.*npm test/),
  }) // biome-ignore format: a table
  expect(t.memory.reader.links('from', insight!.id).map((l) => l.type)).toEqual(['based-on', 'based-on', 'based-on'])
  await turn('and now alone')
  says('s1', 'forgot the changelog', { cost: 'cost: 5 min' })
  await hook('stop')
  await turn('with an agent that has nothing to say', 'writer')
  await ends('writer')
  await hook('stop')
  expect(insights(t)).toHaveLength(1)
})

test('[P1] when the last task of a goal that anybody holds is done, what its sessions observed is one insight about it', async () => {
  const { memory, project, act } = openTestMemory()
  const as = (session: string, ...actions: unknown[]) => {
    const { cursor } = memory
    act(actions, { session })
    synthesizeIfDue(memory, project, cursor)
  }
  as('a', ['start-goal', { originalAsk: 'login' }])
  as('a', ['add-task', { name: 'tests', goal: 'login' }], ['add-task', { name: 'code', goal: 'login' }])
  as('a', ['start-task', { ref: 'tests' }], ['claim', { task: 'tests' }])
  as('b', ['start-task', { ref: 'code' }], ['claim', { task: 'code' }])
  as('b', ['record-observation', { operation: 'review', what: 'missing error handling', tags: ['agent-retro'] }])
  as('c', ['record-observation', { operation: 'deploy', what: 'elsewhere', cost: 'cost: 1 h' }])
  as('a', ['complete', { ref: 'tests' }])
  expect(memory.reader.list('insight')).toEqual([])
  as('b', ['complete', { ref: 'code' }])
  const [insight, ...more] = memory.reader.list('insight')
  expect(more).toEqual([])
  expect(insight!.fields.summary).toBe('missing error handling')
  const links = memory.reader.links('from', insight!.id).map((l) => `${l.type} ${l.to.split(':')[0]}`)
  expect(links.sort()).toEqual(['about goal', 'based-on observation'])
  as('a', ['complete', { ref: 'login' }])
  expect(memory.reader.list('insight')).toHaveLength(1)
})

test('[P2] what agents found in the work of others three times is proposed as any other trouble', () => {
  const t = openTestMemory()
  for (const n of [1, 2, 3])
    t.act([['record-observation', { operation: 'tdd-cycle', what: 'implementer skipped error handling on API calls', cost: `cost: ${n} reviews`, tags: ['agent-retro'] }]]) // biome-ignore format: one line
  expect(synthesize(t.memory, t.project).map((e) => e.fields.change)).toEqual([
    'tdd-cycle now requires error handling on API calls before it ends',
  ])
})

test('[P2] what hooks observed counts: the next that is written proposes', async () => {
  const { ran, edited, t } = day()
  lay(t, { 'tests/a.py': '' })
  for (let n = 0; n < 10; n++) {
    await edited(`src/a${n}.py`, `s${n}`)
    await ran('git push', false, '', `s${n}`)
  }
  const { cursor } = t.memory
  t.act([['record-learning', { title: 'x', body: 'y' }]])
  expect(synthesizeIfDue(t.memory, t.project, cursor)).toEqual([
    expect.stringContaining('Proposed: push now requires a test run since the last edit before it ends. Evidence: 10 of 10 push observations'),
  ]) // biome-ignore format: one thought
  expect(synthesizeIfDue(t.memory, t.project, cursor)).toEqual([])
})
