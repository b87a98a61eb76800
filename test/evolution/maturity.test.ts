import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runsTests } from '../../src/model/commands.ts'
import { ciOf } from '../../src/work/evolution/assess/ci.ts'
import { runs } from '../../src/work/evolution/assess/commands.ts'
import { assess } from '../../src/work/evolution/maturity.ts'
import { files, git, inProcess, onTerminal, project, scratch } from '../cli/run.ts'

const README = 'How it is run, tested and released is told here. '.repeat(20)
const WORKFLOW = `on:
  pull_request:
jobs:
  test:
    steps:
      - run: npm run lint
      - name: Tests
        run: npm test
`

/** So many commits, each with what a function says. */
function history(
  dir: string,
  commits: number,
  change: (n: number) => Readonly<Record<string, string>>,
  request = (n: number) => ` (#${n})`,
): void {
  if (!existsSync(join(dir, '.git'))) git(dir, 'init', '-q')
  for (let n = 1; n <= commits; n++) {
    files(dir, change(n))
    git(dir, 'add', '-A')
    git(dir, 'commit', '-qm', `Count the ${n}th ship in the harbour${request(n)}`)
  }
}

/** A project that is worked on with tests, a CI that gates, and pull requests. */
const wellRun = (dir: string): void =>
  history(dir, 12, (n) => ({
    'README.md': README,
    'CHANGELOG.md': `${n}`,
    'package.json': '{"scripts": {"test": "vitest run", "lint": "eslint ."}}',
    '.github/workflows/ci.yml': WORKFLOW,
    [`docs/page${n}.md`]: 'a page',
    [`src/ship${n}.ts`]: 'export const ship = 1\n'.repeat(4),
    [`test/ship${n}.test.ts`]: "test('it floats', () => expect(ship).toBe(1))\n".repeat(3),
  }))

test('[P6] no review and no CI that starts by itself is no beta, whatever a script would run', async () => {
  const { at } = await project()
  const change = (n: number) => ({
    'README.md': README,
    'CHANGELOG.md': `${n}`,
    'package.json': '{"scripts": {"test": "vitest run", "lint": "eslint ."}}',
    'ci/run': '#!/bin/sh\nnpm run lint\nnpm test\n',
    [`docs/page${n}.md`]: 'a page',
    [`src/ship${n}.ts`]: 'export const ship = 1\n'.repeat(4),
    [`test/ship${n}.test.ts`]: "test('it floats', () => expect(ship).toBe(1))\n".repeat(3),
  })
  history(at.dir, 12, change, () => '')
  const { level, gap } = await assess(at.dir)
  expect(level).toBe('alpha')
  expect(gap!.steps[0]).toEqual({ dimension: 'ci', must: true, step: 'let a CI that starts by itself run the tests' })
})

const configOf = (dir: string) => JSON.parse(readFileSync(join(dir, '.tidemark/config.json'), 'utf8'))

test('[P6] without specs and tests a project is a poc, whatever it claims and however often it was committed', async () => {
  const at = scratch()
  history(at.dir, 40, (n) => ({
    'README.md': `# Beta, 95 % coverage ![coverage 95 %](badge.svg)\n${README}`,
    '.add/config.json': '{"maturity": {"level": "beta"}}',
    'CHANGELOG.md': `${n}`,
    '.github/workflows/tests.yml':
      'on: pull_request\njobs:\n  test:\n    steps:\n      - name: npm test\n        run: echo "npm test"\n',
    'tests/empty.test.ts': '// later\n',
    'specs/empty.md': '# Later\n',
    [`src/a${n}.ts`]: 'export const a = 1\n',
  }))
  const done = await inProcess(at, ['init', '--client', 'none', '--adopt', '--yes'])
  expect(done.out).toContain('the level is now poc: 0 specs')
  expect(done.out).toContain('.add/config.json says beta; what it says is not looked at')
  expect(done.out).toContain('must tests     test the critical path')
  expect(configOf(at.dir).maturity).toMatchObject({ level: 'poc', assessed: 'poc' })
  expect((await assess(at.dir)).dimensions.find((d) => d.name === 'ci')!.evidence).toBe('1 file: runs no tests')
})

test('[P6] tests, a CI that gates and pull requests show as beta; the report names evidence and next steps in 25 lines', async () => {
  const { at, run } = await project()
  wellRun(at.dir)
  const text = await run('maturity')
  expect(text).toContain('assessed beta; no level is set')
  expect(text).toMatch(
    /tests {4}\s*\d+ {2}12 test files for 12 of source, 0\.75 lines a line; 100 % of 12 source changes with tests/,
  )
  expect(text).toContain('1 file: runs tests, checks style or types, before a merge')
  expect(text).toContain('to ga (')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
  // tests without a habit, and a CI whose failures nobody hears, are less
  files(at.dir, { '.github/workflows/ci.yml': WORKFLOW.replace('npm test', 'npm test || true') })
  const steps = (await assess(at.dir)).gap!.steps.map((s) => s.step)
  expect(steps).toContain('no merge without a passing CI')
})

