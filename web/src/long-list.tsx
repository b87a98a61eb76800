/** Lists of any length: only the rows near the window are drawn, and only those are asked for. */
import type { ComponentChildren, HTMLAttributes, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type Asked, call, changes } from './api.ts'

/** Rows drawn beyond each end of the window: the Tab key finds the next one, and a quick hand sees no gap. */
const SPARE = 12

/** Where each row begins; one that was not seen is taken to be as high as `usual`. */
function tops(count: number, heights: ReadonlyMap<number, number>, usual: number): Float64Array {
  const all = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) all[i + 1] = all[i]! + (heights.get(i) ?? usual)
  return all
}

/** The first row that ends below a height. */
function rowAt(all: Float64Array, y: number): number {
  let [low, high] = [0, all.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle + 1]! <= y) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The rows from `from` up to `to` are to be drawn, each with `data-row`, between two gaps of these heights. `list` is
 * their parent. One that is not known yet is drawn `usual` high: else the end would move when it comes.
 */
function useRows(list: RefObject<HTMLElement | null>, count: number, guess: number) {
  const heights = useRef(new Map<number, number>())
  // settled once: if it changed with each row that is seen, all rows far down would move
  const usual = useRef<number>(undefined)
  const [[first, last], setSeen] = useState<readonly [number, number]>([0, 30])
  const [, measure] = useState(0)
  const all = tops(count, heights.current, usual.current ?? guess)
  const look = useRef(() => {})
  look.current = () => {
    if (!list.current) return
    const top = list.current.getBoundingClientRect().top
    const seen = [rowAt(all, -top), rowAt(all, innerHeight - top)] as const
    setSeen((now) => (now[0] === seen[0] && now[1] === seen[1] ? now : seen))
  }
  useEffect(() => {
    const listen = () => look.current()
    const anew = () => {
      heights.current.clear() // a new width gives new heights
      usual.current = undefined
      measure((n) => n + 1)
    }
    addEventListener('scroll', listen, { passive: true })
    addEventListener('resize', anew)
    return () => {
      removeEventListener('scroll', listen)
      removeEventListener('resize', anew)
    }
  }, [])
  useLayoutEffect(() => {
    let isNew = false
    for (const row of list.current?.querySelectorAll<HTMLElement>(':scope > [data-row]') ?? []) {
      const [i, { height }] = [Number(row.dataset.row), row.getBoundingClientRect()] as const
      if (heights.current.get(i) === height) continue
      heights.current.set(i, height)
      isNew = true
    }
    if (heights.current.size >= SPARE)
      usual.current ??= heights.current.values().reduce((a, b) => a + b, 0) / heights.current.size
    if (isNew) measure((n) => n + 1)
    look.current()
  })
  const from = Math.max(0, Math.min(first, count) - SPARE)
  const to = Math.min(count, last + 1 + SPARE)
  /** Brings a row into the window, also one that is not drawn. */
  const show = (i: number) => {
    const row = list.current?.querySelector(`:scope > [data-row="${i}"]`)
    if (row) row.scrollIntoView({ block: 'nearest' })
    else if (list.current) scrollBy(0, list.current.getBoundingClientRect().top + all[i]! - innerHeight / 2)
  }
  return { from, to, above: all[from]!, below: all[count]! - all[to]!, usual: usual.current ?? guess, show }
}

interface LongListProps extends HTMLAttributes<HTMLUListElement> {
  count: number
  /** How high a row is, about. */
  guess: number
  keyOf: (i: number) => string
  /** Undefined: it is not known yet. */
  row: (i: number) => ComponentChildren
  /** The row that is chosen; it is brought into sight. */
  current?: number
  onEnter?: (i: number) => void
  /** The end is in sight. */
  onEnd?: () => void
  /** The rows from one up to another are drawn. */
  onSee?: (from: number, to: number) => void
}

