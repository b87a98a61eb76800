import { useEffect, useRef, useState } from 'preact/hooks'
import { useTool } from '../api.ts'
import type { Edge, GraphView, Node } from '../graph-view.ts'
import { type Life, MomentSlider, useLife } from '../moment.tsx'
import { Choices, Day, Empty, full, many, Page, Prose, Ref, Trouble, Waiting } from '../parts.tsx'
import { go, place } from '../router.ts'
import type { Entity } from './knowledge.tsx'

/** Kinds that mean alike share a colour, so that few colours tell them apart. */
export const GROUPS = {
  decisions: ['decision'],
  rules: ['fact', 'principle', 'pattern', 'exception'],
  lessons: ['learning', 'correction', 'failed-approach', 'insight'],
  questions: ['question', 'hypothesis'],
  work: ['goal', 'activity', 'task', 'result', 'action-note', 'handoff', 'observation', 'mutation', 'retro-score'],
  code: ['file'],
  documents: ['chunk'],
  other: [],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type Group = keyof typeof GROUPS

export const groupOf = (kind: string): Group =>
  (Object.keys(GROUPS) as Group[]).find((g) => (GROUPS[g] as readonly string[]).includes(kind)) ?? 'other'

/** Fields that name other entities are links as well: the activity of a task, the evidence of a change. */
function namedIn(e: Entity, known: ReadonlySet<string>): Edge[] {
  return Object.entries(e).flatMap(([field, value]) => {
    if (field === 'id') return []
    const ids = (Array.isArray(value) ? value : [value]).filter(
      (v): v is string => typeof v === 'string' && known.has(v),
    )
    return ids.map((to) => ({ from: e.id, to, type: field }))
  })
}

/** What the graph shows of a thing; `refs` are the fields that name others. */
const DRAWN = 'id,name,kind,recorded,state,retired,topics,refs'
const MOST = 6_000
/** Of so many, those without a link would only be dust. */
const MANY = 200
const MOST_LINKS = 20_000
const NAMES = Object.keys(GROUPS) as Group[]
const MOST_TOPICS = 60
const VIEWS = ['everything', 'what is around', 'its trace'] as const

interface Traced {
  evolution: string[]
  trace: { id: string }[]
}

export function GraphPage() {
  const { params } = place.use()
  const at = params.get('at') ?? undefined
  const asOf = at === undefined ? {} : { 'as-of': at }
  const entities = useTool<Entity[]>('list', { limit: MOST, all: true, fields: DRAWN, ...asOf })
  const links = useTool<Edge[]>('list', { kind: 'relationship', limit: MOST_LINKS, fields: 'from,type,to', ...asOf })
  const [hidden, setHidden] = useState<ReadonlySet<Group>>(new Set(['documents'])) // pieces of documents would hide the rest
  const [wish, setLinkedOnly] = useState<boolean>()
  const [query, setQuery] = useState('')
  const [topic, setTopic] = useState('')
  const [part, setPart] = useState<(typeof VIEWS)[number]>('everything')
  const life = useLife()
  const canvas = useRef<HTMLDivElement>(null)
  const view = useRef<GraphView>(undefined)
  const [isReady, setReady] = useState(false)
  const isKnown = entities.json !== undefined && links.json !== undefined
  const known = entities.json ?? []
  const ids = new Set(known.map((e) => e.id))
  const isKindInView = (e: Entity): boolean => e.kind !== 'context' && !hidden.has(groupOf(e.kind))
  const idsInView = new Set(known.flatMap((e) => (isKindInView(e) ? [e.id] : [])))
  const chosen = [params.get('id') ?? ''].find((id) => ids.has(id))
  const edges = [...(links.json ?? []), ...known.flatMap((e) => namedIn(e, ids))].filter(
    ({ from, to }) => idsInView.has(from) && idsInView.has(to),
  )
  const linkedOnly = wish ?? known.length > MANY
  const linked = new Set(edges.flatMap((l) => [l.from, l.to]))
  const choice = useTool<Traced>(chosen === undefined ? undefined : 'trace', { ref: chosen, ...asOf }).json
  const topics = [...Map.groupBy(known.flatMap(topicsOf), (t) => t)].sort((a, b) => b[1].length - a[1].length)
  const onTopic = new Set(known.flatMap((e) => (topicsOf(e).includes(topic) ? [e.id] : [])))
  // what a topic is linked to stands beside it, faded: so it is seen where it meets others
  const besideIt = new Set(edges.flatMap(({ from, to }) => (onTopic.has(from) || onTopic.has(to) ? [from, to] : [])))
  const around = new Set(edges.flatMap(({ from, to }) => (from === chosen || to === chosen ? [from, to] : [])))
  const traced = new Set([chosen, ...(choice?.evolution ?? []), ...(choice?.trace.map((t) => t.id) ?? [])])
  const isInView = (e: Entity): boolean =>
    isKindInView(e) &&
    (e.id === chosen || !linkedOnly || linked.has(e.id)) &&
    (topic === '' || onTopic.has(e.id) || besideIt.has(e.id)) &&
    (chosen === undefined ||
      part === 'everything' ||
      (part === 'its trace' ? traced : around).has(e.id) ||
      e.id === chosen)
  const nodes: Node[] = known.filter(isInView).map((e) => ({
    id: e.id,
    name: e.name.replaceAll('`', ''),
    group: groupOf(e.kind),
    faded: e.state === 'superseded' || e.retired !== undefined || (topic !== '' && !onTopic.has(e.id)),
  }))
  const change = (name: 'id' | 'at', value: string | undefined) => {
    const next = new URLSearchParams(place.get().params)
    if (value === undefined) next.delete(name)
    else next.set(name, value)
    go(`/graph${next.size > 0 ? `?${next}` : ''}`, true)
  }
  const choose = (id: string | undefined) => change('id', id)
  const whatIf = useTool<{ touched: { id: string }[] }>(chosen === undefined ? undefined : 'what-if', {
    ref: chosen,
    ...asOf,
  })
  const touched = whatIf.json?.touched.map((t) => t.id) ?? []

  useEffect(() => {
    let isGone = false
    void import('../graph-view.ts').then(({ createGraphView }) => {
      if (isGone || !canvas.current) return
      view.current = createGraphView(canvas.current, choose)
      setReady(true)
    })
    return () => {
      isGone = true
      view.current?.close()
      view.current = undefined
    }
  }, [])
  const shape = `${isReady} ${nodes.map((n) => `${n.id}${n.faded}`).join()} ${edges.length}`
  useEffect(() => view.current?.show(nodes, edges), [shape])
  useEffect(() => view.current?.focus(chosen, touched), [shape, chosen, touched.join()])

  const matches =
    query === '' ? [] : nodes.filter((n) => n.name.toLowerCase().includes(query.toLowerCase())).slice(0, 8)
  return (
    <Page
      title="Graph"
      lead={
        !isKnown || known.length === 0
          ? 'What is recorded, and how it hangs together.'
          : at === undefined
            ? `${many(nodes.length, 'thing')} and how they hang together. Choose one to see its neighbourhood, and what a change of it reaches.`
            : `As it was on ${full(at)}: ${many(nodes.length, 'thing')}.`
      }
      aside={
        <div class="actions">
          <button type="button" onClick={() => view.current?.saveSvg()}>
            Save SVG
          </button>
          <button type="button" onClick={() => view.current?.savePng()}>
            Save PNG
          </button>
        </div>
      }
    >
      {entities.error && <Trouble error={entities.error} again={entities.again} />}
      <div class="filters">
        <fieldset class="choices legend">
          <legend class="hidden">Kinds in sight</legend>
          {NAMES.map((g) => (
            <button
              type="button"
              key={g}
              aria-pressed={!hidden.has(g)}
              onClick={() =>
                setHidden(hidden.has(g) ? new Set([...hidden].filter((h) => h !== g)) : new Set([...hidden, g]))
              }
            >
              <span class="swatch" style={{ background: hidden.has(g) ? 'none' : `var(--g-${g})` }} /> {g}
            </button>
          ))}
        </fieldset>
        <label class="check">
          <input type="checkbox" checked={linkedOnly} onChange={(e) => setLinkedOnly(e.currentTarget.checked)} /> only
          what is linked
        </label>
      </div>
      <div class="filters">
        <label class="field">
          <span class="hidden">Topic</span>
          <select value={topic} onChange={(e) => setTopic(e.currentTarget.value)}>
            <option value="">All topics</option>
            {topics.slice(0, MOST_TOPICS).map(([name, all]) => (
              <option key={name} value={name}>
                {name} ({all.length})
              </option>
            ))}
          </select>
        </label>
        <label class="field grow">
          <span class="hidden">Find in the graph</span>
          <input
            type="search"
            placeholder="Find in the graph"
            value={query}
            onInput={(e) => setQuery(e.currentTarget.value)}
          />
        </label>
        {life && life.born < life.now && (
          <Then
            life={life}
            at={at === undefined ? life.now : new Date(at).getTime()}
            choose={(ms) => change('at', ms >= life.now ? undefined : new Date(ms).toISOString())}
          />
        )}
      </div>
      {matches.length > 0 && (
        <div class="actions found">
          {matches.map((n) => (
            <button type="button" key={n.id} onClick={() => choose(n.id)}>
              {n.name.slice(0, 60)}
            </button>
          ))}
        </div>
      )}
      <div class={isKnown && known.length === 0 ? 'graph bare' : 'graph'}>
        <div class="canvas" ref={canvas} role="img" aria-label="The graph; the list beside it says the same in words" />
        <aside aria-label="Chosen">
          {!isKnown ? (
            !entities.error && <Waiting />
          ) : chosen === undefined ? (
            <MostLinked nodes={nodes} edges={edges} choose={choose} />
          ) : (
            <>
              <Choices label="What of it to show" all={VIEWS} chosen={part} choose={setPart} />
              <Chosen
                id={chosen}
                known={known}
                edges={edges}
                touched={touched}
                chain={choice?.evolution ?? []}
                choose={choose}
              />
            </>
          )}
        </aside>
      </div>
    </Page>
  )
}

const topicsOf = (e: Entity): string[] => (Array.isArray(e.topics) ? e.topics.filter((t) => typeof t === 'string') : [])

const SLIDING_MS = 250

/** The moment whose graph is shown. */
function Then(props: { life: Life; at: number; choose: (at: number) => void }) {
  const [at, setAt] = useState(props.at)
  useEffect(() => setAt(props.at), [props.at])
  useEffect(() => {
    const timer = setTimeout(() => at !== props.at && props.choose(at), SLIDING_MS)
    return () => clearTimeout(timer)
  }, [at])
  return <MomentSlider label="As of" life={props.life} at={at} choose={setAt} />
}

const LISTED = 14

function MostLinked(props: { nodes: readonly Node[]; edges: readonly Edge[]; choose: (id: string) => void }) {
  const counts = new Map<string, number>()
  for (const { from, to } of props.edges) for (const id of [from, to]) counts.set(id, (counts.get(id) ?? 0) + 1)
  const most = props.nodes.filter((n) => counts.has(n.id)).sort((a, b) => counts.get(b.id)! - counts.get(a.id)!)
  if (most.length === 0)
    return (
      <Empty title="Nothing is linked yet">
        Links come with what agents record; <code>tidemark relate A supports B</code> makes one.
      </Empty>
    )
  return (
    <>
      <h2>Most linked</h2>
      <ul class="plain">
        {most.slice(0, LISTED).map((n) => (
          <li key={n.id}>
            <button type="button" class="quiet" onClick={() => props.choose(n.id)}>
              <Prose text={n.name} />
            </button>{' '}
            <span class="muted nowrap">{many(counts.get(n.id)!, 'link')}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function Chosen(props: {
  id: string
  known: readonly Entity[]
  edges: readonly Edge[]
  touched: readonly string[]
  chain: readonly string[]
  choose: (id: string | undefined) => void
}) {
  const { id, edges, touched, chain } = props
  const names = new Map(props.known.map((e) => [e.id, e.name]))
  const recorded = new Map(props.known.map((e) => [e.id, e.recorded]))
  const around = edges.filter((l) => l.from === id || l.to === id)
  return (
    <>
      <h2>
        <Ref id={id} name={names.get(id)} />
      </h2>
      <button type="button" onClick={() => props.choose(undefined)}>
        Show everything
      </button>
      {chain.length > 1 && (
        <>
          <h3>How it came to this</h3>
          <ol class="chain">
            {chain.map((step) => (
              <li key={step} aria-current={step === id ? 'step' : undefined}>
                {recorded.has(step) && <Day at={recorded.get(step)!} />} <Ref id={step} name={names.get(step)} />
              </li>
            ))}
          </ol>
        </>
      )}
      <h3>{many(around.length, 'link')}</h3>
      <ul class="plain">
        {around.map((l) => (
          <li key={`${l.from} ${l.type} ${l.to}`}>
            <span class="muted">{l.from === id ? `${l.type} →` : `← ${l.type}`}</span>{' '}
            <button type="button" class="quiet" onClick={() => props.choose(l.from === id ? l.to : l.from)}>
              <Prose text={names.get(l.from === id ? l.to : l.from) ?? (l.from === id ? l.to : l.from)} />
            </button>
          </li>
        ))}
      </ul>
      {touched.length > 0 && (
        <>
          <h3>A change of it reaches</h3>
          <ul class="plain">
            {touched.map((t) => (
              <li key={t}>
                <Ref id={t} name={names.get(t)} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
