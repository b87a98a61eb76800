/** The parts that pages are made of. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { ApiError, Asked, Json } from './api.ts'
import { entityHref } from './router.ts'
import { createStore } from './store.ts'

export function Page(props: {
  title: string
  lead?: ComponentChildren
  children: ComponentChildren
  aside?: ComponentChildren
}) {
  // with the page itself, not after it is painted
  useLayoutEffect(() => {
    document.title = `${props.title} · Tidemark`
  }, [props.title])
  return (
    <>
      <header class="page-head">
        <div>
          <h1 tabIndex={-1}>
            <Prose text={props.title} />
          </h1>
          {props.lead && <p class="lead">{props.lead}</p>}
        </div>
        {props.aside}
      </header>
      {props.children}
    </>
  )
}

let panels = 0

export function Panel(props: {
  title: string
  count?: number | undefined
  aside?: ComponentChildren
  children: ComponentChildren
}) {
  const [id] = useState(() => `panel-${++panels}`)
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>
          {props.title}
          {props.count !== undefined && props.count > 0 && <span class="count">{props.count}</span>}
        </h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  )
}

/** What stands where nothing is yet: what would be here, and what makes it come. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p class="title">{title}</p>
    {children && <p>{typeof children === 'string' ? <Prose text={children} /> : children}</p>}
  </div>
)

export const Trouble = ({ error, again }: { error: ApiError; again?: (() => void) | undefined }) => (
  <div class="trouble" role="alert">
    <Para class="title" text={error.message} />
    {error.hint && <Para text={error.hint} />}
    {again && <Button label="Try again" onClick={again} />}
  </div>
)

/** What a tool says: while it is asked, where it refuses, where there is nothing, and else its content. */
export function Told<T>(props: { of: Asked<T>; empty?: ComponentChildren; children: (json: T) => ComponentChildren }) {
  const { of: asked } = props
  if (asked.json === undefined) return asked.error ? <Trouble error={asked.error} again={asked.again} /> : <Waiting />
  return (
    <>
      {asked.error && asked.error.code !== 'stopped' && <Trouble error={asked.error} again={asked.again} />}
      {(asked.json as { length?: number }).length === 0 ? props.empty : props.children(asked.json)}
    </>
  )
}

/** What a tool lists, a row for each. */
export const Rows = <I,>(props: {
  of: Asked<readonly I[]>
  empty?: ComponentChildren
  row: (item: I) => ComponentChildren
}) => (
  <Told of={props.of} empty={props.empty}>
    {(list) => <ul class="rows">{list.map(props.row)}</ul>}
  </Told>
)

/** Takes a step that may be refused, and shows why it was. */
export function useAttempt() {
  const [error, setError] = useState<ApiError>()
  const attempt = async (step: () => Promise<unknown>): Promise<boolean> => {
    setError(undefined)
    try {
      await step()
      return true
    } catch (e) {
      setError(e as ApiError)
      return false
    }
  }
  return { attempt, trouble: error && <Trouble error={error} /> }
}

/** Shows only after a moment: what is there at once needs no word about it. */
export const Waiting = () => <p class="waiting">Asking …</p>

