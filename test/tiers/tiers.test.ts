import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FENCE_BEGIN } from '../../src/session/briefing/fence.ts'
import { agreeing, files, git, inProcess, onTerminal, project, scratch } from '../cli/run.ts'

type At = Parameters<typeof inProcess>[0]

/** Another project of the same user. */
async function second({ dir, env }: At): Promise<At> {
  const at = { dir: join(dir, '..', 'second'), env }
  files(at.dir, { 'README.md': 'second\n' })
  git(at.dir, 'init', '-q')
  await inProcess(at, ['init', '--yes', '--no-import', '--client', 'none'])
  return at
}

const library = ({ env }: At): string => join(String(env.HOME), '.local/state/tidemark/library')
const asAgent = (at: At): At => ({ ...at, env: { ...at.env, CLAUDECODE: '1' } })
const recall = async (at: At, ...words: string[]) => (await inProcess(at, ['recall', ...words, '--sexp'])).out

/** What a session of Claude is told as it begins: what binds, and what is data. */
async function start({ dir, env }: At): Promise<[binding: string, data: string]> {
  const given = { session_id: `s${Math.random()}`, source: 'startup', cwd: dir }
  const { out } = await inProcess({ dir, env: { ...env, TIDEMARK_HOOK_MS: '15000' } }, ['hook', 'claude', 'SessionStart'], JSON.stringify(given)) // biome-ignore format: one call
  const [binding = '', data = ''] = (JSON.parse(out).hookSpecificOutput.additionalContext as string).split(FENCE_BEGIN)
  return [binding, data]
}

test('[P8] nothing leaves a project without promotion: an agent proposes, a person on a terminal agrees', async () => {
  const { at, run } = await project()
  await agreeing(at, 'remember', 'Always use pnpm for installs')
  const other = await second(at)
  const asked = await inProcess(asAgent(at), ['tiers', 'promote', 'fact:always-use-pnpm-for-installs'])
  expect(asked.out).toContain('nothing has left this project')
  expect(existsSync(library(at))).toBe(false)
  expect(await run('tiers')).toContain('waits    fact:always-use-pnpm-for-installs, proposed by an agent')
  expect(await recall(other, 'installs')).toContain('nothing is known')
  const no = await onTerminal(at, ['tiers', 'promote', 'fact:always-use-pnpm-for-installs'], 'n')
  expect(no.out).toContain('nothing was promoted')
  expect(existsSync(library(at))).toBe(false)
  const yes = await onTerminal(at, ['tiers', 'promote', 'fact:always-use-pnpm-for-installs'], 'y')
  expect(yes.out).toContain('said by tester on ')
  expect(yes.out).toContain('fact:always-use-pnpm-for-installs is in your library')
  expect(await run('tiers')).not.toContain('waits')
  expect(statSync(library(at)).mode & 0o077).toBe(0)
  expect(readFileSync(join(library(at), 'profile.md'), 'utf8')).toContain('Always use pnpm for installs')
  const told = await inProcess(at, ['show', 'fact:always-use-pnpm-for-installs', '--json', '--project', library(at)])
  expect(told.out).toMatch(/promoted from project \([a-z0-9]+\), said by tester on \d{4}-/)
  // it is no project of the user's
  expect(readdirSync(join(library(at), '../projects'))).toHaveLength(2)
})

test('[P8] a rule of the library binds elsewhere, and what the project says wins over it and shows it as overridden', async () => {
  const { at, run } = await project()
  await agreeing(at, 'remember', 'Always use pnpm for installs')
  await run('act', JSON.stringify([['record-decision', { name: 'Prices in cents', rationale: 'floats lose a cent' }]]))
  for (const ref of ['fact:always-use-pnpm-for-installs', 'decision:prices-in-cents'])
    await onTerminal(at, ['tiers', 'promote', ref], 'y')
  // what the project says itself is not said twice
  expect(await recall(at, 'installs')).not.toContain('tier')
  expect((await start(at)).join('')).not.toContain('library')
  const other = await second(at)
  expect(await recall(other, 'installs')).toContain(
    '"Always use pnpm for installs" :category constraint) #| user tier: your library |#',
  )
  const [binding, data] = await start(other)
  expect(binding).toContain('- Always use pnpm for installs')
  expect(data).toContain('decision:prices-in-cents: Prices in cents (user tier: your library)')
  await agreeing(other, 'remember', 'Always use npm for installs')
  const found = (await recall(other, 'installs')).split('\n')
  expect(found[0]).toContain('Always use npm')
  expect(found[1]).toContain('user tier: your library; overridden here by fact:always-use-npm-for-installs |#')
  const [binds, informs] = await start(other)
  expect(binds).not.toContain('pnpm')
  expect(informs).toContain(
    'Always use pnpm for installs (user tier: your library; overridden here by fact:always-use-npm',
  )
  expect((await inProcess(other, ['tiers'])).out).toMatch(/user +2 entries .*; 2 told to sessions here/)
  const json = JSON.parse((await inProcess(other, ['recall', 'installs', '--json'])).out)
  expect(json.results[1]).toMatchObject({ tier: 'user', overriddenBy: 'fact:always-use-npm-for-installs' })
})

