import { useState } from 'preact/hooks'
import { here, useTool } from '../api.ts'
import { Approve, Diff } from '../approve.tsx'
import { Bars } from '../bars.tsx'
import {
  Badge,
  Choices,
  Empty,
  many,
  Note,
  Page,
  Panel,
  Prose,
  Rows,
  Strong,
  Told,
  type Tone,
  When,
} from '../parts.tsx'
import type { Entity } from './knowledge.tsx'

interface Mutation {
  id: string
  entity: string
  change: string
  status: string
  skill: string
  trigger?: string
  target: string
  recorded: string
}

interface Maturity {
  level: string
  declared: { level?: string }
  dimensions: { name: string; score: number; evidence: string }[]
  gap?: { level: string; met: number; of: number; steps: { dimension: string; must: boolean; step: string }[] }
}

const TONES: Readonly<Record<string, Tone>> = { proposed: 'accent', applied: 'good', approved: 'good', kept: 'good', rejected: 'plain', reverted: 'warn' } // biome-ignore format: a table
const SHOWN = ['waiting', 'all'] as const

export function Evolution() {
  const [shown, setShown] = useState<(typeof SHOWN)[number]>('all')
  const mutations = useTool<Mutation[]>('mutation', { do: 'list' })
  const [said, setSaid] = useState('')
  const passing = (list: readonly Mutation[]) => list.filter((m) => shown === 'all' || m.status === 'proposed')
  return (
    <Page
      title="Evolution"
      lead="What goes wrong again and again becomes a step of a skill, if you agree. Every change can be taken back."
    >
      <p class="done" role="status">
        {said}
      </p>
      <Panel
        title="Changes of skills"
        count={mutations.json?.filter((m) => m.status === 'proposed').length}
        aside={<Choices label="Which changes" all={SHOWN} chosen={shown} choose={setShown} />}
      >
        <Rows
          of={mutations}
          list={passing}
          empty={
            <Empty title="No change is proposed">
              <Prose
                text={
                  'Three observations of the same trouble propose one: `tidemark observe deploy "skipped the smoke test" --cost "2 h"`.'
                }
              />
            </Empty>
          }
          row={(m) => <MutationRow key={m.entity} mutation={m} done={setSaid} />}
        />
      </Panel>
      <div class="columns">
        <Observations />
        <div>
          <MaturityPanel />
          <Rules />
        </div>
      </div>
    </Page>
  )
}

function MutationRow({ mutation: m, done }: { mutation: Mutation; done: (text: string) => void }) {
  const isWaiting = ['proposed', 'approved'].includes(m.status)
  const [isOpen, setOpen] = useState(isWaiting)
  const { json } = useTool<{ change: string; outcome?: Outcome }>('mutation', { do: 'show', ref: m.id })
  const isPersons = here.use()?.person ?? false
  const step = (action: string) => ({ tool: 'mutation', args: { do: action, ref: m.id }, done })
  return (
    <li>
      <div class="row-head">
        <code>{m.id}</code>
        <Strong text={m.change} />
        <Badge tone={TONES[m.status] ?? 'plain'}>{m.status}</Badge>
        <When at={m.recorded} />
      </div>
      {m.trigger && <Note text={m.trigger} />}
      {json?.outcome && <BeforeAfter outcome={json.outcome} />}
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The change of {m.target}</summary>
        {json && <Diff text={json.change} />}
      </details>
      {isPersons ? (
        <div class="actions">
          {isWaiting && <Approve label="Approve" isMain {...step('approve')} />}
          {isWaiting && <Approve label="Reject" {...step('reject')} />}
          {m.status === 'applied' && <Approve label="Keep" {...step('keep')} />}
          {['applied', 'kept'].includes(m.status) && <Approve label="Revert" {...step('revert')} />}
        </div>
      ) : (
        isWaiting && (
          <p class="muted">
            A person decides: <code>tidemark mutation approve {m.id}</code>
          </p>
        )
      )}
    </li>
  )
}

interface Outcome {
  verdict: string
  /** How often it recurred, of how many. */
  before: [number, number]
  after: [number, number]
}

const VERDICTS: Readonly<Record<string, Tone>> = { improved: 'good', worse: 'bad', unchanged: 'warn' }

/** How often the trouble came before the skill was changed, and since. */
const BeforeAfter = ({ outcome: o }: { outcome: Outcome }) => (
  <div class="outcome">
    <Badge tone={VERDICTS[o.verdict] ?? 'plain'}>{o.verdict}</Badge>
    {(['before', 'after'] as const).map((when) => (
      <div key={when}>
        <span class="muted">
          {when} {o[when][0]} of {o[when][1]}
        </span>
        <div class="bar" aria-hidden="true">
          <span class={when} style={{ width: `${(100 * o[when][0]) / Math.max(1, o[when][1])}%` }} />
        </div>
      </div>
    ))}
  </div>
)

const WEEKS = 12
const DAY = 86_400_000

interface Observation extends Entity {
  good: boolean
  amounts: { minutes: number; tokens: number; money: { [sign: string]: number } }
}

