import { useEffect, useRef, useState } from 'preact/hooks'
import { type Json, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { usePages, useRows } from '../long-list.tsx'
import { Ago, Badge, Empty, inWords, Page, Prose, Ref, Told, Trouble, Value, Waiting } from '../parts.tsx'
import { entityHref, go, place } from '../router.ts'

export interface Entity {
  id: string
  kind: string
  name: string
  recorded: string
  updated: string
  version: number
  standing?: string
  retired?: Json
  state?: string
  stale?: string
  [field: string]: Json | undefined
}

interface Found {
  results: {
    id: string
    kind: string
    name: string
    score: number
    parts: { [part: string]: number }
    why: string
    state?: string
  }[]
  omitted: number
  notes?: string[]
}

const SINCE = [
  ['', 'Any time'],
  ['1 day ago', 'The last day'],
  ['1 week ago', 'The last week'],
  ['1 month ago', 'The last month'],
] as const
/** About the height of a row. */
const ROW_PX = 40
const SPARE_ROWS = 100
const TYPING_MS = 150

export function Knowledge() {
  const { params } = place.use()
  const [q, kind, since] = ['q', 'kind', 'since'].map((name) => params.get(name) ?? '') as [string, string, string]
  const all = params.has('all')
  const [typed, setTyped] = useState(q)
  const status = useTool<Status>('status').json
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(place.get().params)
    if (value === '') next.delete(name)
    else next.set(name, value)
    go(`/knowledge${next.size > 0 ? `?${next}` : ''}`, true)
  }
  useEffect(() => {
    const timer = setTimeout(() => change('q', typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const filters = { ...(kind && { kind }), ...(since && { since }), ...(all && { all }) }
  return (
    <Page
      title="Knowledge"
      lead="Everything that is recorded. Search in your own words: it also finds what means the same."
    >
      <search class="filters">
        <label class="field grow">
          Search
          <input
            type="search"
            value={typed}
            placeholder="Why did we decide this way?"
            onInput={(e) => setTyped(e.currentTarget.value)}
          />
        </label>
        <label class="field">
          Kind
          <select value={kind} onChange={(e) => change('kind', e.currentTarget.value)}>
            <option value="">All kinds</option>
            {Object.entries(status?.kinds ?? {}).map(([name, n]) => (
              <option key={name} value={name}>
                {name} ({n})
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Touched
          <select value={since} onChange={(e) => change('since', e.currentTarget.value)}>
            {SINCE.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={all} onChange={(e) => change('all', e.currentTarget.checked ? 'yes' : '')} />
          also what no longer holds
        </label>
      </search>
      {q === '' ? (
        status && (
          <List
            key={JSON.stringify(filters)}
            filters={filters}
            total={kind ? (status.kinds[kind] ?? 0) : status.entities}
          />
        )
      ) : (
        <Results question={q} filters={filters} />
      )}
    </Page>
  )
}

export function Marks({ of: e }: { of: Pick<Entity, 'standing' | 'retired' | 'state' | 'stale'> }) {
  return (
    <>
      {e.standing === 'proposed' && <Badge tone="accent">proposed</Badge>}
      {e.standing === 'rejected' && <Badge tone="bad">rejected</Badge>}
      {e.retired !== undefined && <Badge tone="bad">retired</Badge>}
      {e.state === 'superseded' && <Badge tone="warn">superseded</Badge>}
      {e.stale !== undefined && <Badge tone="warn">stale</Badge>}
    </>
  )
}

/** Fields that have a place of their own, or say little in a table. */
const APART = new Set(['id', 'kind', 'name', 'recorded', 'updated', 'version', 'provenance', 'standing', 'retired', 'state', 'stale', 'topics', 'locations', 'evidence', 'attrs', 'observed', 'synthesized']) // biome-ignore format: a list
const MOST_COLUMNS = 2

/** The fields that most entries fill, in the order of the kind. */
function columnsOf(list: readonly Entity[]): string[] {
  const filled = new Map<string, number>()
  for (const e of list)
    for (const [field, value] of Object.entries(e))
      if (!APART.has(field) && value !== e.name && typeof value !== 'object')
        filled.set(field, (filled.get(field) ?? 0) + 1)
  const fields = [...filled].filter(([, n]) => n * 2 >= list.length).map(([field]) => field)
  const said = ['description', 'summary', 'outcome', 'rightBelief', 'body', 'operation', 'change', 'category', 'impact', 'severity', 'confidence', 'status'] // biome-ignore format: a list
  const rank = (field: string) => (said.indexOf(field) + said.length + 1) % (said.length + 1)
  return fields.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_COLUMNS)
}

function List({ filters, total }: { filters: { kind?: string; since?: string; all?: boolean }; total: number }) {
  const body = useRef<HTMLTableSectionElement>(null)
  const columns = useRef<{ kind: string | undefined; names: string[] }>(undefined)
  const [count, setCount] = useState(total)
  const { from, to, above, below, usual } = useRows(body, count, ROW_PX)
  const paged = usePages<Entity>('list', filters, from, to)
  // how many fit a time is not known before the end of the list is seen
  const most = filters.since === undefined ? total : Math.max(count, to + SPARE_ROWS)
  useEffect(() => setCount(Math.min(paged.end ?? most, most)), [paged.end, most])
  const drawn = Array.from({ length: to - from }, (_, k) => [from + k, paged.at(from + k)] as const)
  const known = drawn.flatMap(([, e]) => e ?? [])
  if (columns.current?.kind !== filters.kind && known.length > 0)
    columns.current = { kind: filters.kind, names: filters.kind === undefined ? [] : columnsOf(known) }
  const names = columns.current?.names ?? []
  const isNothing = total === 0 && filters.kind === undefined
  if (paged.end === 0)
    return (
      <section class="panel" aria-label="What is recorded">
        <Empty title={isNothing ? 'Nothing is recorded yet' : 'Nothing is recorded that fits'}>
          <Prose
            text={`${isNothing ? 'Record something' : 'Choose another kind or time, or record something'}: \`tidemark remember "Prices are whole cents"\`.`}
          />
        </Empty>
      </section>
    )
  return (
    <section class="panel" aria-label="What is recorded">
      {paged.error && paged.error.code !== 'stopped' && <Trouble error={paged.error} />}
      {known.length === 0 && !paged.error && <Waiting />}
      <table class="long" aria-rowcount={count + 1}>
        <thead>
          <tr>
            {filters.kind === undefined && (
              <th scope="col" class="kind">
                Kind
              </th>
            )}
            <th scope="col">Name</th>
            {names.map((c) => (
              <th key={c} scope="col" class="wide-only">
                {inWords(c)}
              </th>
            ))}
            <th scope="col" class="wide-only topics">
              Topics
            </th>
            <th scope="col" class="when">
              Recorded
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Gap height={above} />
          {drawn.map(([i, e]) => (
            <tr key={i} data-row={i} aria-rowindex={i + 2} style={e ? undefined : { height: `${usual}px` }}>
              {filters.kind === undefined && <td class="kind">{e && <Badge>{e.kind}</Badge>}</td>}
              <td class="name">
                {e ? (
                  <a href={entityHref(e.id)}>
                    <Prose text={e.name} />
                  </a>
                ) : (
                  <span class="muted">…</span>
                )}{' '}
                {e && <Marks of={e} />}
              </td>
              {names.map((c) => (
                <td key={c} class="wide-only">
                  {e?.[c] !== undefined && <Value value={e[c]} />}
                </td>
              ))}
              <td class="wide-only topics muted">{Array.isArray(e?.topics) && e.topics.join(', ')}</td>
              <td class="when muted">{e && <Ago at={e.recorded} />}</td>
            </tr>
          ))}
          <Gap height={below} />
        </tbody>
      </table>
    </section>
  )
}

// biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without a control takes no focus
const Gap = ({ height }: { height: number }) => <tr class="gap" aria-hidden="true" style={{ height: `${height}px` }} />

const PARTS = ['relevance', 'proximity', 'recency', 'importance'] as const

function Results({ question, filters }: { question: string; filters: object }) {
  const found = useTool<Found>('recall', { text: question, ...filters, limit: 25, explain: true })
  return (
    <section class="panel" aria-label="What was found">
      <Told
        of={found}
        isEmpty={(f) => f.results.length === 0}
        empty={
          <Empty title="Nothing is known of this">
            Try other words, another kind or time, or look at what no longer holds as well.
          </Empty>
        }
      >
        {(f) => (
          <ol class="rows">
            {f.results.map((r) => (
              <li key={r.id}>
                <div class="row-head">
                  <Ref id={r.id} name={r.name} />
                  {r.state && <Badge tone="warn">{r.state}</Badge>}
                  <span class="row-end muted" title="The score: the product of its parts">
                    {r.score.toFixed(3)}
                  </span>
                </div>
                <p class="muted">{r.why}</p>
                <p class="score muted">
                  {PARTS.map((part) => `${part} ${(r.parts[part] ?? 1).toFixed(2)}`).join(' × ')}
                </p>
              </li>
            ))}
          </ol>
        )}
      </Told>
    </section>
  )
}
