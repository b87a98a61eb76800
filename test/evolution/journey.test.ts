import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, git, inProcess, onTerminal, project, scratch } from '../cli/run.ts'

const SKILL = '.claude/skills/deploy/SKILL.md'
const DEPLOY = `---
name: deploy
---
# Deploy

## Execution steps

1. Build the image
2. Push it to production
3. Announce the release

Never on Fridays.
`

test('[P3] TC-003: three skipped smoke tests become a step of the deploy skill, once a person on a terminal says so', async () => {
  const { at, run } = await project()
  files(at.dir, { [SKILL]: DEPLOY })
  const skill = () => readFileSync(join(at.dir, SKILL), 'utf8')
  for (const cost of ['2 h of debugging', '40 min', '$147'])
    await run('observe', 'deploy', 'skipped the smoke test', '--cost', cost)
  const retro = await run('retro')
  expect(retro).toContain('deploy: 3, cost 2.7 h, $147')
  expect(retro).toContain(
    'M-001 (new) Proposed: deploy now requires the smoke test before "Announce the release". Evidence: 3 of 3 deploy observations, cost 2.7 h, $147: ',
  )
  expect(skill()).toBe(DEPLOY)
  const approved = await onTerminal(at, ['mutation', 'approve', 'M-001'], 'y')
  expect(approved.out).toContain(
    '+3. Required: the smoke test. Go on only when it has passed.\n+4. Announce the release',
  )
  expect(approved.out).toContain(`M-001 is applied to ${SKILL}`)
  const steps = DEPLOY.replace(
    '3. Announce',
    '3. Required: the smoke test. Go on only when it has passed.\n4. Announce',
  )
  expect(skill()).toBe(steps)
  expect(await run('mutation', 'approve', 'M-001')).toBe('M-001 is applied already\n')
  expect(skill()).toBe(steps)
  expect(readFileSync(join(at.dir, '.tidemark/mutations.md'), 'utf8')).toContain('**Status:** Applied')
  expect(readFileSync(join(at.dir, '.tidemark/observations.md'), 'utf8')).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d \| deploy \| \[synthesized M-001\] skipped the smoke test \| cost: 40 min$/m,
  )
  const reverted = await onTerminal(at, ['mutation', 'revert', 'M-001'], 'y')
  expect(reverted.out).toContain('M-001 is reverted')
  expect(skill()).toBe(DEPLOY)
  // nobody is asked for what cannot be
  for (const what of ['approve', 'keep', 'reject']) {
    const { out } = await onTerminal(at, ['mutation', what, 'M-001'], 'y')
    expect(out).toContain('M-001 is reverted, and does not become')
    expect(out).not.toContain('[y/N]')
  }
})

test('[P3] TC-003: the deployments after the step are compared with those before it', async () => {
  const { at, run } = await project()
  files(at.dir, { [SKILL]: DEPLOY })
  const observe = (...args: string[]) => run('observe', 'deploy', ...args)
  for (const cost of ['2 h', '3 h', '90 min', '1 h']) await observe('skipped the smoke test', '--cost', cost)
  await observe('rollout was smooth', '--ok')
  await run('retro')
  await onTerminal(at, ['mutation', 'approve', 'M-001'], 'y')
  await observe('the smoke test passed', '--ok')
  expect(await run('retro')).toContain('too few to say: before 4 of 5, after 0 of 1')
  for (let i = 0; i < 4; i++) await observe('the smoke test found a broken login', '--benefit', '1 h')
  expect(await run('retro')).toContain('improved: before 4 of 5, after 0 of 5')
  expect(readFileSync(join(at.dir, '.tidemark/mutations.md'), 'utf8')).toMatch(/\*\*Outcome:\*\* .*improved/i)
})

test('[P5] [P6] TC-004: a project without specs, tests, branches and CI is adopted as what it is, not as what is asked for', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  for (let n = 1; n <= 15; n++) {
    files(at.dir, { [`src/part${n}.js`]: 'module.exports = 1\n' })
    git(at.dir, 'add', '-A')
    git(at.dir, 'commit', '-qm', `part ${n}`)
  }
  const adopted = await inProcess(at, ['init', '--client', 'none', '--adopt', '--yes'])
  expect(adopted.out).toContain('the level is now poc')
  expect(adopted.out).toContain('no rules load yet: `tidemark rules init` writes some for each level')
  expect((await inProcess(at, ['rules', 'init'])).code).toBe(0)
  expect((await inProcess(at, ['rules'])).out).toContain('3 rules active at poc level.')
  // a person may override, and what was seen stays what it is
  const asked = await onTerminal(at, ['maturity', 'override', 'alpha', '--because', 'a customer pays for it'], 'y')
  expect(asked.out).toContain('alpha')
  expect((await inProcess(at, ['maturity'])).out).toContain('declared alpha, assessed poc')
  expect((await inProcess(at, ['rules'])).out).toContain('6 rules active at alpha level.')
})

test('[P1] [P2] [P3] TC-005: what a reviewer finds three times becomes a step of the implementer', async () => {
  const { at, run } = await project()
  const skill = '.claude/skills/implementer/SKILL.md'
  files(at.dir, { [skill]: '# Implementer\n\n## Checklist\n\n1. Write the code\n2. Run the tests\n' })
  const found = (what: string) => run('observe', 'implementer', what, '--agent-retro', '--cost', 'reviewer rework')
  expect(await found('skipped error handling on external API calls')).toContain(
    '| implementer | [agent-retro] skipped error handling on external API calls | cost: reviewer rework',
  )
  await found('error handling was skipped on the calls of the payment API')
  await found('skipped error handling on calls of an external API again')
  const retro = await run('retro')
  expect(retro).toContain('Proposed: implementer now requires error handling on external API calls before ')
  await onTerminal(at, ['mutation', 'approve', 'M-001'], 'y')
  expect(readFileSync(join(at.dir, skill), 'utf8')).toContain(
    'Required: error handling on external API calls. Go on only when it has passed.',
  )
})

test('[P2] [P3] TC-005: what reviewers find in the work of one agent is a step of that agent, whatever they did it for', async () => {
  const { at, run } = await project()
  const agent = '.claude/agents/implementer.md'
  files(at.dir, { [agent]: '# Implementer\n\n## Steps\n\n1. Write the code\n2. Run the tests\n' })
  for (const what of ['on external API calls', 'of API calls', 'on API calls again'])
    await run('observe', 'tdd-cycle', `implementer skipped error handling ${what}`, '--agent-retro')
  expect(await run('retro')).toContain('Proposed: implementer now requires error handling of API calls before ')
  expect(await run('retro')).not.toContain('M-002')
  await onTerminal(at, ['mutation', 'approve', 'M-001'], 'y')
  expect(readFileSync(join(at.dir, agent), 'utf8')).toContain('Required: error handling of API calls.')
  for (let i = 0; i < 5; i++) await run('observe', 'tdd-cycle', 'the review found nothing', '--ok')
  expect(await run('retro')).toContain('improved: before 3 of 3, after 0 of 5')
})
