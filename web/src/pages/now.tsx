import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type Asked, call, changes, type Json, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { LongList } from '../long-list.tsx'
import {
  Ago,
  Badge,
  Button,
  Choices,
  Clock,
  Empty,
  full,
  kindOf,
  Left,
  many,
  Page,
  Panel,
  Para,
  Prose,
  Ref,
  Rows,
  Strong,
  Told,
  type Tone,
  Trouble,
  Value,
  When,
} from '../parts.tsx'
import { entityHref } from '../router.ts'

export interface Session {
  id: string
  title: string
  state: string
  client?: string
  role?: string
  user?: string
  parent?: string
  branch?: string
  task?: string
  files: string[]
  contextUsed?: number
  seen: string
}

interface Claim {
  n: number
  session: string
  what: 'path' | 'task'
  on: string
  until: string
  note?: string
  role?: string
  implicit?: boolean
}

interface Side {
  name: string
  uncommitted: boolean
}

interface Foreseen {
  collide: { a: Side; b: Side; files: { path: string; places: string[] }[] }[]
}

interface Shared {
  key: string
  value: Json
  version: number
}

export interface StreamEvent {
  event_id: string
  seq: number
  session_id: string | null
  timestamp: string
  event_type: string
  key: string
  value: Json
}

interface Conflict {
  id: string
  field: string
  values: { value: Json; at: string; replica: string }[]
}

const EVENTS = 60
const EARLIER = 200
const MOST_NEW = 500

export function Now() {
  const sessions = useTool<Session[]>('session', { do: 'list' })
  const claims = useTool<{ claims: Claim[] }>('claims')
  const shared = useTool<Shared[]>('share', { do: 'list' })
  const conflicts = useTool<Conflict[]>('conflicts')
  const status = useTool<Status>('status').json
  const ever = useTool<Session[]>('session', { do: 'list', all: true }).json ?? sessions.json
  const titles = new Map(ever?.map((s) => [s.id, s.title]))
  return (
    <Page
      title="Now"
      lead={
        status && (
          <>
            {many(status.entities, 'thing')} known, {many(status.links, 'link')}
            {status.lastWrite && (
              <>
                ; last written <Ago at={status.lastWrite} />
              </>
            )}
          </>
        )
      }
    >
      {conflicts.json && conflicts.json.length > 0 && <Conflicts found={conflicts.json} />}
      <div class="columns">
        <div>
          <Panel title="Live sessions" count={sessions.json?.length}>
            <Rows
              of={sessions}
              list={(all) => all}
              empty={
                <Empty title="Nobody is at work">
                  An agent shows here as soon as it starts in this project. <code>tidemark init</code> wires the clients
                  on this machine.
                </Empty>
              }
              row={(s) => <SessionRow key={s.id} session={s} claims={claims.json?.claims ?? []} />}
            />
          </Panel>
          <Claims claims={claims} sessions={sessions.json ?? []} titles={titles} />
          <Collisions />
          <SharedContext shared={shared} />
        </div>
        <Events titles={titles} />
      </div>
    </Page>
  )
}

const STATES: Readonly<Record<string, Tone>> = { active: 'good', idle: 'plain', crashed: 'bad' }

function SessionRow({ session: s, claims }: { session: Session; claims: readonly Claim[] }) {
  const { json: task } = useTool<{ name: string }>(s.task === undefined ? undefined : 'show', { ref: s.task })
  const held = claims.filter((c) => c.session === s.id)
  const about = [s.user, s.client, s.role, s.branch && `on ${s.branch}`].filter(Boolean).join(' · ')
  return (
    <li class={s.parent === undefined ? '' : 'child'}>
      <div class="row-head">
        <Strong text={s.title} />
        <Badge tone={STATES[s.state] ?? 'plain'}>{s.state}</Badge>
        <When at={s.seen} />
      </div>
      <p class="muted">{about || 'a session'}</p>
      {task && (
        <p>
          <a href={entityHref(s.task!)}>
            <Prose text={task.name} />
          </a>
        </p>
      )}
      {s.files.length > 0 && (
        <p class="muted files" title={s.files.join('\n')}>
          {many(s.files.length, 'file')} in hand: <code>{s.files.slice(-3).join(', ')}</code>
        </p>
      )}
      {held.length > 0 && <p class="muted">holds {many(held.length, 'claim')}</p>}
      {s.contextUsed !== undefined && (
        <p class="meter">
          <meter min={0} max={100} high={80} value={s.contextUsed} aria-label="Context used" />
          <span class="muted">{Math.round(s.contextUsed)} % of its context</span>
        </p>
      )}
    </li>
  )
}

function Claims(props: {
  claims: Asked<{ claims: Claim[] }>
  sessions: readonly Session[]
  titles: ReadonlyMap<string, string>
}) {
  const { claims, sessions, titles } = props
  return (
    <Panel title="Claims" count={claims.json?.claims.length}>
      <Rows
        of={claims}
        list={(c) => c.claims}
        empty={
          <Empty title="Nothing is claimed">
            A claim keeps two agents off the same files. <code>tidemark claim src/cart.ts</code> takes one.
          </Empty>
        }
        row={(c) => (
          <li key={c.n}>
            <div class="row-head">
              <code>{c.on}</code>
              {c.implicit && <Badge>by an edit</Badge>}
              <span class="row-end muted">
                <Left until={c.until} />
              </span>
            </div>
            <p class="muted">
              {titles.get(c.session) ?? c.session}
              {c.role && ` as ${c.role}`}
              {c.note && <Prose text={`: ${c.note}`} />}
            </p>
            <ClaimActions claim={c} others={sessions.filter((o) => o.id !== c.session)} />
          </li>
        )}
      />
    </Panel>
  )
}

