// Runs the tests and closes with one line that counts them: those of every day, or with --long those that take minutes.
// Before it stands what was not proven here, and why. With CI set, the coverage of the former is measured and held to its bound.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const MIN_LINES = 85
const results = join(root, 'coverage', 'results.json')
mkdirSync(dirname(results), { recursive: true })
rmSync(results, { force: true })
rmSync(join(root, 'coverage', 'coverage-summary.json'), { force: true })
const isLong = process.argv.includes('--long')
const given = process.argv.slice(2).filter((arg) => arg !== '--long')
// until several runs on a slow machine were green without it
const retry = process.env.CI ? ['--retry=1'] : []
const coverage = process.env.CI && !isLong ? ['--coverage'] : []

/** Tests that hold a pattern. Vitest would load every file to see what is tagged. */
const filesWith = (pattern) =>
  ['src', 'test']
    .flatMap((dir) => readdirSync(join(root, dir), { recursive: true }).map((file) => join(dir, file)))
    .filter((file) => file.endsWith('.test.ts') && pattern.test(readFileSync(join(root, file), 'utf8')))
const chosen = isLong
  ? [
      '--tags-filter=long or property',
      ...(given.some((arg) => !arg.startsWith('-')) ? [] : filesWith(/@module-tag|tags: .*'(?:long|property)'/)),
    ]
  : ['--tags-filter=!long', ...filesWith(/@module-tag long/).map((file) => `--exclude=${file}`)]
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const done = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${results}`,
    ...coverage,
    ...retry,
    ...chosen,
    ...given,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...(isLong ? { TIDEMARK_LONG: '1' } : {}) } },
)
if (!existsSync(results)) process.exit(done.status || 1)
const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(results, 'utf8'))
/** Those of the other suite are not here, rather than skipped. */
const isOurs = ({ tags }) => tags.includes('property') || tags.includes('long') === isLong
const skipped = testResults.flatMap((file) =>
  file.assertionResults
    .filter((t) => t.status !== 'passed' && t.status !== 'failed' && isOurs(t))
    .map((t) => ({ file: relative(root, file.name), why: /\(skipped: (.*?)\)(?= |$)/.exec(t.fullName)?.[1] })),
)
const broken = testResults.filter((f) => f.status === 'failed' && f.assertionResults.length === 0).length
let status = done.status ?? 1
const summary = join(root, 'coverage', 'coverage-summary.json')
if (coverage.length > 0 && existsSync(summary)) {
  const { total } = JSON.parse(readFileSync(summary, 'utf8'))
  console.log(`line coverage ${total.lines.pct} % (at least ${MIN_LINES} %)`)
  if (total.lines.pct < MIN_LINES) status ||= 1
}
if (skipped.length > 0) console.log('not proven here:')
for (const [why, tests] of Map.groupBy(skipped, (t) => t.why ?? 'found out while the test ran; its source says why')) {
  const files = [...new Set(tests.map((t) => t.file))]
  const more = files.length > 2 ? `, and ${files.length - 2} more files` : ''
  console.log(`  ${why}: ${tests.length} (${files.slice(0, 2).join(', ')}${more})`)
}
console.log(`${numPassedTests} passed, ${numFailedTests + broken} failed, ${skipped.length} skipped`)
process.exit(status)
