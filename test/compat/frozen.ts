import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Those of a schema are packed: written by `scripts/freeze-store.ts`, that of 15 by the last code that had it. */
export const STORES = readdirSync(import.meta.dirname).filter((f) => /^store-.*\.db(?:\.gz)?$/.test(f))

type Named = { [id: string]: { fields: object } | null }
interface Said {
  news: (string | [string, string])[]
  now: Named
  past: Named
  lists: { kind: string; n: number }[]
  history: [string, string, string, string | null][]
}

/** In 0.1.0 the second batch of a replica waited for the first, which had not come. Nothing waits now. */
const WAITED: Readonly<Record<string, { batch: string; at: number }>> = {
  'store-0.1.0.db': { batch: '1bj8h9j:2', at: Date.UTC(2026, 0, 5) + 1 },
  'store-schema-15.db.gz': { batch: '1bj8h9j:2', at: Date.UTC(2026, 0, 6) + 1 },
}

function set(of: Named, id: string, fields: object): void {
  of[id] = { ...of[id]!, fields: { ...of[id]!.fields, ...fields } }
}

/** What 0.1.0 said otherwise. */
function saidNow(file: string, said: Said): Said {
  const waited = WAITED[file]
  if (!waited) return said
  const entity = {
    kind: 'fact',
    name: 'second of c',
    live: true,
    created: waited.at,
    fields: { fact: 'second of c', provenance: [{ at: new Date(waited.at).toISOString(), session: 'session-c' }] },
    conflicts: [],
  }
  const isFact = ({ kind }: { kind: string }) => kind === 'fact'
  const facts = said.lists.find(isFact)?.n ?? 0
  const now = { ...said.now, 'fact:second-of-c': entity }
  const { past, history } = said
  if (file === 'store-schema-15.db.gz') {
    // a line whose update said something else than its events; a cell that a document of a compaction alone holds
    set(now, 'fact:as-the-diff-shows-it', { category: 'tool' })
    set(past, 'decision:use-sqlite', { context: 'only a compaction has it' })
    history.unshift(['q1w2e3:0:7', 'context', 'set', null])
  }
  return {
    ...said,
    now,
    lists: [...said.lists.filter((l) => !isFact(l)), { kind: 'fact', n: facts + 1 }].sort(
      (a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1),
    ),
    // it kept a summary in each batch; it is read off the events now
    news: [...said.news.map((n) => [n].flat()[0]!), waited.batch],
  }
}

/** A store as it was left, and what it says now. */
export function frozen(file: string): { bytes: Uint8Array; expected: unknown } {
  const bytes = readFileSync(join(import.meta.dirname, file))
  const said = readFileSync(join(import.meta.dirname, file.replace(/\.db(?:\.gz)?$/, '.json')), 'utf8')
  return { bytes: file.endsWith('.gz') ? gunzipSync(bytes) : bytes, expected: saidNow(file, JSON.parse(said) as Said) }
}
