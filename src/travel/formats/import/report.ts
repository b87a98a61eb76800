import { oneLine } from '../../../model/text.ts'
import type { Reading, Unplaced } from './types.ts'

type Tally = { created: number; updated: number; unchanged: number }

export interface ImportReport extends Tally {
  readonly source: string
  readonly read: { [what: string]: number }
  readonly kinds: { [kind: string]: Tally }
  /** Batches written; none means that nothing was. */
  readonly batches: string[]
  readonly redacted: { where: string; category: string }[]
  /** Texts of which a `<private>` part was left out. */
  privateLeftOut: number
  /** What differs from the source because somebody changed it here: it stays. */
  readonly kept: Unplaced[]
  /** What an earlier import brought and the source no longer says. */
  readonly gone: Unplaced[]
  readonly unplaced: Unplaced[]
  /** Links to what the source names: made, and proposed. */
  named?: { mentions: number; proposed: number }
  /** Sources that were found without being named, in words. */
  found?: string
  /** Prompts that were kept, to be searched, and what the next session is asked about them, in words. */
  prompts?: number
  past?: string
  /** Batches of the project's own history that were new here. */
  history?: number
  dryRun?: true
}

const NONE: Tally = { created: 0, updated: 0, unchanged: 0 }

export const emptyReport = (source: string): ImportReport => ({
  source,
  read: {},
  kinds: {},
  ...NONE,
  batches: [],
  redacted: [],
  privateLeftOut: 0,
  kept: [],
  gone: [],
  unplaced: [],
})

export function addReading(report: ImportReport, { counts, redacted = [], unplaced }: Reading): void {
  for (const [what, n] of Object.entries(counts)) report.read[what] = (report.read[what] ?? 0) + n
  report.redacted.push(...redacted)
  report.unplaced.push(...unplaced.map((u) => ({ ...u, what: shown(u.what) })))
}

export function count(report: ImportReport, kind: string, what: keyof Tally): void {
  report.kinds[kind] ??= { ...NONE }
  report.kinds[kind][what]++
  report[what]++
}

/** Longer texts are cut in the report: it points, the source tells. */
const LONGEST_SHOWN = 80

export const shown = (text: string): string => oneLine(text, LONGEST_SHOWN)

/** More lines than this are counted, not printed; `--json` has all. */
const MOST_LINES = 40

const plural = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`

/** The first word in the singular: `suggestions` → `suggestion`. */
export const one = (what: string) => what.replace(/^(\w+)ies\b/, '$1y').replace(/^(\w+)s\b/, '$1')

function section(title: string, entries: readonly Unplaced[]): string[] {
  if (entries.length === 0) return []
  const lines = entries.slice(0, MOST_LINES).map((u) => `  ${u.where}  ${u.what} — ${u.why}`)
  if (entries.length > MOST_LINES) lines.push(`  … and ${entries.length - MOST_LINES} more (--json has them all)`)
  return [`${title}:`, ...lines]
}

const tallied = ({ created, updated, unchanged }: Tally): string =>
  [created && `${created} new`, updated && `${updated} updated`, unchanged && `${unchanged} there already`]
    .filter(Boolean)
    .join(', ')

/** What an import did, for a reader: counts per kind, then what could not be placed and why, as file:line. */
export function printReport(report: ImportReport): string {
  const { source, created, updated, unchanged, batches, redacted, privateLeftOut } = report
  const written = report.dryRun ? 'a dry run: nothing was written' : plural(batches.length, 'batch', 'batches')
  const { history = 0 } = report
  const taken = `${source}: ${plural(history, 'batch', 'batches')} of history new; unverified until confirmed here${report.dryRun ? ` (${written})` : ''}`
  const isNothing = created + updated === 0 && batches.length === 0
  const lines = [...(report.found === undefined ? [] : [report.found]), ...(history > 0 ? [taken] : [])]
  if (!isNothing) lines.push(`${source}: ${created} new, ${updated} updated, ${unchanged} there already (${written})`)
  else if (history === 0) lines.push(`${source}: nothing to write, ${unchanged} there already`)
  const read = Object.entries(report.read).flatMap(([what, n]) =>
    n === 0 && /\s/.test(what) ? [] : `${n} ${n === 1 ? one(what) : what}`,
  )
  if (read.length > 0) lines.push(`read: ${read.join(', ')}`)
  const width = Math.max(0, ...Object.keys(report.kinds).map((k) => k.length))
  for (const [kind, tally] of Object.entries(report.kinds)) lines.push(`  ${kind.padEnd(width)}  ${tallied(tally)}`)
  const { prompts = 0 } = report
  if (prompts > 0) lines.push(`${plural(prompts, 'prompt')} kept on this machine: tidemark history --prompts`)
  if (report.past !== undefined) lines.push(report.past)
  const mentions = report.named?.mentions ?? 0
  if (mentions > 0) lines.push(`linked to what it names: ${plural(mentions, 'mention')}`)
  if (redacted.length > 0) lines.push(`${plural(redacted.length, 'secret')} left out, the category in place of each:`)
  for (const [what, all] of [...Map.groupBy(redacted, (r) => `${r.category} (${r.where})`)].slice(0, MOST_LINES))
    lines.push(`  ${what}${all.length > 1 ? ` ×${all.length}` : ''}`)
  if (privateLeftOut > 0) lines.push(`<private> text left out of ${plural(privateLeftOut, 'entry', 'entries')}`)
  lines.push(...section('kept as changed here', report.kept))
  lines.push(...section('no longer in the source', report.gone))
  lines.push(...section('not placed', report.unplaced))
  return lines.join('\n')
}
