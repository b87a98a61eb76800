// Runs the tests and closes with one line that counts them: those of every day, or with --long those that take minutes.
// With CI set, the coverage of the former is measured and held to its bound, and a test that fails is tried once more, by name.
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
    ...(process.env.CI ? ['--retry=1', `--reporter=${join(root, 'scripts', 'second-try.ts')}`] : []),
    `--outputFile.json=${results}`,
    ...coverage,
    ...chosen,
    ...given,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...(isLong ? { TIDEMARK_LONG: '1' } : {}) } },
)
if (!existsSync(results)) process.exit(done.status || 1)
const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(results, 'utf8'))
/** Those of the other suite are not here, rather than skipped. */
const isOurs = ({ tags }) => tags.includes('property') || tags.includes('long') === isLong
let skipped = 0
for (const file of testResults) {
  for (const t of file.assertionResults) {
    if (t.status === 'passed' || t.status === 'failed' || !isOurs(t)) continue
    skipped++
    console.log(`skipped: ${relative(root, file.name)}: ${t.fullName}`)
  }
}
const broken = testResults.filter((f) => f.status === 'failed' && f.assertionResults.length === 0).length
let status = done.status ?? 1
const summary = join(root, 'coverage', 'coverage-summary.json')
if (coverage.length > 0 && existsSync(summary)) {
  const { total } = JSON.parse(readFileSync(summary, 'utf8'))
  console.log(`line coverage ${total.lines.pct} % (at least ${MIN_LINES} %)`)
  if (total.lines.pct < MIN_LINES) status ||= 1
}
console.log(`${numPassedTests} passed, ${numFailedTests + broken} failed, ${skipped} skipped`)
process.exit(status)
