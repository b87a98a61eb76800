import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { access, here, useTool } from './api.ts'
import { following } from './live.ts'
import { Briefing } from './pages/briefing.tsx'
import { EntityPage } from './pages/entity.tsx'
import { Evolution } from './pages/evolution.tsx'
import { GraphPage } from './pages/graph.tsx'
import { Knowledge } from './pages/knowledge.tsx'
import { Now } from './pages/now.tsx'
import { Review } from './pages/review.tsx'
import { Signals } from './pages/signals.tsx'
import { Empty, Page } from './parts.tsx'
import { place } from './router.ts'

interface View {
  path: string
  /** Pages without one are reached from others. */
  name?: string
  show: ComponentType
  /** The number that waits behind it. */
  waits?: (status: Status) => number
}

export interface Status {
  entities: number
  links: number
  toReview: number
  /** Entities that others want to change. */
  waiting: number
  conflicts: number
  lastWrite: string | null
  kinds: { [kind: string]: number }
}

const VIEWS: readonly View[] = [
  { path: '/', name: 'Now', show: Now, waits: (s) => s.conflicts },
  { path: '/briefing', name: 'Briefing', show: Briefing },
  { path: '/knowledge', name: 'Knowledge', show: Knowledge },
  { path: '/review', name: 'Review', show: Review, waits: (s) => s.toReview + s.waiting },
  { path: '/evolution', name: 'Evolution', show: Evolution },
  { path: '/graph', name: 'Graph', show: GraphPage },
  { path: '/signals', name: 'Signals', show: Signals },
  { path: '/entity', show: EntityPage },
]

export function App() {
  const { path } = place.use()
  const Show = VIEWS.find((v) => v.path === path)?.show ?? Missing
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Side path={path} />
      <main id="main">
        <Banner />
        {access.use() === 'out' ? <Locked /> : <Show />}
      </main>
    </>
  )
}

function Side({ path }: { path: string }) {
  const project = here.use()?.project
  const pages = useRef<HTMLElement>(null)
  const { json: status } = useTool<Status>(access.use() === 'in' ? 'status' : undefined)
  const isCounted = status !== undefined // what waits makes some names longer
  useEffect(
    () => pages.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    [path, isCounted],
  )
  return (
    <header class="side">
      <div class="brand">
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          <path d="M1 5q3.5-3 7 0t7 0M1 11q3.5-3 7 0t7 0" />
        </svg>
        <span title={project?.root}>{project?.name ?? 'Tidemark'}</span>
      </div>
      <nav aria-label="Pages" ref={pages}>
        <ul>
          {VIEWS.filter((v) => v.name).map((v) => {
            const n = status && v.waits ? v.waits(status) : 0
            return (
              <li key={v.path}>
                <a href={v.path} aria-current={v.path === path ? 'page' : undefined}>
                  {v.name}
                  {n > 0 && (
                    <span class="count">
                      {n}
                      <span class="hidden"> waiting</span>
                    </span>
                  )}
                </a>
              </li>
            )
          })}
        </ul>
      </nav>
      <Pulse />
    </header>
  )
}

const PULSE = { connecting: ['connecting …', ''], live: ['live', 'good'], stopped: ['stopped', 'bad'] } as const

function Pulse() {
  const [text, tone] = PULSE[following.use()]
  return (
    <p class={`pulse ${tone}`} role="status">
      <span class="dot" aria-hidden="true" /> {text}
    </p>
  )
}

function Banner() {
  const state = following.use()
  const isIn = access.use() === 'in'
  const isPersons = here.use()?.person ?? true
  if (state === 'stopped' && isIn)
    return (
      <p class="banner warn" role="status">
        The server has stopped. What you see is what was known last; <code>tidemark ui</code> in a terminal brings it
        back.
      </p>
    )
  if (isIn && !isPersons)
    return (
      <p class="banner">
        No person on a terminal opened this page. It shows everything and approves nothing; to decide, run{' '}
        <code>tidemark ui</code> yourself.
      </p>
    )
  return null
}

const Locked = () => (
  <Page title="Not signed in">
    <Empty title="This browser has no key to the project">
      Run <code>tidemark ui</code> in a terminal and open the link that it prints. Each link opens one browser, once,
      and is good for ten minutes. A page that was open goes on by itself after that.
    </Empty>
  </Page>
)

const Missing = () => (
  <Page title="No such page">
    <Empty title="Nothing is at this address">
      Begin at <a href="/">Now</a>.
    </Empty>
  </Page>
)