test('[P6] an empty directory is a poc, and what is missing fits on a page', async () => {
  const { run } = await project()
  const text = await run('maturity')
  expect(text).toContain('assessed poc')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
})

test('[P6] promotion needs the evidence and the yes of a person on a terminal', async () => {
  const { at, run } = await project()
  await run('maturity', 'adopt')
  const promote = () => inProcess(at, ['maturity', 'promote'])
  expect(await promote()).toMatchObject({
    code: 1,
    err: expect.stringContaining('the repository shows poc, not alpha'),
  })
  wellRun(at.dir)
  expect(await run('maturity', 'adopt')).toContain(
    'declared poc, assessed beta; `tidemark maturity promote` goes up to alpha',
  )
  expect((await promote()).err).toContain('a person on a terminal decides')
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  expect((await onTerminal(agent, ['maturity', 'promote'], 'y')).out).toContain('a person on a terminal decides')
  expect((await onTerminal(at, ['maturity', 'promote'], 'n')).out).toContain('nothing was changed')
  expect(configOf(at.dir).maturity.level).toBe('poc')
  expect((await onTerminal(at, ['maturity', 'promote'], 'y')).out).toContain('declared alpha, assessed beta')
  expect(configOf(at.dir).maturity).toMatchObject({ level: 'alpha', assessed: 'beta' })
  expect(await run('list', 'decision')).toContain('maturity level alpha')
  await run('goal', 'start', 'Count the ships', '--session', 's1')
  expect(await run('goal', 'complete', '--session', 's1')).toContain(
    'the repository shows beta, declared is alpha: tidemark maturity promote',
  )
})

test('[P6] an override needs a reason, is recorded, and leaves the assessment as it is', async () => {
  const { at, run } = await project()
  const override = ['maturity', 'override', 'beta']
  expect((await inProcess(at, override)).code).toBe(2)
  const reason = [...override, '--because', 'the customer demo runs on it']
  expect((await inProcess(at, reason)).err).toContain('a person on a terminal decides')
  expect((await onTerminal(at, reason, 'y')).out).toContain('declared beta, assessed poc')
  expect(configOf(at.dir)).toMatchObject({
    id: expect.any(String),
    maturity: { level: 'beta', assessed: 'poc', because: 'the customer demo runs on it' },
  })
  expect(await run('maturity')).toContain('declared beta, assessed poc (override: the customer demo runs on it)')
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  expect((await inProcess(agent, ['maturity', 'adopt'])).err).toContain('a person on a terminal decides')
  expect((await onTerminal(at, ['maturity', 'adopt'], 'y')).out).toContain('the level is now poc')
})

test('[P6] what the configuration of a foreign repository would start is not started', async () => {
  const { at, run } = await project()
  wellRun(at.dir)
  const proof = join(at.home, 'started')
  const script = join(at.home, 'evil.sh')
  files(at.home, { 'evil.sh': `#!/bin/sh\ntouch ${proof}\n` })
  chmodSync(script, 0o755)
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'diff.external',
    'diff.x.command',
    'diff.x.textconv',
    'gpg.program',
    'core.sshCommand',
  ])
    git(at.dir, 'config', key, script)
  git(at.dir, 'config', 'log.showSignature', 'true')
  files(at.dir, { '.git/info/attributes': '* diff=x\n' })
  expect(await run('maturity')).toContain('assessed beta')
  expect(existsSync(proof)).toBe(false)
})

test.each([
  ['npm test', true],
  ['npm ci && npm run unit', true],
  ['echo npm test', false],
  ['pip install pytest', false],
  ['npm run build', false],
  ['npm run itest --if-present', false],
  ['./mvnw -B verify', true],
  ['mvn package -DskipTests', false],
  ['uv run --locked tox run', true],
  ['go test ./...', true],
  ['cargo test --all', true],
  ['make check', true],
  ['test -f x', false],
  ['./scripts/run-tests.sh', true],
])('whether a CI line runs tests: %s', (line, expected) => {
  const text = () => '{"scripts": {"test": "node --test", "unit": "c8 borp", "build": "tsc"}}'
  expect(runs({ text }, line, runsTests)).toBe(expected)
})