function Observations() {
  const observations = useTool<Observation[]>('list', { kind: 'observation', limit: 1000 })
  return (
    <Panel title="Observations" count={observations.json?.length}>
      <Told
        of={observations}
        empty={
          <Empty title="Nothing is observed yet">
            <Prose
              text={
                'What an operation cost, or saved, is one line: `tidemark observe deploy "rollout was smooth" --ok`.'
              }
            />
          </Empty>
        }
      >
        {(list) => {
          const at = (e: Entity) => new Date(typeof e.observed === 'string' ? e.observed : e.recorded).getTime()
          const since = Math.max(Math.min(...list.map(at)), Date.now() - WEEKS * 7 * DAY)
          const days = Math.max(1, Math.ceil((Date.now() - since) / DAY)) + 1
          const perDay = (of: (e: Observation) => number) => {
            const n = Array.from({ length: days }, () => 0)
            for (const e of list) if (at(e) >= since) n[Math.floor((at(e) - since) / DAY)]! += of(e)
            return n
          }
          const hours = (good: boolean) => {
            let sum = 0
            return perDay((e) => (e.good === good ? e.amounts.minutes / 60 : 0)).map((n) => (sum += n))
          }
          const operations = [...Map.groupBy(list, (e) => String(e.operation ?? 'other'))]
          return (
            <>
              <Bars
                label="Observations per day: what went wrong, and what went well"
                from={since}
                series={[
                  { name: 'went wrong', color: '--warn', values: perDay((e) => Number(!e.good)) },
                  { name: 'went well', color: '--good', values: perDay((e) => Number(e.good)) },
                ]}
              />
              <Bars
                label="Hours in all that observations say were lost, and saved"
                isSum
                from={since}
                series={[
                  { name: 'hours lost', color: '--warn', values: hours(false) },
                  { name: 'hours saved', color: '--good', values: hours(true) },
                ]}
              />
              <table>
                <thead>
                  <tr>
                    <th scope="col">Operation</th>
                    <th scope="col">Seen</th>
                    <th scope="col">What recurs</th>
                  </tr>
                </thead>
                <tbody>
                  {operations.map(([operation, all]) => (
                    <tr key={operation}>
                      <td class="nowrap">{operation}</td>
                      <td>{all.length}</td>
                      <td>{recurring(all)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          )
        }}
      </Told>
    </Panel>
  )
}

function recurring(all: readonly Entity[]): string {
  const [first] = [...Map.groupBy(all, (e) => e.name)].sort((a, b) => b[1].length - a[1].length)
  return first === undefined || first[1].length < 2 ? '' : `${first[0]} (${many(first[1].length, 'time')})`
}

function MaturityPanel() {
  const maturity = useTool<Maturity>('maturity', {}, false)
  return (
    <Panel title="Maturity">
      <Told of={maturity}>
        {(m) => (
          <>
            <p class="pad">
              The repository shows <strong>{m.level}</strong>
              {m.declared.level && m.declared.level !== m.level && <>, and declares {m.declared.level}</>}.
            </p>
            <Radar all={m.dimensions} />
            <ul class="rows">
              {m.dimensions.map((d) => (
                <li key={d.name}>
                  <div class="row-head">
                    <strong>{d.name}</strong>
                    <meter min={0} max={100} value={d.score} aria-label={d.name} />
                    <span class="row-end muted">{d.score} of 100</span>
                  </div>
                  <p class="muted">{d.evidence}</p>
                </li>
              ))}
            </ul>
            {m.gap && m.gap.steps.length > 0 && (
              <details class="pad">
                <summary>
                  What {m.gap.level} needs ({m.gap.met} of {m.gap.of} met)
                </summary>
                <ul class="bullets">
                  {m.gap.steps.map((s) => (
                    <li key={s.step}>
                      {s.step}
                      {s.must && ' (must)'}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Told>
    </Panel>
  )
}

const SIZE = 100

/** All dimensions at a glance; the list below says the same in words. */
function Radar({ all }: { all: Maturity['dimensions'] }) {
  const at = (i: number, share: number): [number, number] => {
    const angle = (2 * Math.PI * i) / all.length - Math.PI / 2
    return [SIZE * share * Math.cos(angle), SIZE * share * Math.sin(angle)]
  }
  const ring = (share: (i: number) => number) =>
    all
      .map((_, i) =>
        at(i, share(i))
          .map((n) => n.toFixed(1))
          .join(),
      )
      .join(' ')
  const said = all.map((d) => `${d.name} ${d.score}`).join(', ')
  return (
    <svg class="radar" viewBox="-190 -125 380 250" role="img" aria-label={`Maturity of 100: ${said}`}>
      {[0.25, 0.5, 0.75, 1].map((share) => (
        <polygon key={share} class="ring" points={ring(() => share)} />
      ))}
      <polygon class="shape" points={ring((i) => all[i]!.score / 100)} />
      {all.map((d, i) => {
        const [x, y] = at(i, 1.1)
        return (
          <text key={d.name} x={x} y={y + 4} text-anchor={Math.abs(x) < 20 ? 'middle' : x < 0 ? 'end' : 'start'}>
            {d.name}
          </text>
        )
      })}
    </svg>
  )
}

interface Rule {
  name: string
  level?: string
  description?: string
}

function Rules() {
  const rules = useTool<{ active: Rule[]; dormant: Rule[] }>('rules', {}, false)
  return (
    <Panel title="Rules of the way of working" count={rules.json?.active.length}>
      <Rows
        of={rules}
        list={({ active, dormant }) => [
          ...active.map((rule) => ({ ...rule, isActive: true })),
          ...dormant.map((rule) => ({ ...rule, isActive: false })),
        ]}
        empty={
          <Empty title="No rules are kept here">
            <Prose text="`tidemark rules init` writes those that come with the package, each with its level." />
          </Empty>
        }
        row={(rule) => (
          <li key={rule.name} class="row-head">
            <span>{rule.name}</span>
            {rule.isActive ? <Badge tone="good">active</Badge> : <Badge>dormant</Badge>}
            {rule.level && <span class="row-end muted">{rule.level}</span>}
          </li>
        )}
      />
    </Panel>
  )
}
