import type { ImportReport } from './outcome.ts'
import type { Unplaced } from './types.ts'

/** More lines than this are counted, not printed; `--json` has all. */
const MOST_LINES = 40

const plural = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`

/** The first word in the singular: `suggestions` → `suggestion`. */
const one = (what: string) => what.replace(/^(\w+)ies\b/, '$1y').replace(/^(\w+)s\b/, '$1')

function section(title: string, entries: readonly Unplaced[]): string[] {
  if (entries.length === 0) return []
  const lines = entries.slice(0, MOST_LINES).map((u) => `  ${u.where}  ${u.what} — ${u.why}`)
  if (entries.length > MOST_LINES) lines.push(`  … and ${entries.length - MOST_LINES} more (--json has them all)`)
  return [`${title}:`, ...lines]
}

/** What an import did, for a reader: counts per kind, then what could not be placed and why, as file:line. */
export function printReport(report: ImportReport): string {
  const { created, updated, unchanged } = report
  const lines = [
    created + updated === 0 && report.batches.length === 0
      ? `${report.source}: nothing to write, ${unchanged} there already`
      : `${report.source}: ${created} new, ${updated} updated, ${unchanged} there already (${plural(report.batches.length, 'batch', 'batches')})`,
  ]
  const read = Object.entries(report.read)
  if (read.length > 0) lines.push(`read: ${read.map(([what, n]) => `${n} ${n === 1 ? one(what) : what}`).join(', ')}`)
  const width = Math.max(0, ...Object.keys(report.kinds).map((k) => k.length))
  for (const [kind, t] of Object.entries(report.kinds)) {
    const parts = [
      ...(t.created > 0 ? [`${t.created} new`] : []),
      ...(t.updated > 0 ? [`${t.updated} updated`] : []),
      ...(t.unchanged > 0 ? [`${t.unchanged} there already`] : []),
    ]
    lines.push(`  ${kind.padEnd(width)}  ${parts.join(', ')}`)
  }
  if (report.redacted.length > 0) {
    const byCategory = Map.groupBy(report.redacted, (r) => `${r.category} (${r.where})`)
    lines.push(`${plural(report.redacted.length, 'secret')} left out, the category in place of each:`)
    for (const [what, all] of [...byCategory].slice(0, MOST_LINES))
      lines.push(`  ${what}${all.length > 1 ? ` ×${all.length}` : ''}`)
  }
  if (report.privateLeftOut > 0)
    lines.push(`<private> text left out of ${plural(report.privateLeftOut, 'entry', 'entries')}`)
  lines.push(...section('kept as changed here', report.kept))
  lines.push(...section('no longer in the source', report.gone))
  lines.push(...section('not placed', report.unplaced))
  return lines.join('\n')
}
