import { useState } from 'preact/hooks'
import { here, part, useTool } from '../api.ts'
import { Approve, Diff } from '../approve.tsx'
import { Badge, Choices, Empty, many, Note, Page, Panel, Rows, Strong, Told, type Tone, When } from '../parts.tsx'
import type { Entity } from './knowledge.tsx'

interface Mutation {
  id: string
  entity: string
  change: string
  status: string
  trigger?: string
  target: string
  recorded: string
}

const TONES: Readonly<Record<string, Tone>> = { proposed: 'accent', applied: 'good', approved: 'good', kept: 'good', rejected: 'plain', reverted: 'warn' } // biome-ignore format: a table
const SHOWN = ['waiting', 'all'] as const

export function Evolution() {
  const [shown, setShown] = useState<(typeof SHOWN)[number]>('all')
  const mutations = useTool<Mutation[]>('mutation', { do: 'list' })
  const [said, setSaid] = useState('')
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
          of={part(mutations, (list) => list.filter((m) => shown === 'all' || m.status === 'proposed'))}
          empty={
            <Empty title="No change is proposed">
              Three observations of the same trouble propose one: `tidemark observe deploy "skipped the smoke test"
              --cost "2 h"`.
            </Empty>
          }
          row={(m) => <MutationRow key={m.entity} mutation={m} done={setSaid} />}
        />
      </Panel>
      <Observations />
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
        isWaiting && <Note text={`A person decides: \`tidemark mutation approve ${m.id}\``} />
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
          <span
            class={when === 'before' ? 'warn' : ''}
            style={{ width: `${(100 * o[when][0]) / Math.max(1, o[when][1])}%` }}
          />
        </div>
      </div>
    ))}
  </div>
)

function Observations() {
  const observations = useTool<(Entity & { good: boolean; amounts: { minutes: number } })[]>('list', {
    kind: 'observation',
    limit: 1000,
  })
  return (
    <Panel title="Observations" count={observations.json?.length}>
      <Told
        of={observations}
        empty={
          <Empty title="Nothing is observed yet">
            What an operation cost, or saved, is one line: `tidemark observe deploy "rollout was smooth" --ok`.
          </Empty>
        }
      >
        {(list) => (
          <table>
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col">Seen</th>
                <th scope="col">Went wrong</th>
                <th scope="col">Hours lost</th>
                <th scope="col">What recurs</th>
              </tr>
            </thead>
            <tbody>
              {[...Map.groupBy(list, (e) => String(e.operation ?? 'other'))].map(([operation, all]) => {
                const wrong = all.filter((e) => !e.good)
                return (
                  <tr key={operation}>
                    <td class="nowrap">{operation}</td>
                    <td>{all.length}</td>
                    <td>{wrong.length}</td>
                    <td>{(wrong.reduce((sum, e) => sum + e.amounts.minutes, 0) / 60).toFixed(1)}</td>
                    <td>{recurring(all)}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
      </Told>
    </Panel>
  )
}

function recurring(all: readonly Entity[]): string {
  const [first] = [...Map.groupBy(all, (e) => e.name)].sort((a, b) => b[1].length - a[1].length)
  return first === undefined || first[1].length < 2 ? '' : `${first[0]} (${many(first[1].length, 'time')})`
}
