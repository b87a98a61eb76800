// Runs the tests and closes with one line that counts them. With CI set, coverage is measured and held to its bound.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const MIN_LINES = 85
const results = join(root, 'coverage', 'results.json')
mkdirSync(dirname(results), { recursive: true })
rmSync(results, { force: true })
rmSync(join(root, 'coverage', 'coverage-summary.json'), { force: true })
const coverage = process.env.CI ? ['--coverage'] : []
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
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
)
if (!existsSync(results)) process.exit(done.status || 1)
const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(results, 'utf8'))
for (const file of testResults) {
  for (const t of file.assertionResults) {
    if (t.status !== 'passed' && t.status !== 'failed')
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
console.log(`${numPassedTests} passed, ${numFailedTests + broken} failed, ${numPendingTests} skipped`)
process.exit(status)
