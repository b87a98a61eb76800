import type { Memory } from '../../src/engine/memory.ts'
import { allRows } from '../../src/engine/store/rows.ts'

/** A moment in the middle of what the frozen store went through, after its compaction's horizon. */
export const MIDDLE = Date.UTC(2026, 0, 3)

const PROBES = ['sqlite', 'parser', 'why', 'naïve 中文', 'endpoint']

/** What a store says, in a form that every later version must be able to give again. */
export function answers(memory: Memory): unknown {
  const reader = memory.reader
  const past = memory.asOf(MIDDLE)
  const entity = (id: string, from = reader) => {
    const e = from.entity(id)
    return (
      e && { kind: e.kind, name: e.name, live: e.live, created: e.created, fields: e.fields, conflicts: e.conflicts }
    )
  }
  const ids = allRows(memory.db).map((r) => r.id)
  return {
    now: Object.fromEntries(ids.map((id) => [id, entity(id)])),
    past: Object.fromEntries(ids.map((id) => [id, entity(id, past)])),
    links: ids.flatMap((id) => reader.links('from', id).map((l) => [l.from, l.type, l.to])),
    found: PROBES.map((p) => reader.search(p, 10).map((e) => e.id)),
    lists: reader.counts(),
    history: memory.history('decision:use-sqlite').map((h) => [h.id, h.event.field, h.event.op, h.author?.session]),
    kinds: memory.registry().kind('endpoint')?.fields,
    news: memory.newsSince(0).map((n) => n.batch),
  }
}

type Said = { news: (string | [string, string])[]; now: object; lists: { kind: string; n: number }[] }
const newsOf = ({ news }: Said) => [
  ...news.map((n) => [n].flat()[0]),
  ...(typeof news[0] === 'string' ? [] : ['1bj8h9j:2']),
]

/** In 0.1.0 the second batch of a replica waited for the first, which had not come. Nothing waits now. */
function counted({ news, now, lists }: Said): object {
  if (typeof news[0] === 'string') return {}
  const provenance = [{ at: '2026-01-05T00:00:00.001Z', session: 'session-c' }]
  const fields = { fact: 'second of c', provenance }
  const entity = {
    kind: 'fact',
    name: 'second of c',
    live: true,
    created: Date.UTC(2026, 0, 5) + 1,
    fields,
    conflicts: [],
  }
  const counts = [...lists, { kind: 'fact', n: 1 }].sort((a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1))
  return { now: { ...now, 'fact:second-of-c': entity }, lists: counts }
}

/** What an old store answers today. 0.1.0 kept a summary in each batch; it is read off the events now. */
export const answersNow = (said: Said): unknown => ({ ...said, ...counted(said), news: newsOf(said) })
