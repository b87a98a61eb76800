/** A plain table. A row with a bound says whether it was kept. */
export interface Row {
  readonly what: string
  readonly cells: readonly (string | number)[]
  readonly bound?: string
  readonly ok?: boolean
}

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly notes?: readonly string[]
}

export interface Bench {
  readonly name: string
  readonly about: string
  run(): Promise<readonly Table[]>
}

/** Three digits that count. */
export const short = (n: number): string =>
  n === 0 || Number.isNaN(n) ? String(n) : Math.abs(n) >= 100 ? n.toFixed(0) : n.toPrecision(3).replace(/e\+?/, 'e')

const shown = (cell: string | number): string => (typeof cell === 'number' ? short(cell) : cell)

export function render(table: Table): string {
  const judged = table.rows.some((r) => r.bound !== undefined)
  const head = ['', ...table.columns, ...(judged ? ['bound', ''] : [])]
  const lines = table.rows.map((r) => [
    r.what,
    ...r.cells.map(shown),
    ...(judged ? [r.bound ?? '', r.ok === undefined ? '' : r.ok ? 'ok' : 'MISSED'] : []),
  ])
  const width = head.map((_, i) => Math.max(...[head, ...lines].map((l) => (l[i] ?? '').length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((c, i) => (i === 0 || i > table.columns.length ? c.padEnd(width[i]!) : c.padStart(width[i]!)))
      .join('  ')
      .trimEnd()
  return [
    table.title,
    line(head),
    width.map((w) => '-'.repeat(w)).join('  '),
    ...lines.map(line),
    ...(table.notes ?? []).map((n) => `(${n})`),
  ].join('\n')
}

/** The value below which a share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)
export const least = (samples: readonly number[]): number => Math.min(...samples)
export const most = (samples: readonly number[]): number => Math.max(...samples)

/** The median of the ratios of samples taken in the same round: what the machine did to both at once cancels out. */
export const ratio = (samples: readonly number[], baseline: readonly number[]): number =>
  median(samples.map((s, i) => s / baseline[i]!))

/** Runs every case once per round, in turn; the first rounds only warm up. Returns what each case measured. */
export async function interleave<K extends string>(
  rounds: number,
  cases: Readonly<Record<K, (round: number) => number | Promise<number>>>,
  warmUp = 2,
): Promise<Record<K, number[]>> {
  const names = Object.keys(cases) as K[]
  const measured = Object.fromEntries(names.map((n) => [n, [] as number[]])) as Record<K, number[]>
  for (let round = -warmUp; round < rounds; round++)
    for (const name of names) {
      const value = await cases[name](round)
      if (round >= 0) measured[name].push(value)
    }
  return measured
}

/** Milliseconds that something took. */
export function timed(work: () => unknown): number {
  const since = performance.now()
  work()
  return performance.now() - since
}
