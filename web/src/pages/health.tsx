import type { ComponentChildren } from 'preact'
import { here, useTool } from '../api.ts'
import type { Status } from '../app.tsx'
import { Ago, Empty, many, Page, Panel, Told } from '../parts.tsx'

interface Check {
  id: string
  state: 'ok' | 'wrong' | 'off'
  text: string
  fix?: string
}

const MARKS = { ok: '✓', wrong: '!', off: '–' } as const

export function Health() {
  const status = useTool<Status>('status')
  const checks = useTool<Check[]>('/api/dashboard/health', {}, false)
  const at = here.use()
  const wrong = checks.json?.filter((c) => c.state === 'wrong').length ?? 0
  return (
    <Page
      title="Health"
      lead="Whether everything that is recorded is sound, and what remembering costs on this machine."
    >
      <div class="columns uneven">
        <Panel
          title="What is checked"
          aside={
            checks.json && <span class="muted">{wrong === 0 ? 'all is well' : `${many(wrong, 'thing')} to do`}</span>
          }
        >
          <Told of={checks} empty={<Empty title="Nothing was checked" />}>
            {(list) => (
              <ul class="rows">
                {list
                  .toSorted((a, b) => Number(b.state === 'wrong') - Number(a.state === 'wrong'))
                  .map((c) => (
                    <li key={`${c.id} ${c.text}`} class={c.state}>
                      <div class="row-head">
                        <span class="mark" aria-hidden="true">
                          {MARKS[c.state]}
                        </span>
                        <span class="hidden">{c.state}:</span>
                        <span>{c.text}</span>
                      </div>
                      {c.fix && <p class="muted">{c.fix}</p>}
                    </li>
                  ))}
              </ul>
            )}
          </Told>
        </Panel>
        <Panel title="The store">
          <Told of={status}>
            {(s) => (
              <dl class="figures">
                <Figure name="Things known" value={s.entities.toLocaleString()} />
                <Figure name="Links" value={s.links.toLocaleString()} />
                <Figure name="Size on disk" value={`${(s.storeBytes / 1e6).toFixed(1)} MB`} />
                <Figure name="Last written" value={s.lastWrite ? <Ago at={s.lastWrite} /> : 'never'} />
                <Figure name="Project" value={at?.project.root ?? ''} />
                <Figure name="Tidemark" value={at?.version ?? ''} />
              </dl>
            )}
          </Told>
        </Panel>
      </div>
    </Page>
  )
}

const Figure = ({ name, value }: { name: string; value: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
