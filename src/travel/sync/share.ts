/**
 * sync: how a project's knowledge travels with its git repository. `share.ts` says what may leave this machine,
 * `segments.ts` has the files, `publish.ts` writes those of this store, `receive.ts` reads everybody's.
 */

import { screen } from '../../base/secrets/screen.ts'
import type { Snapshot } from '../../engine/replication/compaction.ts'
import { type Line, redacted } from '../../engine/store/line.ts'
import { mayLeave } from '../../engine/write/write.ts'

/** What of a line leaves this machine, if any does. Digests stand for what stays, so hash and signature hold. */
export function sharedPart(line: Line, travels: (id: string) => boolean): Line | undefined {
  if (line.local) return undefined
  const part = redacted(line, { hides: (id) => !travels(id) })
  return line.v === 1 && part.events.length + part.purges.length + part.forks.length === 0 ? undefined : part
}

/** What of a folded state leaves this machine as that of one replica's lines: the others give theirs. */
export const sharedSnapshot = (s: Snapshot, replica: string, travels: (id: string) => boolean): Snapshot => ({
  ...s,
  covered: s.covered.filter((c) => c.replica === replica),
  entities: s.entities
    .filter((e) => travels(e.id))
    .map(({ counts, ...e }) => ({ ...e, counts: replica in counts ? { [replica]: counts[replica]! } : {} })),
  events: s.events.filter((e) => e.replica === replica && travels(e.entity)),
  purged: s.purged.filter((p) => mayLeave(travels, p)),
})

/** Where something that leaves looks like a secret, and of what category; the gate of `act` may have known less. */
export function secretIn(line: Line): { entity?: string; category: string } | undefined {
  const summary = line.raw.v === 1 ? { summary: line.raw.sum } : {}
  const [header] = screen({ ...line.author, ...summary }, false).secrets
  if (header) return { category: header.category }
  for (const { entity, value, field } of line.events) {
    const [found] = screen({ [field]: value }, false).secrets
    if (found) return { entity, category: found.category }
  }
  return undefined
}
