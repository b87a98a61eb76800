/** How often a property is tried: a few times by `npm test`, many by `npm run test:long`, as often as TIDEMARK_RUNS says. */
export const runs = (few: number, many: number): number =>
  Number(process.env.TIDEMARK_RUNS ?? (process.env.TIDEMARK_LONG ? many : few))
