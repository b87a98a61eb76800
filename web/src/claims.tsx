/** Who holds what, and how it is taken away. */
import { useState } from 'preact/hooks'
import { type Asked, call, part } from './api.ts'
import type { Session } from './pages/now.tsx'
import { Badge, Button, Empty, Left, Panel, Prose, Rows, useAttempt } from './parts.tsx'

export interface Claim {
  n: number
  session: string
  what: 'path' | 'task'
  on: string
  until: string
  note?: string
  role?: string
  implicit?: boolean
}

export function Claims(props: {
  claims: Asked<{ claims: Claim[] }>
  sessions: readonly Session[]
  titles: ReadonlyMap<string, string>
}) {
  const { claims, sessions, titles } = props
  return (
    <Panel title="Claims" count={claims.json?.claims.length}>
      <Rows
        of={part(claims, (c) => c.claims)}
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
  const { attempt, trouble } = useAttempt()
  const act = (verb: string, args: object) => {
    const on = c.what === 'task' ? { task: c.on } : { paths: [c.on] }
    return attempt(() => call('act', { session: c.session, actions: [[verb, { ...on, ...args }]] }))
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
      {trouble}
    </>
  )
}
