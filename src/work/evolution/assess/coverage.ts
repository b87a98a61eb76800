import { jsonIn } from '../../../model/object.ts'
import { ciOf } from './ci.ts'
import { type Dimension, percent, type Repository } from './repository.ts'

const CONFIG = /^\.?(?:codecov\.ya?ml|coveragerc|c8rc(?:\.json)?|nycrc(?:\.json)?|simplecov|coveralls\.yml)$/
const THRESHOLD =
  /check-coverage|fail_under|fail-under|cov-fail|coverageThreshold|minimum_coverage|jacocoTestCoverageVerification|<minimum>|thresholds?\s*:\s*\{|--100\b/
const REPORTS: readonly [RegExp, (text: string) => number][] = [
  [/(?:^|\/)coverage-summary\.json$/, (t) => percentIn(t) / 100],
  [/(?:^|\/)(?:coverage|cobertura)[^/]*\.xml$/, (t) => Number(/line-rate="([\d.]+)"/.exec(t)?.[1])],
  [/(?:^|\/)lcov\.info$/, (t) => sum(t, 'LH:') / sum(t, 'LF:')],
] // biome-ignore format: a table

/** The share of lines in the summary that istanbul and c8 write. */
function percentIn(text: string): number {
  const summary = jsonIn(text) as { total?: { lines?: { pct?: unknown } } } | null | undefined
  return Number(summary?.total?.lines?.pct ?? Number.NaN)
}

const sum = (text: string, key: string): number =>
  text.split('\n').reduce((n, line) => n + (line.startsWith(key) ? Number(line.slice(key.length)) || 0 : 0), 0)

/** What a report in the repository, or of the last run beside it, says. */
function reported({ paths, text }: Repository): number | undefined {
  const local = ['coverage/coverage-summary.json', 'coverage/lcov.info', 'coverage.xml', 'lcov.info']
  for (const path of [...local, ...paths])
    for (const [name, read] of REPORTS) {
      const share = name.test(path) ? read(text(path)) : Number.NaN
      if (share >= 0 && share <= 1) return share
    }
  return undefined
}

export const coverage: Dimension = {
  name: 'coverage',
  look(repo) {
    const { paths, text, tests } = repo
    const share = reported(repo)
    const settings = paths.filter(
      (p) =>
        CONFIG.test(p) ||
        /^(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|pom\.xml|build\.gradle(?:\.kts)?|(?:vitest|vite|jest)\.config\.\w+|\.taprc)$/.test(
          p,
        ),
    )
    const isMeasured =
      tests.length > 0 &&
      (ciOf(repo).coverage ||
        settings.some((p) => CONFIG.test(p) || /jacoco|\bc8\b|\bnyc\b|pytest-cov|coverage/.test(text(p))))
    const hasBound = isMeasured && settings.some((p) => THRESHOLD.test(text(p)))
    return {
      evidence: [
        share === undefined ? 'no report' : `a report says ${percent(share)} of the lines`,
        isMeasured ? 'measured by the tools' : 'not measured',
        hasBound && 'with a lower bound',
      ]
        .filter(Boolean)
        .join(', '),
      findings: [
        ['beta', '', share !== undefined || isMeasured, 'measure the coverage when the tests run'],
        ['ga', '', hasBound || (share ?? 0) >= 0.8, 'set a lower bound of the coverage, or keep a report of 80 %'],
      ],
    }
  },
}
