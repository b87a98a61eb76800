import { useEffect, useState } from 'preact/hooks'
import { here, type Json, part, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { LongList, usePages } from '../long-list.tsx'
import { Badge, Empty, Note, Page, Panel, Ref, Rows, Select, Told, When } from '../parts.tsx'
import { go, place } from '../router.ts'

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
  results: { id: string; name: string; score: number; parts: { [part: string]: number }; why: string; state?: string }[]
}

const SINCE = [
  ['', 'Any time'],
  ['1 day ago', 'The last day'],
  ['1 week ago', 'The last week'],
  ['1 month ago', 'The last month'],
] as const
/** About the height of a row. */
const ROW_PX = 70
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
  const kinds = Object.entries(status?.kinds ?? {}).map(([name, n]) => [name, `${name} (${n})`] as const)
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
        <Select label="Kind" all={[['', 'All kinds'], ...kinds]} chosen={kind} choose={(k) => change('kind', k)} />
        <Select label="Touched" all={SINCE} chosen={since} choose={(s) => change('since', s)} />
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
        <>
          <Results question={q} filters={filters} />
          {here.use()?.person === true && <TypedPrompts question={q} />}
        </>
      )}
    </Page>
  )
}

export const Marks = ({ of: e }: { of: Pick<Entity, 'standing' | 'retired' | 'state' | 'stale'> }) => (
  <>
    {e.standing === 'proposed' && <Badge tone="accent">proposed</Badge>}
    {e.standing === 'rejected' && <Badge tone="bad">rejected</Badge>}
    {e.retired !== undefined && <Badge tone="bad">retired</Badge>}
    {e.state === 'superseded' && <Badge tone="warn">superseded</Badge>}
    {e.stale !== undefined && <Badge tone="warn">stale</Badge>}
  </>
)

/** What says more than the name, the first that is there. */
const SAYS = ['description', 'summary', 'outcome', 'rightBelief', 'body', 'justification', 'rationale'] as const
const SAID_MAX = 200

function List({ filters, total }: { filters: { kind?: string; since?: string; all?: boolean }; total: number }) {
  const [[from, to], setSeen] = useState<readonly [number, number]>([0, 1])
  const paged = usePages<Entity>('list', filters, from, to)
  // how many fit a time is not known before the end of the list is seen
  const most = filters.since === undefined ? total : Math.max(paged.least, to) + SPARE_ROWS
  const count = Math.min(paged.length ?? most, most)
  const isNothing = total === 0 && filters.kind === undefined
  return (
    <section class="panel" aria-label="What is recorded">
      <Told
        of={paged}
        empty={
          <Empty title={isNothing ? 'Nothing is recorded yet' : 'Nothing is recorded that fits'}>
            {`${isNothing ? 'Record something' : 'Choose another kind or time, or record something'}: \`tidemark remember "Prices are whole cents"\`.`}
          </Empty>
        }
      >
        {({ at }) => (
          <LongList
            class="rows"
            aria-label="Everything that is recorded"
            count={count}
            guess={ROW_PX}
            keyOf={(i) => at(i)?.id ?? `row ${i}`}
            onSee={(first, end) => setSeen([first, end])}
            row={(i) => at(i) && <Row entity={at(i)!} />}
          />
        )}
      </Told>
    </section>
  )
}

function Row({ entity: e }: { entity: Entity }) {
  const said = SAYS.map((field) => e[field]).find((value) => typeof value === 'string' && value !== e.name)
  return (
    <>
      <div class="row-head">
        <Ref id={e.id} name={e.name} /> <Marks of={e} />
        {Array.isArray(e.topics) && <span class="muted">{e.topics.join(', ')}</span>}
        <When at={e.recorded} />
      </div>
      {said !== undefined && <Note text={String(said).slice(0, SAID_MAX)} />}
    </>
  )
}

const PARTS = ['relevance', 'proximity', 'recency', 'importance'] as const

function Results({ question, filters }: { question: string; filters: object }) {
  const found = useTool<Found>('recall', { text: question, ...filters, limit: 25, explain: true })
  return (
    <section class="panel" aria-label="What was found">
      <Rows
        of={part(found, (f) => f.results)}
        empty={
          <Empty title="Nothing is known of this">
            Try other words, another kind or time, or look at what no longer holds as well.
          </Empty>
        }
        row={(r) => (
          <li key={r.id}>
            <div class="row-head">
              <Ref id={r.id} name={r.name} />
              {r.state && <Badge tone="warn">{r.state}</Badge>}
              <span class="row-end muted" title="The score: the product of its parts">
                {r.score.toFixed(3)}
              </span>
            </div>
            <p class="muted">{r.why}</p>
            <p class="muted">{PARTS.map((part) => `${part} ${(r.parts[part] ?? 1).toFixed(2)}`).join(' × ')}</p>
          </li>
        )}
      />
    </section>
  )
}

const TYPED_MAX = 600

/** What the person typed with these words: on this machine alone. */
function TypedPrompts({ question }: { question: string }) {
  const found = useTool<Record<'at' | 'session' | 'client' | 'text', string>[]>('recall', {
    text: question,
    prompts: true,
    limit: 10,
  })
  return (
    <Panel title="You typed" count={found.json?.length}>
      <Rows
        of={found}
        empty={<Empty title="No prompt of yours holds all of these words" />}
        row={(p) => (
          <li key={`${p.session} ${p.at}`}>
            <p class="row-head">
              <When at={p.at} /> <span class="muted">{p.client}</span>
            </p>
            <p>{p.text.slice(0, TYPED_MAX)}</p>
          </li>
        )}
      />
    </Panel>
  )
}