/** Text with `code` in it; a backtick alone is one. */
export const Prose = ({ text }: { text: string }) => (
  <>{text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>
)

export const Para = ({ text, class: look }: { text: string; class?: string }) => (
  <p class={look}>
    <Prose text={text} />
  </p>
)

export const Note = ({ text }: { text: string }) => <Para class="muted" text={text} />

export const Strong = ({ text }: { text: string }) => (
  <strong>
    <Prose text={text} />
  </strong>
)

const clock = createStore(Date.now())
setInterval(() => clock.set(Date.now()), 10_000)

const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

function span(ms: number): string {
  for (const [unit, size] of UNITS)
    if (ms >= size) {
      const n = Math.floor(ms / size)
      return `${n} ${unit}${unit === 'day' && n > 1 ? 's' : ''}`
    }
  return 'under a minute'
}

export const full = (at: string): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A moment in a few words, itself at hand. */
const Time = ({ at, text, class: look }: { at: string; text: string; class?: string }) => (
  <time class={look} dateTime={at} title={full(at)}>
    {text}
  </time>
)

export function Ago({ at }: { at: string }) {
  const ms = clock.use() - new Date(at).getTime()
  return <Time at={at} text={ms < 60_000 ? 'just now' : `${span(ms)} ago`} />
}

/** How long ago, at the end of a row. */
export const When = ({ at }: { at: string }) => (
  <span class="row-end muted">
    <Ago at={at} />
  </span>
)

export function Left({ until }: { until: string }) {
  const ms = new Date(until).getTime() - clock.use()
  return <Time at={until} text={ms <= 0 ? 'run out' : `${span(ms)} left`} />
}

export const Clock = ({ at }: { at: string }) => (
  <Time at={at} text={new Date(at).toLocaleTimeString(undefined, { timeStyle: 'medium', hourCycle: 'h23' })} />
)

export const Day = ({ at }: { at: string }) => (
  <Time class="muted" at={at} text={new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium' })} />
)

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent'
export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

export const kindOf = (id: string): string => id.slice(0, Math.max(0, id.indexOf(':')))

/** Something recorded, by its kind and name. */
export const Ref = ({ id, name }: { id: string; name?: string | undefined }) => (
  <a class="ref" href={entityHref(id)} title={id}>
    <Badge>{kindOf(id)}</Badge>{' '}
    <span class="ref-name">
      <Prose text={name ?? id.slice(id.indexOf(':') + 1)} />
    </span>
  </a>
)

/** Several of these, each in its own line of a list. */
export const Refs = ({ ids, names }: { ids: readonly string[]; names?: ReadonlyMap<string, string> }) => (
  <>
    {ids.map((id) => (
      <li key={id}>
        <Ref id={id} name={names?.get(id)} />
      </li>
    ))}
  </>
)

/** JSON without the marks that only a parser needs. */
export const asText = (value: Json): string =>
  typeof value !== 'object' || value === null
    ? String(value)
    : Array.isArray(value)
      ? `[${value.map(asText).join(', ')}]`
      : Object.entries(value)
          .map(
            ([k, v]) =>
              `${k}: ${typeof v === 'object' && v !== null && !Array.isArray(v) ? `{ ${asText(v)} }` : asText(v)}`,
          )
          .join(', ')

/** A value as people read it. */
export function Value({ value }: { value: Json }) {
  if (value === null) return <span class="muted">nothing</span>
  if (typeof value === 'string') return <Prose text={value} />
  if (Array.isArray(value) && value.every((v) => typeof v !== 'object')) return <Prose text={value.join(', ')} />
  if (typeof value === 'object') return <code>{asText(value)}</code>
  return <>{String(value)}</>
}

/** `optionsConsidered` as people read it. */
export const inWords = (field: string): string => field.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)

export const many = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`

export const Button = ({ label, ...rest }: ButtonHTMLAttributes & { label: ComponentChildren }) => (
  <button type="button" {...rest}>
    {label}
  </button>
)

/** One of many, below a label. */
export const Select = (props: {
  label: string
  all: readonly (readonly [value: string, name: string])[]
  chosen: string
  choose: (value: string) => void
}) => (
  <label class="field">
    {props.label}
    <select value={props.chosen} onChange={(e) => props.choose(e.currentTarget.value)}>
      {props.all.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

/** One of a few, all in sight. */
export const Choices = <T extends string>(props: {
  label: string
  all: readonly T[]
  chosen: T
  choose: (one: T) => void
}) => (
  <fieldset class="choices">
    <legend class="hidden">{props.label}</legend>
    {props.all.map((one) => (
      <Button key={one} label={one} aria-pressed={one === props.chosen} onClick={() => props.choose(one)} />
    ))}
  </fieldset>
)
