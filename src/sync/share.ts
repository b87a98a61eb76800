/**
 * sync: how a project's knowledge travels with its git repository. `share.ts` says what may leave this machine,
 * `segments.ts` has the files, `publish.ts` writes those of this store, `receive.ts` reads everybody's.
 */

import type { Event } from '../log/events.ts'
import { KIND_KIND, kindOf, LINK_KIND } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import type { Snapshot } from '../replication/compaction.ts'
import { HEADER, isTombstone } from '../replication/purge.ts'
import { screen } from '../secrets/screen.ts'
import { type Db, stored } from '../store/db.ts'
import type { Line, PurgeMark } from '../store/line.ts'
import { getRow } from '../store/rows.ts'

/** Whether an entity may leave this machine: its kind declares it, and a link goes where both of its ends go. */
export function travelsFrom(db: Db, registry: Registry): (id: string) => boolean {
  const known = new Map<string, boolean>()
  const ofKind = (kind: string) => {
    const declared = registry.kind(kind)
    // a kind of the project that was deleted; one that nobody here knows may be anything
    return declared ? declared.travels === 'project' : getRow(db, `${KIND_KIND}:${kind}`) !== undefined
  }
  const judge = (id: string): boolean => {
    if (kindOf(id) !== LINK_KIND) return ofKind(kindOf(id))
    if (isTombstone(id)) return true
    const { from, to } = stored<{ from?: Json; to?: Json }>(getRow(db, id)?.body ?? '{}')
    return [from, to].every((end) => typeof end === 'string' && kindOf(end) !== LINK_KIND && ofKind(kindOf(end)))
  }
  return (id) => {
    let travels = known.get(id)
    if (travels === undefined) known.set(id, (travels = judge(id)))
    return travels
  }
}

const mayLeave =
  (travels: (id: string) => boolean) =>
  (p: PurgeMark): boolean =>
    p.entity === HEADER || travels(p.entity)

/**
 * What of a line leaves this machine, made of the entities that travel alone; nothing if there are none. Its hash stays,
 * so that later lines follow it.
 */
export function sharedPart(line: Line, travels: (id: string) => boolean): Line | undefined {
  const updates = new Map([...line.updates].filter(([id]) => travels(id)))
  const events = line.events.filter((e) => travels(e.entity))
  const purges = line.purges.filter(mayLeave(travels))
  if (updates.size === 0 && events.length === 0 && purges.length === 0 && !line.forks?.length) return undefined
  const whole = updates.size === line.updates.size && events.length === line.events.length
  if (whole && purges.length === line.purges.length) return line
  const { intent: _, ...author } = line.author
  const summary = [...updates.keys()].join(', ')
  return { ...line, author, summary, updates, events, purges, substitute: true }
}

/** What of a snapshot leaves this machine as the state of one replica's lines: the others give theirs. */
export function sharedSnapshot(s: Snapshot, replica: string, travels: (id: string) => boolean): Snapshot {
  return {
    ...s,
    covered: s.covered.filter((c) => c.replica === replica),
    entities: s.entities
      .filter((e) => travels(e.id))
      .map(({ counts, ...e }) => ({ ...e, counts: replica in counts ? { [replica]: counts[replica]! } : {} })),
    events: s.events.filter((e) => e.replica === replica && travels(e.entity)),
    purged: s.purged.filter(mayLeave(travels)),
  }
}

/** Where something that leaves looks like a secret, and of what category; the gate of `act` may have known less. */
export function secretIn(line: Line): { entity?: string; category: string } | undefined {
  const { summary } = line
  const { key: _key, sig: _sig, ...author } = line.author
  const [header] = screen({ ...author, summary }, false).secrets
  if (header) return { category: header.category }
  for (const { entity, value, was, field } of line.events as readonly Event[]) {
    const [found] = screen({ [field]: value, was }, false).secrets
    if (found) return { entity, category: found.category }
  }
  return undefined
}
