import { useTool } from '../api.ts'
import { Badge, Empty, Page, Prose, Refs, Rows, Strong, type Tone } from '../parts.tsx'

interface Signal {
  id: string
  severity: string
  line: string
  entities: string[]
  evidence: string[]
  next: string
}

const TONES: Readonly<Record<string, Tone>> = { critical: 'bad', high: 'bad', medium: 'warn', warning: 'warn', low: 'plain', info: 'plain' } // biome-ignore format: a table

export const Signals = () => (
  <Page
    title="Patterns noticed"
    lead="What recurs in everything that is recorded: each with what it rests on, and the next step."
  >
    <section class="panel" aria-label="Patterns">
      <Rows
        of={useTool<Signal[]>('signals', { limit: 100 })}
        empty={
          <Empty title="No patterns noticed">
            Rules with many exceptions, failures that repeat and decisions that are often corrected show here, once
            there are enough of them to tell.
          </Empty>
        }
        row={(s) => (
          <li key={s.id}>
            <div class="row-head">
              <Badge tone={TONES[s.severity] ?? 'plain'}>{s.severity}</Badge>
              <Strong text={s.line.replace(/^[^\p{L}\d"`]*/u, '')} />
            </div>
            <p>
              <code>{s.next}</code>
            </p>
            <details>
              <summary>What it rests on</summary>
              <ul class="plain">
                {s.evidence.map((line) => (
                  <li key={line} class="muted">
                    <Prose text={line} />
                  </li>
                ))}
                <Refs ids={s.entities} />
              </ul>
            </details>
          </li>
        )}
      />
    </section>
  </Page>
)
