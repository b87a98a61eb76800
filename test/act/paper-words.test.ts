import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inProcess, project } from '../cli/run.ts'
import { openTestMemory } from '../helpers.ts'

const SKILL = '---\nname: implementer\n---\n\n## Execution\n\n1. Write the code\n2. Run the tests\n'

test('[A5] the papers’ own field names are taken, with a note', () => {
  const m = openTestMemory()
  const { notes, results } = m.act([
    [
      'record-decision',
      { name: 'use-dedicated-mcp-server', options_considered: ['Skills-based'], revisit_trigger: 'more tools' },
    ],
    ['record-correction', { wrong_belief: 'Users live in users.py', right_belief: 'Users live in auth/accounts.py' }],
    ['start-goal', { original_ask: 'Add OAuth login' }],
    ['record-exception', { rule_broken: 'every change has a test', justification: 'generated code' }],
    ['record-project-fact', { fact: 'always run the linter', context: 'since the review' }],
    ['record-observation', { type: 'deploy', content: 'the queue was full', severity: 'low' }],
    ['record-action', { content: 'Implemented the JWT middleware' }],
    ['start-goal', { original_ask: 'Add SAML login', high_level_plan: 'provider, session' }],
  ])
  const fields = (i: number) => m.memory.reader.entity(results[i]!.id)!.fields
  expect(fields(0)).toMatchObject({ optionsConsidered: ['Skills-based'], revisitTrigger: 'more tools' })
  expect(fields(1)).toMatchObject({ wrongBelief: 'Users live in users.py' })
  expect(fields(2).originalAsk).toBe('Add OAuth login')
  expect(fields(3).ruleBroken).toBe('every change has a test')
  expect(fields(4).fact).toBe('always run the linter')
  expect(fields(5)).toMatchObject({ operation: 'deploy', what: 'the queue was full', severity: 'low' })
  expect(fields(6).text).toBe('Implemented the JWT middleware')
  expect(fields(7).plan).toBe('provider, session')
  expect(notes).toContain('record-decision: options_considered was taken as optionsConsidered')
})

test('[P1] [agent-retro] as the papers write it counts against the agent, and its mutation has the file', async () => {
  const { at, run } = await project()
  mkdirSync(join(at.dir, '.claude/skills/implementer'), { recursive: true })
  writeFileSync(join(at.dir, '.claude/skills/implementer/SKILL.md'), SKILL)
  const what = '[agent-retro] implementer skipped error handling on API calls'
  for (let n = 0; n < 3; n++)
    await run(
      'act',
      JSON.stringify([['record-observation', { operation: 'tdd-cycle', what, cost: 'cost: reviewer rework' }]]),
    )
  await run('observe', 'tdd-cycle', what)
  const [first] = JSON.parse(await run('list', 'observation', '--json')) as { what: string; tags: string[] }[]
  expect(first).toMatchObject({ what: 'implementer skipped error handling on API calls', tags: ['agent-retro'] })
  await run('retro')
  const [proposed] = JSON.parse(await run('mutation', 'list', '--json')) as { target: string }[]
  expect(proposed!.target).toContain('implementer/SKILL.md')
})

test('[P2] a mutation that somebody records is there at once, with its number', async () => {
  const { run } = await project()
  const done = await run(
    'act',
    '[["record-mutation", {"change": "deploy runs the smoke test first", "skill": "deploy"}]]',
  )
  expect(done).toContain('`tidemark mutation show M-001`')
  expect(await run('mutation', 'list')).toContain('M-001  proposed  deploy runs the smoke test first')
})

test('[P3] a file’s understanding is checked: a path that is not there is told', async () => {
  const { at, run } = await project()
  writeFileSync(join(at.dir, 'there.ts'), 'export const a = 1\n')
  const about = (path: string) => run('act', JSON.stringify([['record-file-understanding', { path, summary: 's' }]]))
  expect(await about('plexus/src/PlexusModel.ts')).toContain('note: there is no file plexus/src/PlexusModel.ts')
  expect(await about('there.ts')).not.toContain('note: there is no file')
  expect((await inProcess(at, ['show', 'plexus/src/PlexusModel.ts'])).code).toBe(0)
  const decided = JSON.stringify([['record-decision', { name: 'x', locations: ['there.ts#a', 'gone/blog.py#index'] }]])
  expect((await run('act', decided)).match(/there is no file \S+/g)).toEqual(['there is no file gone/blog.py'])
  const symbol = JSON.stringify([['record-decision', { name: 'y', locations: ['there.ts:a'] }]])
  expect(await run('act', symbol)).toMatch(/there is no file there\.ts:a in \S+; a symbol is written there\.ts#a\n/)
})
