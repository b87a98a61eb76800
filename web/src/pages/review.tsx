import { useRef, useState } from 'preact/hooks'
import { call, type Json, part, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { LongList, usePages } from '../long-list.tsx'
import { Badge, Button, Empty, many, Note, Page, Para, Prose, Ref, Told, useAttempt, When } from '../parts.tsx'
import { drawn, readVersion } from '../seen.ts'
import type { Entity } from './knowledge.tsx'

type Noted = { notes?: string[] }

/** What was decided here, newest last, with what takes it back. */
type Decision = { id: string; name: string; said: string; batch: string }

const KEYS = [
  ['y', 'yes'],
  ['n', 'no'],
  ['l', 'later'],
  ['u', 'undo'],
] as const

/** An entity of which something waits; with `wants`, what `by` would change of it, and the rule that would be there `instead`. */
type Waits = Entity & { by?: string; wants?: string; instead?: Entity }

export function Review() {
  const [[from, to], setSeen] = useState<readonly [number, number]>([0, 1])
  const status = useTool<Status>('status').json
  const waiting = usePages<Waits>('review', {}, from, to)
  // what is stale, and changes of skills, come after what the status counts
  const count = waiting.length ?? Math.max(waiting.least, (status?.toReview ?? 0) + (status?.waiting ?? 0))
  const [later, setLater] = useState<ReadonlySet<string>>(new Set())
  const [decided, setDecided] = useState<readonly Decision[]>([])
  const newest = useRef(decided)
  /** Keys come faster than answers: one step after another. */
  const steps = useRef<Promise<unknown>>(Promise.resolve())
  const { attempt, trouble } = useAttempt()
  const [at, setAt] = useState(0)
  const isDecided = new Set(decided.map((d) => d.id))
  const isOpen = (e: Waits | undefined) => e === undefined || !(later.has(e.id) || isDecided.has(e.id))
  /** The places of what is shown in the answer of the tool. */
  const places = Array.from({ length: count }, (_, i) => i).filter((i) => isOpen(waiting.at(i)))
  const itemAt = (i: number) => waiting.at(places[i] ?? -1)
  const current = Math.min(at, places.length - 1)

  const batchOf = async (actions: Json[]): Promise<string> =>
    (await call<{ batch: string }>('act', { actions })).json.batch
  const run = (body: () => Promise<readonly Decision[]>) => {
    const step = async () => {
      newest.current = await body()
      setDecided(newest.current)
    }
    steps.current = steps.current.then(() => attempt(step))
  }
  const decide = (e: Waits, isYes: boolean) =>
    run(async () => {
      if (e.kind === 'mutation' || newest.current.some((d) => d.id === e.id)) return newest.current
      const [verb, said, rest] = verbOf(e, isYes)
      const other = isYes ? e.instead : undefined
      const also = other ? [['confirm', { ref: other.id, expectedVersion: readVersion(other) }]] : []
      const batch = await batchOf([[verb, { ref: e.id, ...rest }], ...also])
      return [...newest.current, { id: e.id, name: nameOf(e), said, batch }]
    })
  const undo = () =>
    run(async () => {
      const last = newest.current.at(-1)
      const { notes = [] } = last ? (await call<Noted>('act', { actions: [['undo', { batch: last.batch }]] })).json : {}
      if (notes.length > 0) throw new Error(notes.join('; '))
      return newest.current.slice(0, -1)
    })
  const onKeyDown = (event: KeyboardEvent) => {
    const e = itemAt(current)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowDown' || event.key === 'j') setAt(Math.min(current + 1, places.length - 1))
    else if (event.key === 'ArrowUp' || event.key === 'k') setAt(Math.max(current - 1, 0))
    else if (event.key === 'u') undo()
    else if (e && event.key === 'y') decide(e, true)
    else if (e && event.key === 'n') decide(e, false)
    else if (e && event.key === 'l') setLater(new Set([...later, e.id]))
    else return
    event.preventDefault()
  }
  return (
    <Page
      title="Review"
      lead="What others want to change, what agents proposed and what the code has left behind. Nothing here binds anybody until you say yes."
      aside={
        <p class="keys muted">
          {KEYS.map(([key, name]) => (
            <span key={key}>
              <kbd>{key}</kbd> {name}
            </span>
          ))}
        </p>
      }
    >
      {trouble}
      <p class="done" role="status">
        {decided.length > 0 && (
          <>
            {decided.at(-1)!.said}: <Prose text={decided.at(-1)!.name} /> <Button label="Undo" onClick={undo} />
          </>
        )}
      </p>
      <section class="panel" aria-label="Waiting">
        <Told
          of={part(waiting, () => places)}
          empty={
            <Empty title={later.size > 0 ? `${many(later.size, 'thing')} left for later` : 'Nothing waits for you'}>
              {decided.length > 0 ? `${many(decided.length, 'decision')} made here. ` : ''}
              Changes that others want, rules that agents want, links they propose, and knowledge whose code has changed
              show here as they come.
            </Empty>
          }
        >
          {() => (
            <LongList
              class="rows queue"
              tabIndex={0}
              onKeyDown={onKeyDown}
              aria-label="Proposals; y yes, n no, l later, u undo"
              count={places.length}
              guess={120}
              keyOf={(i) => keyOf(itemAt(i)) ?? `place ${places[i]}`}
              current={current}
              onEnter={setAt}
              onSee={(first, end) => {
                const next = (places[end - 1] ?? 0) + 1
                setSeen([places[first] ?? 0, next >= count ? next + 1 : next]) // whether there is more
              }}
              row={(i) => {
                const e = itemAt(i)
                return e && <Item entity={e} decide={(isYes) => decide(e, isYes)} />
              }}
            />
          )}
        </Told>
      </section>
    </Page>
  )
}

const keyOf = (e: Waits | undefined): string | undefined => e && `${e.id} ${e.wants ?? ''}`

const verbOf = (e: Waits, isYes: boolean): [verb: string, said: string, rest: { [name: string]: Json }] => {
  if (e.stale)
    return isYes ? ['re-anchor', 'Still holds', {}] : ['retire', 'Retired', { reason: 'the code has changed' }]
  const [taken, kept] = e.wants === undefined ? ['Confirmed', 'Rejected'] : ['Taken over', 'Kept as it was']
  return [isYes ? 'confirm' : 'reject', isYes ? taken : kept, { expectedVersion: readVersion(e) }]
}

/** What the two buttons say. */
const answersTo = (e: Waits): [string, string] =>
  e.stale ? ['It still holds', 'Retire'] : e.wants !== undefined ? ['Take the change', 'Keep mine'] : ['Yes', 'No']

const nameOf = (e: Entity): string => (e.kind === 'relationship' ? `${e.from} ${e.type} ${e.to}` : e.name)

const SAYS = ['rationale', 'description', 'context', 'wrongBelief', 'outcome', 'trigger'] as const

function Item({ entity: e, decide }: { entity: Waits; decide: (isYes: boolean) => void }) {
  drawn(e)
  if (e.instead) drawn(e.instead)
  const by = (Array.isArray(e.provenance) ? e.provenance.at(-1) : undefined) as
    | { agent?: string; user?: string; source?: string }
    | undefined
  const from = by?.source ?? [by?.agent, by?.user && `for ${by.user}`].filter(Boolean).join(' ')
  const category = typeof e.category === 'string' ? e.category : undefined
  return (
    <>
      <div class="row-head">
        <Ref id={e.id} name={nameOf(e)} />
        {category && <Badge>{category}</Badge>}
        {e.stale && <Badge tone="warn">stale</Badge>}
        {e.wants !== undefined && <Badge tone="warn">from others</Badge>}
        <When at={e.recorded} />
      </div>
      {e.wants !== undefined && (
        <p>
          <strong>{e.by}</strong>, unverified, <Prose text={e.wants} />
        </p>
      )}
      {e.instead && <Para text={String(e.instead.fact ?? e.instead.name)} />}
      {e.stale && <Note text={e.stale} />}
      {SAYS.map((f) => typeof e[f] === 'string' && e[f] !== e.name && <Para key={f} text={e[f]} />)}
      {from && e.wants === undefined && <p class="muted">from {from}</p>}
      {e.kind === 'mutation' ? (
        <p>
          <a href="/evolution">See what it would change</a>
        </p>
      ) : (
        <div class="actions">
          {answersTo(e).map((answer, i) => (
            <button key={answer} type="button" onClick={() => decide(i === 0)}>
              {answer}
              <span class="hidden"> to {nameOf(e)}</span>
            </button>
          ))}
        </div>
      )}
    </>
  )
}
