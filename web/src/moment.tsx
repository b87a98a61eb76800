/** A moment of the project's life, chosen with a slider or by the name that somebody gave it. */
import { useState } from 'preact/hooks'
import { useTool } from './api.ts'
import type { Entity } from './pages/knowledge.tsx'
import type { StreamEvent } from './pages/now.tsx'
import { full } from './parts.tsx'

export interface Life {
  born: number
  now: number
  marks: readonly { name: string; at: number; note?: string | undefined }[]
}

/** From the first event to now, with the moments that have a name. */
export function useLife(): Life | undefined {
  const events = useTool<{ events: StreamEvent[] }>('events', { since: 0, limit: 1 }).json?.events
  const marks = useTool<Entity[]>('mark').json ?? []
  const [now] = useState(Date.now)
  if (events === undefined) return undefined
  const born = events[0] ? new Date(events[0].timestamp).getTime() : now
  const named = marks.map((m) => ({
    name: m.name,
    at: new Date(typeof m.at === 'string' ? m.at : m.recorded).getTime(),
    note: typeof m.note === 'string' ? m.note : undefined,
  }))
  return { born, now, marks: named.filter((m) => m.at >= born && m.at <= now).sort((a, b) => a.at - b.at) }
}

const STEPS = 500

export function MomentSlider(props: { label: string; life: Life; at: number; choose: (at: number) => void }) {
  const { label, life, at, choose } = props
  const length = Math.max(1, life.now - life.born)
  const stepOf = (ms: number) => Math.round(((ms - life.born) * STEPS) / length)
  const said = at >= life.now ? 'now' : full(at)
  const id = `marks-${label}`
  return (
    <div class="slider">
      <label>
        <span>
          {label} <strong>{said}</strong>
        </span>
        <input
          type="range"
          min={0}
          max={STEPS}
          value={stepOf(at)}
          aria-valuetext={said}
          {...(life.marks.length > 0 && { list: id })}
          onInput={(event) => {
            const step = Number(event.currentTarget.value)
            choose(step >= STEPS ? life.now : Math.round(life.born + (length * step) / STEPS))
          }}
        />
      </label>
      <datalist id={id}>
        {life.marks.map((m) => (
          <option key={m.name} value={stepOf(m.at)} label={m.name} />
        ))}
      </datalist>
      {life.marks.length > 0 && (
        <div class="choices">
          {life.marks.map((m) => (
            <button
              type="button"
              key={m.name}
              title={[full(m.at), m.note].filter(Boolean).join(': ')}
              aria-pressed={m.at === at}
              onClick={() => choose(m.at)}
            >
              {m.name}
              <span class="hidden"> for {label.toLowerCase()}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
