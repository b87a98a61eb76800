import { useEffect, useRef, useState } from 'preact/hooks'
import { useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import type { Edge, GraphView, Node } from '../graph-view.ts'
import { Button, Day, Empty, many, Page, Prose, Ref, Refs, Trouble, Waiting } from '../parts.tsx'
import { go, place } from '../router.ts'
import type { Entity } from './knowledge.tsx'

/** Kinds that mean alike share a colour, so that few colours tell them apart. */
const GROUPS = {
  decisions: ['decision'],
  rules: ['fact', 'principle', 'pattern', 'exception'],
  lessons: ['learning', 'correction', 'failed-approach', 'insight'],
  questions: ['question', 'hypothesis'],
  work: ['goal', 'activity', 'task', 'result', 'action-note', 'handoff', 'observation', 'mutation', 'retro-score'],
  code: ['file'],
  documents: ['chunk', 'turn'],
  other: [],
} as const satisfies Readonly<Record<string, readonly string[]>>
export type Group = keyof typeof GROUPS

const groupOf = (kind: string): Group =>
  (Object.keys(GROUPS) as Group[]).find((g) => (GROUPS[g] as readonly string[]).includes(kind)) ?? 'other'

/** Fields that name other entities are links as well: the activity of a task, the evidence of a change. */
const namedIn = (e: Entity, known: ReadonlySet<string>): Edge[] =>
  Object.entries(e).flatMap(([field, value]) => {
    if (field === 'id' || field === 'replacedBy') return [] // what took its place is linked to it
    return (Array.isArray(value) ? value : [value])
      .filter((v): v is string => typeof v === 'string' && known.has(v))
      .map((to) => ({ from: e.id, to, type: field }))
  })

/** What the graph shows of a thing; `refs` are the fields that name others. */
const DRAWN = 'id,name,kind,recorded,validFrom,state,retired,refs'
const MOST = 6_000
/** Of so many, those without a link would only be dust. */
const MANY = 200
const MOST_LINKS = 20_000
const NAMES = Object.keys(GROUPS) as Group[]
export function GraphPage() {
  const { params } = place.use()
  const entities = useTool<Entity[]>('list', { limit: MOST, all: true, fields: DRAWN })
  const links = useTool<Edge[]>('list', { kind: 'relationship', limit: MOST_LINKS, fields: 'from,type,to' })
  const [hidden, setHidden] = useState<ReadonlySet<Group>>(new Set(['documents'])) // pieces of documents would hide the rest
  const [wish, setLinkedOnly] = useState<boolean>()
  const [query, setQuery] = useState('')
  const canvas = useRef<HTMLDivElement>(null)
  const view = useRef<GraphView>(undefined)
  const [isReady, setReady] = useState(false)
  const isKnown = entities.json !== undefined && links.json !== undefined
  const total = useTool<Status>('status').json?.entities
  const known = entities.json ?? []
  const ids = new Set(known.map((e) => e.id))
  const inView = known.filter((e) => e.kind !== 'context' && !hidden.has(groupOf(e.kind)))
  const idsInView = new Set(inView.map((e) => e.id))
  const chosen = [params.get('id') ?? ''].find((id) => ids.has(id))
  const edges = [...(links.json ?? []), ...known.flatMap((e) => namedIn(e, ids))].filter(
    ({ from, to }) => idsInView.has(from) && idsInView.has(to),
  )
  const linked = new Set(edges.flatMap((l) => [l.from, l.to]))
  const linkedOnly = wish ?? (known.length > MANY && linked.size > 0)
  const nodes: Node[] = inView
    .filter((e) => e.id === chosen || !linkedOnly || linked.has(e.id))
    .map((e) => ({
      id: e.id,
      name: e.name.replaceAll('`', ''),
      group: groupOf(e.kind),
      faded: e.state === 'superseded' || e.retired !== undefined,
    }))
  const choose = (id: string | undefined) =>
    go(id === undefined ? '/graph' : `/graph?id=${encodeURIComponent(id)}`, true)
  const asked = chosen === undefined ? {} : { ref: chosen }
  const chain = useTool<{ evolution: string[] }>(chosen && 'trace', asked).json?.evolution ?? []
  const whatIf = useTool<{ touched: { id: string }[] }>(chosen && 'what-if', asked)
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
          : `${nodes.length} of ${many(Math.max(total ?? 0, known.length), 'thing')}, and how they hang together. Choose one to see its neighbourhood, and what a change of it reaches.`
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
        <label class="field grow">
          <span class="hidden">Find in the graph</span>
          <input
            type="search"
            placeholder="Find in the graph"
            value={query}
            onInput={(e) => setQuery(e.currentTarget.value)}
          />
        </label>
      </div>
      {matches.length > 0 && (
        <div class="actions found">
          {matches.map((n) => (
            <Button key={n.id} label={n.name.slice(0, 60)} onClick={() => choose(n.id)} />
          ))}
        </div>
      )}
      <div class={isKnown && known.length === 0 ? 'graph bare' : 'graph'}>
        <div class="canvas" ref={canvas} role="img" aria-label="The graph; the list beside it says the same in words" />
        <aside aria-label="Chosen">
          {!isKnown ? (
            !entities.error && <Waiting />
          ) : chosen === undefined ? (
            <MostLinked nodes={nodes} edges={edges} all={links.json?.length ?? 0} choose={choose} />
          ) : (
            <Chosen id={chosen} known={known} edges={edges} touched={touched} chain={chain} choose={choose} />
          )}
        </aside>
      </div>
    </Page>
  )
}

