/**
 * How often a property is tried: a few times by `npm test`, many by `npm run test:long`, as often as TIDEMARK_RUNS says. CI
 * has one seed for all its runs and half an hour for both suites: there it is a quarter of many.
 */
export const runs = (few: number, many: number): number =>
  Number(
    process.env.TIDEMARK_RUNS ?? (process.env.TIDEMARK_LONG ? (process.env.CI ? Math.max(few, many / 4) : many) : few),
  )

/** What random tests start from: what TIDEMARK_SEED says, in CI always the same, elsewhere another each time. Tests print it. */
export const SEED = Number(process.env.TIDEMARK_SEED ?? (process.env.CI ? 20260115 : Date.now() % 1_000_000_007))
