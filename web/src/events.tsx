/** What happens in the store, as it happens. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type Asked, call, changes, type Json, useTool } from './api.ts'
import { LongList } from './long-list.tsx'
import type { Tone } from './parts.tsx'
import { asText, Badge, Choices, Clock, Empty, inWords, kindOf, Panel, Para, Ref, Told, Value } from './parts.tsx'

interface StreamEvent {
  event_id: string
  seq: number
  session_id: string | null
  timestamp: string
  event_type: string
  key: string
  value: Json
  previous_value: Json
}

const EVENTS = 60
const EARLIER = 200
const MOST_NEW = 500

const KINDS = { all: undefined, knowledge: 'knowledge', shared: 'share', sessions: 'presence' } as const
type Kind = keyof typeof KINDS
const TONES: Readonly<Record<string, Tone>> = { deleted: 'bad', retired: 'bad', rejected: 'bad', conflict: 'warn', recorded: 'good', confirmed: 'good' } // biome-ignore format: a list

export function Events({ titles }: { titles: ReadonlyMap<string, string> }) {
  const [kind, setKind] = useState<Kind>('all')
  return (
    <Panel
      title="As it happens"
      aside={<Choices label="Which events" all={Object.keys(KINDS) as Kind[]} chosen={kind} choose={setKind} />}
    >
      <Stream key={kind} type={KINDS[kind]} titles={titles} />
    </Panel>
  )
}

function Stream({ type, titles }: { type: string | undefined; titles: ReadonlyMap<string, string> }) {
  const events = useEvents(type)
  return (
    <Told
      of={events}
      empty={
        <Empty title="Nothing has happened yet">
          What agents record, claim and share shows here within a second. `tidemark remember "…"` makes a beginning.
        </Empty>
      }
    >
      {(list) => {
        const names = new Map(list.flatMap((e) => (e.event_type === 'changed' ? [] : nameIn(e))))
        return (
          <LongList
            class="events"
            count={list.length}
            guess={48}
            keyOf={(i) => list.at(-1 - i)!.event_id}
            onEnd={events.earlier}
            row={(i) => <EventRow of={list.at(-1 - i)!} titles={titles} names={names} />}
          />
        )
      }}
    </Told>
  )
}

/** What happened, oldest first: the newest, what comes, and what was before as far as it is asked for. */
function useEvents(type: string | undefined): Asked<StreamEvent[]> & { earlier(): void } {
  const [list, setList] = useState<StreamEvent[]>()
  const [error, setError] = useState<ApiError>()
  const [wish, setWish] = useState(0)
  const change = changes.use()
  const isAsking = useRef(false)
  const isLate = useRef(false)
  const isWhole = useRef(false)
  const ask = async (where: object, limit: number): Promise<StreamEvent[]> =>
    (await call<{ events: StreamEvent[] }>('events', { ...where, limit, ...(type && { type }) })).json.events
  const once = async (body: () => Promise<StreamEvent[]>) => {
    if (isAsking.current) {
      isLate.current = true // what is under way may have missed the change
      return
    }
    isAsking.current = true
    try {
      setList(await body())
      setError(undefined)
    } catch (e) {
      setError(e as ApiError)
    }
    isAsking.current = false
    if (isLate.current) setWish((n) => n + 1)
    isLate.current = false
  }
  useEffect(() => {
    void once(async () => {
      const last = list?.at(-1)
      const news = last && (await ask({ since: last.seq }, MOST_NEW))
      if (news && news.length < MOST_NEW) return [...list!, ...news]
      isWhole.current = false // after a long absence it begins anew
      return ask({}, EVENTS)
    })
  }, [change, wish])
  const earlier = () => {
    const first = list?.[0]
    if (first === undefined || isWhole.current) return
    void once(async () => {
      const before = await ask({ before: first.seq }, EARLIER)
      isWhole.current = before.length === 0
      return [...before, ...list!]
    })
  }
  return { json: list, error, again: () => setWish((n) => n + 1), earlier }
}

type EventProps = { of: StreamEvent; titles: ReadonlyMap<string, string>; names: ReadonlyMap<string, string> }

const EventRow = ({ of: e, titles, names }: EventProps) => (
  <>
    <span class="event-time muted">
      <Clock at={e.timestamp} />
    </span>
    <div>
      <Badge tone={TONES[e.event_type] ?? 'plain'}>{e.event_type.replaceAll('-', ' ')}</Badge>{' '}
      <EventKey of={e} titles={titles} names={names} />
      {e.session_id && <span class="muted"> · {titles.get(e.session_id) ?? e.session_id}</span>}
      <EventValue of={e} />
    </div>
  </>
)

/** Fields by which things are called. */
const CALLED = ['name', 'fact', 'title', 'text', 'question', 'originalAsk', 'approach', 'wrongBelief', 'change', 'summary', 'description', 'what'] // biome-ignore format: a list

const fieldsOf = (value: Json): { [field: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

/** What the thing of an event is called, where the event says it. */
function nameIn({ key, value: said }: StreamEvent): [key: string, name: string][] {
  const value = fieldsOf(said)
  const name = CALLED.map((f) => value[f]).find((v) => typeof v === 'string')
  return name === undefined ? [] : [[key, name]]
}

function EventKey({ of: e, titles, names }: EventProps) {
  if (e.key === e.session_id) return null
  const { from, type, to } = fieldsOf(e.event_type === 'unlinked' ? e.previous_value : e.value)
  if (['linked', 'unlinked'].includes(e.event_type) && typeof from === 'string')
    return (
      <>
        <NamedRef id={from} name={names.get(from)} /> {String(type)}{' '}
        <NamedRef id={String(to)} name={names.get(String(to))} />
      </>
    )
  if (kindOf(e.key) !== '') return <NamedRef id={e.key} name={names.get(e.key)} />
  return <code>{titles.get(e.key) ?? e.key}</code>
}

/** Where the id says nothing and no event here tells the name, it is asked for. */
function NamedRef({ id, name }: { id: string; name: string | undefined }) {
  const isAsked = name === undefined && /:[0-9a-z]{14,}$/.test(id)
  const { json } = useTool<{ name: string }>(isAsked ? 'show' : undefined, { ref: id }, false)
  return <Ref id={id} name={name ?? (json?.name || undefined)} />
}

/** Of an event of sessions and claims, what a reader wants to know beyond who and what. */
const SAID = ['note', 'task', 'status', 'result', 'handoff', 'reason', 'to', 'role', 'parent']

function EventValue({ of: e }: { of: StreamEvent }) {
  const before = fieldsOf(e.previous_value)
  if (e.event_type === 'changed')
    return (
      <Para
        class="value muted"
        text={Object.entries(fieldsOf(e.value))
          .map(([f, v]) => `${inWords(f)}: ${v === null ? `no longer ${asText(before[f] ?? null)}` : asText(v)}`)
          .join(' · ')}
      />
    )
  if (e.value === null || e.event_type === 'linked' || kindOf(e.key) !== '') return null
  if (['update', 'merge', 'delete'].includes(e.event_type) || typeof e.value !== 'object' || Array.isArray(e.value))
    return (
      <p class="value muted">
        <Value value={e.value} />
      </p>
    )
  const { value } = e
  const said = SAID.filter(
    (k) => typeof value[k] === 'string' && value[k] !== e.key && !/^task:/.test(String(value[k])),
  )
  const text = said.map((k) => `${k}: ${String(value[k])}`).join(' · ')
  return text === '' ? null : <Para class="value muted" text={text} />
}
