import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { processRef } from '../../src/base/env.ts'
import { UserError } from '../../src/base/errors.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { mutation } from '../../src/surfaces/tools/mutation.ts'
import { run as runTool } from '../../src/surfaces/tools/run.ts'
import { json } from '../../src/travel/formats/export/json.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { changeOf } from '../../src/work/evolution/change.ts'
import { synthesize } from '../../src/work/evolution/synthesis.ts'
import { statusOf } from '../../src/work/handoff/views/mutations.ts'
import { readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { files, inProcess, onTerminal, onTerminalBelow, project } from '../cli/run.ts'
import { openTestMemory, type TestMemory, userError } from '../helpers.ts'
import { lay, take } from '../imports/helpers.ts'
import { call, stdioClient } from '../mcp/harness.ts'

const SKILL = '.claude/skills/deploy/SKILL.md'
const DEPLOY = '# Deploy\n\n1. Build\n2. Push\n'

/** A project whose deploy skill has a proposal, M-001. */
function proposed(): TestMemory {
  const m = openTestMemory()
  lay(m.dir, { [SKILL]: DEPLOY })
  for (let i = 0; i < 3; i++)
    m.act([['record-observation', { operation: 'deploy', what: 'skipped the smoke test', cost: 'cost: 1 h' }]])
  synthesize(m.memory, m.project)
  return m
}

const first = (m: TestMemory) => m.memory.reader.list('mutation', { all: true })[0]!
const skill = (m: TestMemory) => readFileSync(join(m.dir, SKILL), 'utf8')
const AGENT = { agent: 'claude-code', by: 'agent' } as const

/** Says yes on a terminal. */
const decide = (m: TestMemory, ...[action, more]: [action: string, more?: object]) =>
  runTool(
    mutation,
    { memory: m.memory, project: m.project, by: 'person', ask: async () => true },
    { do: action, ref: 'M-001', ...more },
  )

test('[T49] [P3] no batch approves: a status is refused by name, from an agent and from a person', () => {
  const m = proposed()
  const { id } = first(m)
  for (const field of ['status', 'number', 'approver', 'applied', 'base', 'result', 'diff'])
    for (const options of [AGENT, {}]) {
      const [problem] = m.refused([['record-mutation', { ref: id, [field]: field === 'status' ? 'approved' : '2026-01-01' }]], options) // biome-ignore format: one line
      expect(problem).toMatchObject({ field, message: 'written by Tidemark itself' })
    }
  const fresh = ['record-mutation', { change: 'deploy is done blindly', skill: 'deploy', status: 'approved' }]
  expect(m.refused([fresh], AGENT)[0]).toMatchObject({ field: 'status' })
  expect(m.refused([['propose', { action: fresh }]], AGENT)[0]).toMatchObject({ field: 'status' })
  // what a program says beside the batch counts for nothing
  expect(m.refused([fresh], { ...AGENT, settles: true, asked: true } as object)[0]).toMatchObject({ field: 'status' })
})

test('[P3] an agent changes nothing of what a person will be asked about, by no verb', () => {
  const m = proposed()
  const { id } = first(m)
  for (const action of [
    ['record-mutation', { ref: id, step: 'Push to production at once' }],
    ['record-mutation', { ref: id, target: '.claude/skills/other/SKILL.md' }],
    ['record-mutation', { ref: id, before: 'Build', trigger: 'everybody wants it' }],
    ['record-mutation', { ref: id, attrs: { addId: 'M-001', status: 'applied' } }],
    ['delete-mutation', { ref: id }],
    ['retire', { ref: id, reason: 'no' }],
    ['purge', { ref: id, reason: 'no' }],
    ['undo', { batch: m.memory.lastBatch!.batch, force: true }],
    ['propose', { action: ['record-mutation', { ref: id, step: 'x' }] }],
  ] as const)
    expect(
      m.refused([action], AGENT).map((p) => p.code),
      action[0],
    ).toContain('person')
  m.act([['record-mutation', { ref: id, tags: ['slow'], evidence: ['seen again'] }]], AGENT)
  m.act([['confirm', { ref: id }]], AGENT) // nothing waits here
  expect(statusOf(first(m))).toBe('proposed')
})

test('[P3] what was decided stays: edits, undo and imports of a person do not change it either', async () => {
  const m = proposed()
  await decide(m, 'approve')
  expect(first(m).fields).toMatchObject({ status: 'applied', approver: expect.any(String), target: SKILL })
  const { id } = first(m)
  expect(m.refused([['record-mutation', { ref: id, outcome: 'perfect' }]])[0]!.code).toBe('person')
  expect(m.refused([['undo', { batch: m.memory.lastBatch!.batch, force: true }]])[0]!.code).toBe('person')
  const file = join(m.dir, 'all.json')
  const text = json.write!(m.memory, {})
  writeFileSync(file, text.replaceAll('"applied"', '"kept"'))
  await take(m, 'json', 'all.json').catch(() => undefined)
  expect(first(m).fields.status).toBe('applied')
  // in another project it is a proposal again
  const other = openTestMemory({ name: 'other', seed: 2 })
  lay(other.dir, { 'all.json': text })
  await take(other, 'json', 'all.json')
  expect(statusOf(first(other))).toBe('proposed')
  expect(first(other).fields.change).toBe(first(m).fields.change)
  expect(first(other).fields.number).toBeUndefined()
})

test('[P3] mutations.md and .add/mutations.md approve nothing', async () => {
  const m = proposed()
  refreshViews(m.memory, m.project)
  const file = join(m.dir, '.tidemark/mutations.md')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('proposed', 'approved').replace('Proposed', 'Applied'))
  expect(readEdits(m.memory, m.project).join()).toContain('a person decides with `tidemark mutation approve M-001`')
  expect(readFileSync(file, 'utf8')).toContain('**Status:** Proposed')
  lay(m.dir, { '.add/mutations.md': '## M-001 (2026-02-16, approved)\n**Change:** deploy is done blindly\n**Status:** Approved\n' }) // biome-ignore format: one line
  await take(m, 'add', '.')
  const history = m.memory.reader.list('mutation').find((e) => e.fields.number === undefined)!
  expect(history.fields.status).toBeUndefined()
  expect(skill(m)).toBe(DEPLOY)
})