test('[P8] rules of one tier do not override each other', async () => {
  const { at } = await project()
  await agreeing(at, 'remember', 'Always use pnpm for installs')
  await onTerminal(at, ['tiers', 'promote', 'fact:always-use-pnpm-for-installs'], 'y')
  const asked = await onTerminal(at, ['remember', 'Always use npm for installs', '--project', library(at)], 'n')
  expect(asked.code, asked.out).toBe(0)
  const [binding, data] = await start(await second(at))
  expect(binding).toContain('- Always use pnpm for installs')
  expect(binding).toContain('- Always use npm for installs')
  expect(data).not.toContain('overridden')
})

test('[P8] what the project says differently under the same name, or has put away, overrides the library', async () => {
  const { at, run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  await act(
    ['record-decision', { name: 'Queue', rationale: 'bursts' }],
    ['record-decision', { name: 'Cache', rationale: 'reads' }],
  )
  for (const ref of ['decision:queue', 'decision:cache']) await onTerminal(at, ['tiers', 'promote', ref], 'y')
  await act(['record-decision', { name: 'Queue', rationale: 'retries' }])
  await run('retire', 'decision:cache')
  const [, data] = await start(at)
  expect(data).toContain('decision:queue: Queue (user tier: your library; overridden here by decision:queue)')
  expect(data).toContain('decision:cache: Cache (user tier: your library; overridden here by decision:cache)')
})

test('[P8] [M6] what nobody stands by waits for a yes in the library too; what is of one project stays', async () => {
  const { at, run } = await project()
  await run(
    'act',
    JSON.stringify([
      ['propose', { action: ['record-fact', { fact: 'Never deploy on Fridays' }] }],
      ['start-goal', { originalAsk: 'Ship' }],
    ]),
  )
  const shown = await onTerminal(at, ['tiers', 'promote', 'fact:never-deploy-on-fridays'], 'y')
  expect(shown.out).toContain('unverified: nobody here has confirmed it')
  const other = await second(at)
  expect((await start(other)).join('')).not.toContain('Fridays')
  expect((await inProcess(other, ['tiers'])).out).toContain('1 to confirm there')
  await agreeing(at, 'confirm', 'fact:never-deploy-on-fridays', '--project', library(at))
  expect((await start(other))[0]).toContain('Never deploy on Fridays')
  const goal = await inProcess(at, ['tiers', 'promote', 'goal:ship'])
  expect([goal.code, goal.err]).toEqual([1, expect.stringContaining('a goal is of one project')])
})

test('[P8] what others shared and nobody here has confirmed is told as of the team, and overrides nothing', async () => {
  const { dir, env } = scratch()
  const ana = { dir, env }
  const ben = { dir: join(dir, '..', 'ben'), env: { ...env, TIDEMARK_STATE: join(dir, '..', 'bens') } }
  git(dir, 'init', '-q')
  await inProcess(ana, ['init', '--yes', '--no-import', '--client', 'none'])
  await inProcess(ana, ['act', JSON.stringify([['record-fact', { fact: 'Always use yarn for installs' }]])])
  await agreeing(ana, 'confirm', 'fact:always-use-yarn-for-installs')
  await inProcess(ana, ['sync'])
  git(dir, 'add', '.')
  git(dir, 'commit', '-qm', 'all')
  git(dir, 'clone', '-q', dir, ben.dir)
  expect(await recall(ben, 'installs')).toContain('#| team |#')
  expect((await inProcess(ben, ['tiers'])).out).toMatch(/team +1 entry/)
  await agreeing(ben, 'remember', 'Always lint before a commit')
  await onTerminal(ben, ['tiers', 'promote', 'fact:always-lint-before-a-commit'], 'y')
  await inProcess(ben, ['act', JSON.stringify([['record-fact', { fact: 'Always use pnpm for installs' }]]), '--project', join(dir, '..', 'bens/library')]) // biome-ignore format: one call
  await agreeing(ben, 'confirm', 'fact:always-use-pnpm-for-installs', '--project', join(dir, '..', 'bens/library'))
  const [binding] = await start(ben)
  expect(binding).toContain('- Always use pnpm for installs')
  expect(binding).not.toContain('yarn')
})