/** Gives up a claim in its holder's place, or lets another session go on with it. */
function ClaimActions({ claim: c, others }: { claim: Claim; others: readonly Session[] }) {
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<ApiError>()
  const act = async (verb: string, args: { [name: string]: Json }) => {
    setError(undefined)
    const on: { [name: string]: Json } = c.what === 'task' ? { task: c.on } : { paths: [c.on] }
    await call('act', { session: c.session, actions: [[verb, { ...on, ...args }]] }).catch(setError)
  }
  return (
    <>
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Take it away
        <span class="hidden">
          {' '}
          from {c.session}: {c.on}
        </span>{' '}
        …
      </button>
      {isOpen && (
        <div class="actions">
          <Button label="Release" onClick={() => act('release', {})} />
          {others.map((o) => (
            <Button key={o.id} label={`To ${o.title}`} onClick={() => act('hand-over', { to: o.id })} />
          ))}
        </div>
      )}
      {error && <Trouble error={error} />}
    </>
  )
}

const sideOf = ({ name, uncommitted }: Side): string => (uncommitted ? `${name} (uncommitted)` : name)

/** Git is asked once for each visit: it takes longer than a look at the store. */
function Collisions() {
  const { json } = useTool<Foreseen>('foresee', {}, false)
  if (!json || json.collide.length === 0) return null
  return (
    <Panel title="Will not merge" count={json.collide.length}>
      <ul class="rows">
        {json.collide.map(({ a, b, files }) => (
          <li key={`${a.name} ${b.name}`}>
            <Strong text={`${sideOf(a)} and ${sideOf(b)}`} />
            {files.map((f) => (
              <p key={f.path} class="muted">
                <code>{f.path}</code> {f.places.join('; ')}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function SharedContext({ shared }: { shared: Asked<Shared[]> }) {
  return (
    <Panel title="Shared context" count={shared.json?.length}>
      <Rows
        of={shared}
        list={(all) => all}
        empty={
          <Empty title="Nothing is shared">
            Sessions share values that all of them see at once: <code>tidemark share set test-status '"green"'</code>
          </Empty>
        }
        row={(s) => (
          <li key={s.key}>
            <div class="row-head">
              <strong>{s.key}</strong>
              <span class="row-end muted">version {s.version}</span>
            </div>
            <p class="value">
              <Value value={s.value} />
            </p>
          </li>
        )}
      />
    </Panel>
  )
}

function Conflicts({ found }: { found: readonly Conflict[] }) {
  return (
    <Panel title="Conflicts to settle" count={found.length}>
      <ul class="rows">
        {found.map((c) => (
          <li key={`${c.id} ${c.field}`}>
            <div class="row-head">
              <Ref id={c.id} /> <Badge tone="warn">{c.field}</Badge>
            </div>
            {c.values.map((v) => (
              <p key={`${v.replica} ${v.at}`}>
                <Value value={v.value} /> <span class="muted">{full(v.at)}</span>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const KINDS = { all: undefined, knowledge: 'knowledge', shared: 'share', sessions: 'presence' } as const
type Kind = keyof typeof KINDS
const TONES: Readonly<Record<string, Tone>> = { deleted: 'bad', retired: 'bad', rejected: 'bad', conflict: 'warn', recorded: 'good', confirmed: 'good' } // biome-ignore format: a list

function Events({ titles }: { titles: ReadonlyMap<string, string> }) {
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

interface EventProps {
  of: StreamEvent
  titles: ReadonlyMap<string, string>
  names: ReadonlyMap<string, string>
}

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
const CALLED = ['name', 'fact', 'title', 'question', 'originalAsk', 'approach', 'wrongBelief', 'change', 'summary', 'description', 'what'] // biome-ignore format: a list

/** What the thing of an event is called, where the event says it. */
function nameIn({ key, value }: StreamEvent): [key: string, name: string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const name = CALLED.map((f) => value[f]).find((v) => typeof v === 'string')
  return name === undefined ? [] : [[key, name]]
}

function EventKey({ of: e, titles, names }: EventProps) {
  if (e.key === e.session_id) return null
  if (e.event_type === 'linked' && typeof e.value === 'object' && e.value !== null && !Array.isArray(e.value)) {
    const { from, type, to } = e.value
    return (
      <>
        <Ref id={String(from)} name={names.get(String(from))} /> {String(type)}{' '}
        <Ref id={String(to)} name={names.get(String(to))} />
      </>
    )
  }
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
  if (e.value === null || e.event_type === 'linked' || kindOf(e.key) !== '') return null
  const isShared = ['update', 'merge', 'delete'].includes(e.event_type)
  if (isShared || typeof e.value !== 'object' || Array.isArray(e.value))
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