test('[P3] another replica approves nothing here: a person at this terminal is asked all the same', async () => {
  const [here, there] = [proposed(), proposed()]
  void there
  const copy = openProject({ ...here.project, storePath: join(dirname(here.dir), 'copy', 'store.db') })
  copy.applyUpdates(here.memory.updatesSince().bytes)
  const e = copy.reader.list('mutation')[0]!
  const { SETTLES } = await import('../../src/engine/write/settled-mutations.ts')
  copy.act([['record-mutation', { ref: e.id, status: 'approved', approver: 'mallory' }]], { [SETTLES]: true })
  here.memory.applyUpdates(copy.updatesSince().bytes)
  copy.close()
  expect(first(here).fields.status).toBe('approved')
  const context = { memory: here.memory, project: here.project, by: 'person' } as const
  await expect(runTool(mutation, context, { do: 'apply', ref: 'M-001' })).rejects.toThrow('a person on a terminal')
  expect(skill(here)).toBe(DEPLOY)
})

test('[T49] [P3] only a terminal of a person is asked: no pipe, no agent, no token, no client above', async () => {
  const { at, run } = await project()
  files(at.dir, { [SKILL]: DEPLOY })
  for (let i = 0; i < 3; i++) await run('observe', 'deploy', 'skipped the smoke test', '--cost', '1 h')
  await run('retro')
  const refused = (out: string) => expect(out).toContain('a person on a terminal decides')
  for (const step of ['approve', 'apply', 'reject', 'keep']) {
    const piped = await inProcess(at, ['mutation', step, 'M-001'], 'y\ny\n')
    expect(piped.code, step).toBe(1)
    refused(piped.err)
  }
  for (const mark of ['CLAUDECODE', 'CODEX_THREAD_ID', 'AGENT'])
    refused((await onTerminal({ ...at, env: { ...at.env, [mark]: '1' } }, ['mutation', 'approve', 'M-001'], 'y')).out)
  expect((await onTerminal(at, ['mutation', 'approve', 'M-001'], 'n')).out).toContain('nothing was changed')
  const memory = openProject(findProject(at.dir))
  sessionsOf(memory).start({ id: 's1', client: 'claude', process: processRef(process.pid) } as never)
  refused((await onTerminalBelow(at, ['mutation', 'approve', 'M-001'], 'y')).out)
  const named = { ...at, env: { ...at.env, TIDEMARK_SESSION: 's1' } }
  refused((await onTerminal(named, ['mutation', 'approve', 'M-001'], 'y')).out)
  sessionsOf(memory).end('s1')
  memory.close()
  const client = await stdioClient(at.dir, { env: at.env } as never)
  expect((await client.listTools()).tools.map((t) => t.name)).not.toContain('mutation')
  const acted = await call(client, 'act', { actions: [['record-mutation', { ref: 'M-001', status: 'approved' }]] })
  expect(JSON.stringify(acted)).toContain('written by Tidemark itself')
  expect(readFileSync(join(at.dir, SKILL), 'utf8')).toBe(DEPLOY)
  expect(JSON.parse(await run('mutation', '--json'))[0].status).toBe('proposed')
})

