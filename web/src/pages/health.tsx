import type { ComponentChildren } from 'preact'
import { type Asked, here, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { Bars } from '../bars.tsx'
import { Ago, Badge, Empty, many, Note, Page, Panel, Prose, Rows, Told } from '../parts.tsx'

interface Check {
  id: string
  state: 'ok' | 'wrong' | 'off'
  text: string
  fix?: string
}

interface HealthJson {
  checks: Check[]
  hooks: { client: string; event: string; calls: number; ms: number; errors: number; last: string }[]
  replicas: { replica: string; lines: number; last?: string; isOwn: boolean; missing: number }[]
  hub: string | null
  isShared: boolean
  unsent: { batches: number; since: string | null }
  told: { at: string; tokens: number }[]
}

const MARKS = { ok: '✓', wrong: '!', off: '–' } as const

export function Health() {
  const status = useTool<Status>('status')
  const health = useTool<HealthJson>('/api/dashboard/health', {}, false)
  const at = here.use()
  const wrong = health.json?.checks.filter((c) => c.state === 'wrong').length ?? 0
  return (
    <Page title="Health" lead="What needs a look on this machine, and what remembering costs.">
      <div class="columns uneven">
        <div>
          <Panel
            title="What is checked"
            aside={
              health.json && (
                <span class="muted">{wrong === 0 ? 'nothing to do' : `${many(wrong, 'thing')} to do`}</span>
              )
            }
          >
            <Rows
              of={health}
              list={({ checks }) =>
                checks.toSorted((a, b) => Number(b.state === 'wrong') - Number(a.state === 'wrong'))
              }
              row={(c) => (
                <li key={`${c.id} ${c.text}`} class={c.state}>
                  <div class="row-head">
                    <span class="mark" aria-hidden="true">
                      {MARKS[c.state]}
                    </span>
                    <span class="hidden">{c.state}:</span>
                    <span>
                      <Prose text={c.text} />
                    </span>
                  </div>
                  {c.fix && <Note text={c.fix} />}
                </li>
              )}
            />
          </Panel>
          <Replicas health={health} />
        </div>
        <div>
          <Panel title="The store">
            <Told of={status}>
              {(s) => (
                <dl class="figures">
                  <Figure name="Things known" value={s.entities.toLocaleString()} />
                  <Figure name="Links" value={s.links.toLocaleString()} />
                  <Figure name="Size on disk" value={`${(s.storeBytes / 1e6).toFixed(1)} MB`} />
                  <Figure name="Last written" value={s.lastWrite ? <Ago at={s.lastWrite} /> : 'never'} />
                  <Figure name="Project" value={<span title={at?.project.root}>{at?.project.name}</span>} />
                  <Figure name="Tidemark" value={at?.version ?? ''} />
                </dl>
              )}
            </Told>
          </Panel>
          <Injected health={health} />
          <Hooks health={health} />
        </div>
      </div>
    </Page>
  )
}

const DAYS = 14
const DAY = 86_400_000

/** What remembering costs the context of the sessions. */
function Injected({ health }: { health: Asked<HealthJson> }) {
  const from = Date.now() - (DAYS - 1) * DAY
  return (
    <Panel title="Tokens told to sessions">
      <Told
        of={health}
        isEmpty={(h) => h.told.length === 0}
        empty={
          <Empty title="No session was told anything yet">A briefing at the start of a session is the first.</Empty>
        }
      >
        {({ told }) => {
          const perDay = Array.from({ length: DAYS }, () => 0)
          for (const t of told) {
            const day = Math.floor((new Date(t.at).getTime() - from) / DAY)
            if (day >= 0 && day < DAYS) perDay[day]! += t.tokens
          }
          return (
            <Bars
              label={`Tokens told to sessions on each of ${DAYS} days`}
              from={from}
              series={[{ name: `tokens in ${DAYS} days`, color: '--accent', values: perDay }]}
            />
          )
        }}
      </Told>
    </Panel>
  )
}

function Hooks({ health }: { health: Asked<HealthJson> }) {
  return (
    <Panel title="Hooks">
      <Told
        of={health}
        isEmpty={(h) => h.hooks.length === 0}
        empty={
          <Empty title="No hook has called yet">
            A client calls at each event of its sessions. <code>tidemark init</code> wires the clients on this machine.
          </Empty>
        }
      >
        {({ hooks }) => (
          <table>
            <thead>
              <tr>
                <th scope="col">Event</th>
                <th scope="col">Calls</th>
                <th scope="col">Usually</th>
                <th scope="col" class="wide-only">
                  Last
                </th>
              </tr>
            </thead>
            <tbody>
              {hooks.map((h) => (
                <tr key={`${h.client} ${h.event}`}>
                  <td>
                    {h.event} <span class="muted nowrap">{h.client}</span>{' '}
                    {h.errors > 0 && <Badge tone="warn">{many(h.errors, 'error')}</Badge>}
                  </td>
                  <td>{h.calls}</td>
                  <td class="nowrap">{Math.round(h.ms)} ms</td>
                  <td class="wide-only muted">
                    <Ago at={h.last} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Told>
    </Panel>
  )
}

/** Who wrote into this store, and how far what is known here has left it. */
function Replicas({ health }: { health: Asked<HealthJson> }) {
  return (
    <Panel title="Replicas" count={health.json?.replicas.length}>
      <Told of={health}>
        {({ replicas, hub, isShared, unsent }) => (
          <>
            <p class="pad">
              {!isShared ? (
                <>
                  Nothing is shared through git yet: <code>tidemark sync</code> writes what travels.
                </>
              ) : unsent.batches === 0 ? (
                'All that travels is in the files that git carries.'
              ) : (
                <>
                  {many(unsent.batches, 'batch', 'batches')} not in the files that git carries, the oldest of{' '}
                  <Ago at={unsent.since!} />: <code>tidemark sync</code> writes them.
                </>
              )}{' '}
              {hub === null ? 'No hub is joined.' : `Joined to ${hub}.`}
            </p>
            <ul class="rows">
              {replicas.map((r) => (
                <li key={r.replica} class="row-head">
                  <code>{r.replica}</code>
                  {r.isOwn && <Badge tone="good">this store</Badge>}
                  {r.missing > 0 && <Badge tone="warn">{r.missing} missing</Badge>}
                  <span class="row-end muted">
                    {many(r.lines, 'batch', 'batches')}
                    {r.last && (
                      <>
                        , the last <Ago at={r.last} />
                      </>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Told>
    </Panel>
  )
}

const Figure = ({ name, value }: { name: string; value: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
