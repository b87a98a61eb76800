/** How texts differ by lines, and which changes of one text merge. Lines count from 0, and the end of a span is not in it. */

export type Span = readonly [from: number, to: number]

/** Lines of the one text that lines of the other take the place of. */
export type Hunk = Readonly<{ a: Span; b: Span }>

/** Texts that differ in more lines count as different from their first difference to their last. */
const MOST_DIFFERENT = 1_500

export const rowsOf = (text: string): string[] => text.replaceAll('\r\n', '\n').split('\n')

/** git takes changes without an unchanged line between them for a conflict. */
export const touch = (x: Span, y: Span): boolean => x[0] <= y[1] && y[0] <= x[1]

const isInside = (at: Span, y: Span): boolean => at[0] === at[1] && y[0] < at[0] && at[0] < y[1]

/** Whether they have lines in common; a place between two lines, whether it is inside, or the same place. */
export const overlap = (x: Span, y: Span): boolean =>
  Math.max(x[0], y[0]) < Math.min(x[1], y[1]) || isInside(x, y) || isInside(y, x) || (x[0] === y[0] && x[1] === y[1])

/** What is left of a span where another is taken out. */
const cut = (s: Span, [from, to]: Span): Span[] =>
  [[s[0], Math.min(s[1], from)] as const, [Math.max(s[0], to), s[1]] as const].filter(([a, b]) => a < b)

/** What is left of spans where others are taken out. */
export const without = (spans: readonly Span[], taken: readonly Span[]): Span[] =>
  taken.reduce<Span[]>((left, t) => left.flatMap((s) => (overlap(s, t) ? cut(s, t) : [s])), [...spans])

/** What spans have in common with others. */
export const within = (spans: readonly Span[], others: readonly Span[]): Span[] =>
  spans.flatMap((s) =>
    others.filter((o) => overlap(s, o)).map((o) => [Math.max(s[0], o[0]), Math.min(s[1], o[1])] as const),
  )

const hunk = (a0: number, a1: number, b0: number, b1: number): Hunk => ({ a: [a0, a1], b: [b0, b1] })

/** The shortest way from one text to the other (Myers), each change as far down as it can stand. */
export function difference(a: readonly string[], b: readonly string[]): Hunk[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let [endA, endB] = [a.length, b.length]
  while (endA > head && endB > head && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1]
  if (head === endA && head === endB) return []
  return slid(stepsBetween(a, b, head, endA, endB) ?? [hunk(head, endA, head, endB)], a, b)
}

function stepsBetween(
  a: readonly string[],
  b: readonly string[],
  head: number,
  endA: number,
  endB: number,
): Hunk[] | undefined {
  const [n, m] = [endA - head, endB - head]
  if (n === 0 || m === 0) return [hunk(head, endA, head, endB)]
  /** `rows[d][d + k]`: how far into `a` the diagonal `k` comes with `d` changes. */
  const rows: Int32Array[] = []
  const reach = (d: number, k: number) => (d < 0 || Math.abs(k) > d ? -1 : rows[d]![d + k]!)
  const isDown = (d: number, k: number) => k === -d || (k !== d && reach(d - 1, k - 1) < reach(d - 1, k + 1))
  for (let d = 0; d <= Math.min(n + m, MOST_DIFFERENT); d++) {
    const row = new Int32Array(2 * d + 1).fill(-1)
    rows.push(row)
    for (let k = -d; k <= d; k += 2) {
      let x = d === 0 ? 0 : isDown(d, k) ? reach(d - 1, k + 1) : reach(d - 1, k - 1) + 1
      if (x > n || x - k > m) continue
      while (x < n && x - k < m && a[head + x] === b[head + x - k]) x++
      row[d + k] = x
      if (x === n && x - k === m) return wayBack(d, n - m)
    }
  }
  return undefined

  function wayBack(last: number, diagonal: number): Hunk[] {
    const found: Hunk[] = []
    for (let d = last, k = diagonal; d > 0; d--) {
      const from = isDown(d, k) ? k + 1 : k - 1
      const x = head + reach(d - 1, from)
      const y = x - from
      found.push(from > k ? hunk(x, x, y, y + 1) : hunk(x, x + 1, y, y))
      k = from
    }
    return joined(found.reverse())
  }
}

function joined(hunks: readonly Hunk[]): Hunk[] {
  const out: Hunk[] = []
  for (const h of hunks) {
    const last = out.at(-1)
    if (last && last.a[1] === h.a[0] && last.b[1] === h.b[0])
      out.splice(-1, 1, hunk(last.a[0], h.a[1], last.b[0], h.b[1]))
    else out.push(h)
  }
  return out
}

/** What was only added or only taken out may stand in several places: the lowest. */
function slid(hunks: readonly Hunk[], a: readonly string[], b: readonly string[]): Hunk[] {
  const out = [...hunks]
  for (let i = out.length - 1; i >= 0; i--) {
    let h = out[i]!
    const [text, of] = h.a[0] === h.a[1] ? [b, h.b] : h.b[0] === h.b[1] ? [a, h.a] : []
    if (!text || !of) continue
    const room = (out[i + 1]?.a[0] ?? a.length) - h.a[1]
    let by = 0
    while (by < room && text[of[0] + by] === text[of[1] + by]) by++
    h = hunk(h.a[0] + by, h.a[1] + by, h.b[0] + by, h.b[1] + by)
    out[i] = h
  }
  return joined(out)
}

/** Where lines of the one text stand in the other; of what was changed they stand in all. `back`: from `b` to `a`. */
export function carried(hunks: readonly Hunk[], [from, to]: Span, back = false): Span {
  const shift = (at: number, isEnd: boolean): number => {
    let by = 0
    for (const h of hunks) {
      const [x, y] = back ? [h.b, h.a] : [h.a, h.b]
      if (isEnd ? x[0] >= at : x[0] > at) break
      if (isEnd ? at <= x[1] : at < x[1]) return isEnd ? y[1] : y[0]
      by = y[1] - x[1]
    }
    return at + by
  }
  const start = shift(from, false)
  return [start, Math.max(start, from === to ? start : shift(to, true))]
}

type Collision = Readonly<{ mine: Hunk; theirs: Hunk }>

const isSame = (x: readonly string[], [x0, x1]: Span, y: readonly string[], [y0, y1]: Span): boolean =>
  x1 - x0 === y1 - y0 && x.slice(x0, x1).every((line, i) => line === y[y0 + i])

/** Changes of one text that do not merge. The same change on both sides does. */
export function collisions(base: readonly string[], mine: readonly string[], theirs: readonly string[]): Collision[] {
  const other = difference(base, theirs)
  if (other.length === 0) return []
  return difference(base, mine).flatMap((m) =>
    other
      .filter((t) => touch(m.a, t.a))
      .filter((t) => !(m.a[0] === t.a[0] && m.a[1] === t.a[1] && isSame(mine, m.b, theirs, t.b)))
      .map((t) => ({ mine: m, theirs: t })),
  )
}