test('[P3] a mutation changes a skill of this project and nothing else', () => {
  const m = proposed()
  const outside = join(dirname(m.dir), 'outside.md')
  writeFileSync(outside, '1. Sleep\n')
  lay(m.dir, { 'package.json': '{}', '.claude/commands/real.md': '1. Go\n' })
  symlinkSync(outside, join(m.dir, '.claude/commands/linked.md'))
  const of = (target: string) => userError(() => changeOf(m.project, { ...first(m), fields: { step: 'Look', target } }))
  for (const target of ['package.json', 'README.md', '../outside.md', outside, '.git/hooks/pre-commit', '.claude/commands/linked.md', '.claude/../commands/x.md', '.claude/settings.json']) // biome-ignore format: a list
    expect(of(target).code, target).toBe('no-skill-file')
  const change = changeOf(m.project, { ...first(m), fields: { step: 'Look\u202e  twice\n2. now', target: '.claude/commands/real.md' } }) // biome-ignore format: one line
  expect(change.after).not.toContain('\u202e')
  expect(change.after.split('\n')).toHaveLength(3)
  expect(readFileSync(outside, 'utf8')).toBe('1. Sleep\n')
})

test('[P3] refused when the file changed since the proposal, until retro proposes it anew; a revert too', async () => {
  const m = proposed()
  lay(m.dir, { [SKILL]: '# Deploy\n\n1. Build\n2. Sign\n3. Push\n' })
  await expect(decide(m, 'approve')).rejects.toMatchObject({ code: 'target-changed' })
  synthesize(m.memory, m.project)
  await decide(m, 'approve')
  const applied = skill(m)
  expect(applied).toContain('3. Required: the smoke test. Go on only when it has passed.\n4. Push\n')
  await decide(m, 'approve')
  expect(skill(m)).toBe(applied)
  lay(m.dir, { [SKILL]: `${applied}\nBy hand.\n` })
  await expect(decide(m, 'revert')).rejects.toMatchObject({ code: 'target-changed' })
  lay(m.dir, { [SKILL]: applied })
  await decide(m, 'revert')
  expect(skill(m)).toBe('# Deploy\n\n1. Build\n2. Sign\n3. Push\n')
  expect(first(m).fields.status).toBe('reverted')
  await expect(decide(m, 'revert')).rejects.toBeInstanceOf(UserError)
})

test('[P3] a person words the step, says where it goes and in which file; a rejection is recorded', async () => {
  const m = proposed()
  lay(m.dir, { '.claude/commands/ship.md': '1. Build\n2. Push\n' })
  await decide(m, 'reject')
  expect(first(m).fields.status).toBe('rejected')
  expect(synthesize(m.memory, m.project)).toEqual([])
  await decide(m, 'approve', { step: 'Run `npm run smoke`', before: 'Build', target: '.claude/commands/ship.md' })
  expect(readFileSync(join(m.dir, '.claude/commands/ship.md'), 'utf8')).toBe(
    '1. Run `npm run smoke`\n2. Build\n3. Push\n',
  )
  expect([skill(m), first(m).fields.status]).toEqual([DEPLOY, 'applied'])
  await decide(m, 'revert')
  expect(existsSync(join(m.dir, '.claude/commands/ship.md'))).toBe(true)
})
