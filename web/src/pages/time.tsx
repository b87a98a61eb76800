import { useEffect, useState } from 'preact/hooks'
import { useTool } from '../api.ts'
import { type Life, MomentSlider, useLife } from '../moment.tsx'
import {
  Badge,
  Choices,
  Empty,
  many,
  Page,
  Panel,
  Prose,
  Ref,
  Rows,
  Told,
  type Tone,
  Value,
  Waiting,
} from '../parts.tsx'
import type { Entity } from './knowledge.tsx'
import { Marks } from './knowledge.tsx'

interface Difference {
  changes: {
    change: string
    id: string
    name: string
    why?: string
    by?: string
    fields?: { field: string; was: never; is: never }[]
  }[]
}

const SLIDING_MS = 120
const MOST = 300
const TONES: Readonly<Record<string, Tone>> = { added: 'good', changed: 'accent', superseded: 'warn', retracted: 'bad' }
const VIEWS = ['what changed', 'what held then'] as const

export function Time() {
  const life = useLife()
  return (
    <Page title="Time" lead="The project's knowledge as of any moment, and what two moments differ in.">
      {life === undefined ? (
        <Waiting />
      ) : life.born < life.now ? (
        <Moments key={life.born} life={life} />
      ) : (
        <section class="panel" aria-label="Moments">
          <Empty title="Nothing has happened yet">With what is recorded first the project's life begins.</Empty>
        </section>
      )}
    </Page>
  )
}

const iso = (ms: number) => new Date(ms).toISOString()

function Moments({ life }: { life: Life }) {
  const [[from, to], setMoments] = useState<[number, number]>([(life.born + life.now) / 2, life.now])
  const [asked, setAsked] = useState<[number, number]>([from, to])
  const [view, setView] = useState<(typeof VIEWS)[number]>('what changed')
  useEffect(() => {
    const timer = setTimeout(() => setAsked([from, to]), SLIDING_MS)
    return () => clearTimeout(timer)
  }, [from, to])
  const at = iso(asked[0])
  return (
    <>
      <section class="panel" aria-label="Moments">
        <div class="moments">
          <MomentSlider label="From" life={life} at={from} choose={(ms) => setMoments([ms, Math.max(ms, to)])} />
          <MomentSlider label="To" life={life} at={to} choose={(ms) => setMoments([Math.min(from, ms), ms])} />
        </div>
        {life.marks.length === 0 && (
          <p class="pad muted">
            <Prose text="`tidemark mark before-the-rewrite` gives this moment a name; names stand here." />
          </p>
        )}
      </section>
      <div class="columns uneven">
        <Panel title="Knowledge" aside={<Choices label="What to show" all={VIEWS} chosen={view} choose={setView} />}>
          {view === 'what changed' ? (
            <Changes from={at} to={asked[1] >= life.now ? undefined : iso(asked[1])} />
          ) : (
            <Held at={at} />
          )}
        </Panel>
        <PastSignals at={at} />
      </div>
    </>
  )
}

function Changes({ from, to }: { from: string; to: string | undefined }) {
  const diff = useTool<Difference>('diff', { from, ...(to && { to }) })
  return (
    <Told
      of={diff}
      isEmpty={(d) => d.changes.length === 0}
      empty={<Empty title="Nothing that is known changed">Move the moments apart.</Empty>}
    >
      {({ changes }) => (
        <ul class="rows">
          {changes.slice(0, MOST).map((c) => (
            <li key={`${c.change} ${c.id}`}>
              <div class="row-head on-one-line">
                <Badge tone={TONES[c.change] ?? 'plain'}>{c.change}</Badge>
                <Ref id={c.id} name={c.name} />
              </div>
              {c.by && (
                <p class="muted">
                  by <Ref id={c.by} />
                </p>
              )}
              {c.fields?.map((f) => (
                <p key={f.field} class="muted">
                  {f.field}: <Value value={f.was} /> → <Value value={f.is} />
                </p>
              ))}
              {c.why && (
                <p class="muted">
                  because: <Prose text={c.why} />
                </p>
              )}
            </li>
          ))}
          {changes.length > MOST && <li class="muted">and {changes.length - MOST} more</li>}
        </ul>
      )}
    </Told>
  )
}

function Held({ at }: { at: string }) {
  const list = useTool<Entity[]>('list', { 'as-of': at, limit: MOST })
  return (
    <Rows
      of={list}
      list={(found) => found}
      empty={<Empty title="Nothing was known then" />}
      row={(e) => (
        <li key={e.id} class="row-head">
          <Ref id={e.id} name={e.name} /> <Marks of={e} />
        </li>
      )}
    />
  )
}

function PastSignals({ at }: { at: string }) {
  const signals = useTool<{ id: string; line: string; severity: string }[]>('signals', { 'as-of': at })
  return (
    <Panel title="Patterns noticed by then" count={signals.json?.length}>
      <Told of={signals} empty={<Empty title="No patterns were noticed by then" />}>
        {(list) => (
          <>
            <ul class="rows">
              {list.map((s) => (
                <li key={s.id}>
                  <Prose text={s.line} />
                </li>
              ))}
            </ul>
            <p class="pad muted">{many(list.length, 'pattern')} on what was recorded up to the first moment</p>
          </>
        )}
      </Told>
      <p class="pad">
        <a href={`/graph?at=${encodeURIComponent(at)}`}>The graph as it was then</a>
      </p>
    </Panel>
  )
}