/** A list whose rows are drawn as they come into sight. */
export function LongList({ count, guess, keyOf, row, current, onEnter, onEnd, onSee, ...rest }: LongListProps) {
  const list = useRef<HTMLUListElement>(null)
  const { from, to, above, below, usual, show } = useRows(list, count, guess)
  useEffect(() => {
    if (current !== undefined && document.activeElement === list.current) show(current)
  }, [current])
  useEffect(() => {
    if (to === count) onEnd?.()
  }, [to, count])
  useEffect(() => onSee?.(from, to), [from, to])
  return (
    <ul ref={list} {...rest}>
      <li class="gap" aria-hidden="true" style={{ height: `${above}px` }} />
      {Array.from({ length: to - from }, (_, k) => from + k).map((i) => {
        const content = row(i)
        return (
          <li
            key={keyOf(i)}
            data-row={i}
            aria-setsize={count}
            aria-posinset={i + 1}
            aria-current={i === current ? 'true' : undefined}
            onFocusCapture={onEnter && (() => onEnter(i))}
            style={content === undefined ? { height: `${usual}px` } : undefined}
          >
            {content ?? <p class="muted">…</p>}
          </li>
        )
      })}
      <li class="gap" aria-hidden="true" style={{ height: `${below}px` }} />
    </ul>
  )
}

const PAGE = 100
/** Nobody reads what flies by. */
const FLYING_MS = 80
const TRY_AGAIN_MS = 1_000

interface Paged<T> {
  /** What stands in a row, once it is known. */
  at(i: number): T | undefined
  /** The number of rows, once the end has been seen. */
  length: number | undefined
  /** So many rows there are at least. */
  least: number
}

/** The rows of a long answer of a tool that takes `limit` and `offset`; those in sight are kept up to date. */
export function usePages<T>(tool: string, args: object, from: number, to: number): Paged<T> & Asked<Paged<T>> {
  const key = JSON.stringify(args)
  const [state, setState] = useState({ key, pages: new Map<number, T[]>(), error: undefined as ApiError | undefined })
  const change = changes.use()
  const asked = useRef(0)
  const now = state.key === key ? state : { key, pages: new Map<number, T[]>(), error: undefined }
  const [first, last] = [Math.floor(from / PAGE), Math.floor(Math.max(from, to - 1) / PAGE)]
  const seen = useRef(change)
  useEffect(() => {
    const isStale = seen.current !== change
    const wanted = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const missing = wanted.filter((page) => isStale || !now.pages.has(page))
    if (missing.length === 0) return
    const run = ++asked.current
    const ask = async () => {
      try {
        const got = await Promise.all(
          missing.map(
            async (page) =>
              [page, (await call<T[]>(tool, { ...args, limit: PAGE, offset: page * PAGE })).json] as const,
          ),
        )
        if (asked.current !== run) return
        seen.current = change
        // after a change the rows elsewhere may stand in other places
        setState((s) => ({
          key,
          pages: new Map([...(isStale || s.key !== key ? [] : s.pages), ...got]),
          error: undefined,
        }))
      } catch (error) {
        if (asked.current === run) setState((s) => ({ ...s, error: error as ApiError }))
      }
    }
    const timer = setTimeout(ask, now.pages.size === 0 ? 0 : now.error ? TRY_AGAIN_MS : FLYING_MS)
    return () => clearTimeout(timer)
  }, [key, first, last, change, now.error])
  const short = [...now.pages].filter(([, rows]) => rows.length < PAGE).sort(([a], [b]) => a - b)[0]
  const paged: Paged<T> = {
    at: (i) => now.pages.get(Math.floor(i / PAGE))?.[i % PAGE],
    length: short && short[0] * PAGE + short[1].length,
    least: Math.max(0, ...[...now.pages].map(([page, rows]) => (rows.length > 0 ? page * PAGE + rows.length : 0))),
  }
  return { ...paged, json: now.pages.size > 0 ? paged : undefined, error: now.error }
}
