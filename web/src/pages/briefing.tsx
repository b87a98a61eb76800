import { useState } from 'preact/hooks'
import { part, useTool } from '../api.ts'
import { Empty, many, Page, Panel, Para, Prose, Refs, Select, Told } from '../parts.tsx'

interface Brief {
  text: string
  tokens: number
  sections: { name: string; ids: string[]; tokens: number; omitted: number }[]
}

const BUDGETS = ['800', '2000', '4000'].map((n) => [n, `${n} tokens`] as const)

const CLIENTS = [['claude', 'Claude Code'], ['codex', 'Codex'], ['', 'another client']] as const // biome-ignore format: a list

export function Briefing() {
  const [budget, setBudget] = useState('2000')
  const [client, setClient] = useState<string>('claude')
  const brief = useTool<Brief>('brief', { budget: Number(budget), ...(client && { client }) })
  return (
    <Page
      title="Briefing"
      lead="What the next session is told when it starts, word for word, and what each part of it costs."
      aside={
        <>
          <Select label="Client" all={CLIENTS} chosen={client} choose={setClient} />
          <Select label="Budget" all={BUDGETS} chosen={budget} choose={setBudget} />
        </>
      }
    >
      <div class="columns uneven">
        <Panel title="The text">
          <Told
            of={part(brief, (b) => b.text)}
            empty={
              <Empty title="There is nothing to tell yet">
                Rules, decisions and what did not work stand here once they are recorded:{' '}
                <code>tidemark remember "…"</code>
              </Empty>
            }
          >
            {(text) => <BriefText text={text} />}
          </Told>
        </Panel>
        <Panel title="Sections">
          <Told of={part(brief, (b) => b.sections)} empty={<Empty title="No section has anything to say" />}>
            {() => <Sections brief={brief.json!} />}
          </Told>
        </Panel>
      </div>
    </Page>
  )
}

/** The briefing with its headings, and the fence behind which nothing is an instruction. */
const BriefText = ({ text }: { text: string }) => (
  <div class="brief">
    {text.split('\n').map((line, i) => {
      const heading = /^#{2,3} (.*)$/.exec(line)?.[1]
      if (heading !== undefined)
        return (
          <h3 key={i} class={line.startsWith('###') ? 'minor' : ''}>
            <Prose text={heading} />
          </h3>
        )
      if (/^<\/?tidemark-data/.test(line)) return <Para key={i} class="fence" text={line} />
      return <Para key={i} text={line || '\u00a0'} />
    })}
  </div>
)

function Sections({ brief }: { brief: Brief }) {
  const most = Math.max(...brief.sections.map((s) => s.tokens), 1)
  return (
    <ul class="rows">
      {brief.sections.map((s) => (
        <li key={s.name}>
          <div class="row-head">
            <strong>{s.name}</strong>
            <span class="row-end muted">{many(s.tokens, 'token')}</span>
          </div>
          <div class="bar" aria-hidden="true">
            <span style={{ width: `${(100 * s.tokens) / most}%` }} />
          </div>
          {s.ids.length > 0 && (
            <details>
              <summary>
                {many(s.ids.length, 'entry', 'entries')}
                {s.omitted > 0 && `, ${s.omitted} left out`}
              </summary>
              <ul class="plain">
                <Refs ids={s.ids} />
              </ul>
            </details>
          )}
        </li>
      ))}
      <li class="row-head">
        <strong>Together, with headings</strong>
        <span class="row-end muted">{many(brief.tokens, 'token')}</span>
      </li>
    </ul>
  )
}