const LISTED = 14

function MostLinked(props: { nodes: readonly Node[]; edges: readonly Edge[]; all: number; choose(id: string): void }) {
  const counts = new Map<string, number>()
  for (const { from, to } of props.edges) for (const id of [from, to]) counts.set(id, (counts.get(id) ?? 0) + 1)
  const most = props.nodes.filter((n) => counts.has(n.id)).sort((a, b) => counts.get(b.id)! - counts.get(a.id)!)
  if (most.length === 0)
    return props.all > 0 ? (
      <Empty title={`${many(props.all, 'link')} between kinds out of sight`}>Choose them above.</Empty>
    ) : (
      <Empty title="Nothing is linked yet">
        Links come with what agents record; <code>tidemark relate</code> proposes some.
      </Empty>
    )
  return (
    <>
      <h2>Most linked</h2>
      <ul class="plain">
        {most.slice(0, LISTED).map((n) => (
          <li key={n.id}>
            <Button class="quiet" label={<Prose text={n.name} />} onClick={() => props.choose(n.id)} />{' '}
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
  const since = new Map(props.known.map((e) => [e.id, String(e.validFrom ?? e.recorded)]))
  const around = edges.filter((l) => l.from === id || l.to === id)
  return (
    <>
      <h2>
        <Ref id={id} name={names.get(id)} />
      </h2>
      <Button label="Show everything" onClick={() => props.choose(undefined)} />
      {chain.length > 1 && (
        <>
          <h3>How it came to this</h3>
          <ol class="chain">
            {chain.map((step) => (
              <li key={step} aria-current={step === id ? 'step' : undefined}>
                {since.has(step) && <Day at={since.get(step)!} />} <Ref id={step} name={names.get(step)} />
              </li>
            ))}
          </ol>
        </>
      )}
      <h3>{many(around.length, 'link')}</h3>
      <ul class="plain">
        {around.map(({ from, type, to }) => {
          const other = from === id ? to : from
          const name = <Prose text={names.get(other) ?? other} />
          return (
            <li key={`${from} ${type} ${to}`}>
              <span class="muted">{from === id ? `${type} →` : `← ${type}`}</span>{' '}
              <Button class="quiet" label={name} onClick={() => props.choose(other)} />
            </li>
          )
        })}
      </ul>
      {touched.length > 0 && (
        <>
          <h3>A change of it reaches</h3>
          <ul class="plain">
            <Refs ids={touched} names={names} />
          </ul>
        </>
      )}
    </>
  )
}
