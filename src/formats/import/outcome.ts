import type { Reading, Unplaced } from './types.ts'

export interface Tally {
  created: number
  updated: number
  unchanged: number
}

/** What an import did. */
export interface ImportReport {
  readonly source: string
  /** How much was read, by name. */
  readonly read: Readonly<{ [what: string]: number }>
  readonly kinds: { [kind: string]: Tally }
  created: number
  updated: number
  unchanged: number
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
}

/** Longer texts are cut in the report: it points, the source tells. */
const LONGEST_SHOWN = 80

export function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN).toWellFormed()}…` : line
}

/** The report while it is being written. */
export class Outcome {
  readonly report: ImportReport

  constructor(source: string, reading: Reading, batches: string[]) {
    this.report = {
      source,
      read: reading.counts,
      kinds: {},
      created: 0,
      updated: 0,
      unchanged: 0,
      batches,
      redacted: [...(reading.redacted ?? [])],
      privateLeftOut: 0,
      kept: [],
      gone: [],
      unplaced: reading.unplaced.map((u) => ({ ...u, what: shown(u.what) })),
    }
  }

  count(kind: string, what: keyof Tally): void {
    this.report.kinds[kind] ??= { created: 0, updated: 0, unchanged: 0 }
    this.report.kinds[kind][what]++
    this.report[what]++
  }

  leaveOut(where: string, what: string, why: string): void {
    this.report.unplaced.push({ where, what: shown(what), why })
  }

  keep(where: string, what: string, why: string): void {
    this.report.kept.push({ where, what: shown(what), why })
  }

  lose(where: string, what: string, why: string): void {
    this.report.gone.push({ where, what: shown(what), why })
  }

  redact(where: string, category: string): void {
    this.report.redacted.push({ where, category })
  }
}