const JOB =
  'jobs:\n  test:\n    runs-on: x\n    steps:\n      - uses: a/checkout@v4\n      - name: Tests\n        run: |\n          cd app\n          npx vitest run\n'

test.each([
  ['a pull request', '.github/workflows/a.yml', `on: [push, pull_request]\n${JOB}`, true, true],
  ['every push', '.github/workflows/a.yml', `on: push\n${JOB}`, true, true],
  ['a push to main alone', '.github/workflows/a.yml', `on:\n  push:\n    branches: [main]\n${JOB}`, true, false],
  ['a button', '.github/workflows/a.yml', `on: workflow_dispatch\n${JOB}`, false, false],
  [
    'a step that may fail',
    '.github/workflows/a.yml',
    `on: pull_request\n${JOB}        continue-on-error: true\n`,
    true,
    false,
  ],
  [
    'another step that may fail',
    '.github/workflows/a.yml',
    `on: pull_request\n${JOB}      - run: upload\n        continue-on-error: true\n`,
    true,
    true,
  ],
  [
    'a job that may fail',
    '.github/workflows/a.yml',
    `on: pull_request\n${JOB.replace('runs-on: x', 'continue-on-error: true')}`,
    true,
    false,
  ],
  [
    'a job that never runs',
    '.github/workflows/a.yml',
    `on: pull_request\n${JOB.replace('runs-on: x', 'if: false')}`,
    false,
    false,
  ],
  [
    'a comment',
    '.github/workflows/a.yml',
    'on: pull_request\njobs:\n  a:\n    steps:\n      - run: make\n      # - run: npx vitest\n',
    false,
    false,
  ],
  [
    'GitLab',
    '.gitlab-ci.yml',
    'lint:\n  script:\n    - make lint\n  allow_failure: true\ntest:\n  script:\n    - make test\n',
    true,
    true,
  ],
  [
    'GitLab, allowed to fail',
    '.gitlab-ci.yml',
    'test:\n  script:\n    - make test\n  allow_failure: true\n',
    true,
    false,
  ],
  ['Jenkins', 'Jenkinsfile', "stage('x') {\n  sh 'mvn verify'\n}\n", true, true],
  ['a script that a CI is told to run', '.ci/run', '#!/bin/sh\nset -e\nmake lint\nCI=1 make test\n', true, false],
  ['a script that runs none', 'scripts/ci.sh', '#!/bin/sh\necho "make test"\n', false, false],
])('[P6] whether a CI runs tests and gates: %s', (_, path, text, runs, gates) => {
  const look = ciOf({ paths: [path], text: (p) => (p === path ? text : '') })
  expect([look.tests, look.gates]).toEqual([runs, gates])
})

test('[P6] the evidence says what a score stands on: no specs but documents and tests that come with the code, a CI whose start shows nowhere', async () => {
  const at = scratch()
  wellRun(at.dir)
  git(at.dir, 'rm', '-rq', '.github')
  files(at.dir, { '.ci/run': '#!/bin/sh\nnpm run lint\nnpm test\n' })
  git(at.dir, 'add', '-A')
  git(at.dir, 'commit', '-qm', 'Run it by a script')
  const { dimensions } = await assess(at.dir)
  const of = (name: string) => dimensions.find((d) => d.name === name)!
  expect(of('specs')).toEqual({
    ...{ name: 'specs', score: 100 },
    evidence:
      '0 specs, 0 decision records; of source changes 100 % change documents, 100 % come with tests; documents that are kept up and tests that come with the code count in their place',
  })
  expect(of('ci')).toMatchObject({
    score: 50,
    evidence: '1 file: runs tests, checks style or types; what starts it shows nowhere',
  })
})

test('[P6] a CI file that is made to cost time costs none', () => {
  const text = `on: push\n${'continue-on-error: true\n'.repeat(9_000)}${'- run: npm test || true\n'.repeat(9_000)}`
  const started = process.cpuUsage()
  ciOf({ paths: ['.github/workflows/a.yml'], text: () => text })
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000)
})

test('[P6] when a goal is completed the repository is looked at: what it has reached is told, and promoted by nobody', async () => {
  const { at, run } = await project()
  await run('maturity', 'adopt')
  wellRun(at.dir)
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  expect(await act(['start-goal', { originalAsk: 'ship it' }])).not.toContain('promote')
  const told = await act(['complete', { ref: 'goal:ship-it', result: 'shipped' }])
  expect(told).toContain('note: the repository shows beta, declared is poc: tidemark maturity promote')
  expect(configOf(at.dir).maturity.level).toBe('poc')
  expect(await run('retro')).toContain('the repository shows beta, declared is poc: tidemark maturity promote')
})
