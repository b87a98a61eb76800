export type Range = readonly [from: number, to: number]

/** Ranges in their order, with one more; those that touch become one. */
export function addRange(ranges: readonly Range[], from: number, to = from): Range[] {
  const before = ranges.filter(([, end]) => end < from - 1)
  const after = ranges.filter(([start]) => start > to + 1)
  const touching = ranges.slice(before.length, ranges.length - after.length)
  return [
    ...before,
    [Math.min(from, ...touching.map((r) => r[0])), Math.max(to, ...touching.map((r) => r[1]))],
    ...after,
  ]
}

export const inRanges = (ranges: readonly Range[], n: number): boolean =>
  ranges.some(([from, to]) => from <= n && n <= to)

/** What of a range lies in none of these, which are in their order. */
export function missingIn(ranges: readonly Range[], [from, to]: Range): Range[] {
  const out: Range[] = []
  let next = from
  for (const [a, b] of ranges) {
    if (a > next) out.push([next, Math.min(a - 1, to)])
    next = Math.max(next, b + 1)
  }
  if (next <= to) out.push([next, to])
  return out.filter(([a, b]) => a <= b)
}

/** Items in runs: each goes on with the run before it, or begins another. */
export function runsOf<T>(items: Iterable<T>, goesOn: (item: T, last: T, run: readonly T[]) => boolean): T[][] {
  const runs: T[][] = []
  for (const item of items) {
    const run = runs.at(-1)
    if (run && goesOn(item, run.at(-1)!, run)) run.push(item)
    else runs.push([item])
  }
  return runs
}
