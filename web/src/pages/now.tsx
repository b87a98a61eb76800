import { type Asked, type Json, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { type Claim, Claims } from '../claims.tsx'
import { Events } from '../events.tsx'
import { Ago, Badge, Empty, full, many, Page, Panel, Ref, Rows, Strong, type Tone, Value, When } from '../parts.tsx'

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

type Side = { name: string; uncommitted: boolean }

type Foreseen = { collide: { a: Side; b: Side; files: { path: string; places: string[] }[] }[] }

type Shared = { key: string; value: Json; version: number }

type Conflict = { id: string; field: string; values: { value: Json; at: string; replica: string }[] }

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
          <Ref id={s.task!} name={task.name} />
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

const SharedContext = ({ shared }: { shared: Asked<Shared[]> }) => (
  <Panel title="Shared context" count={shared.json?.length}>
    <Rows
      of={shared}
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

const Conflicts = ({ found }: { found: readonly Conflict[] }) => (
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
