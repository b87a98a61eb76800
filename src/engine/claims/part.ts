import { overlap, type Span } from '../../model/lines.ts'
import { isGlob } from './glob.ts'

/** What a claim holds of its file; without any of it, the file. */
export interface Part {
  /** As somebody wrote it: `#Cart.total`, or `:12-40`. */
  readonly part?: string
  /** Lines of the version with this id in git; without one, of the file as it was when it was claimed. */
  readonly lines?: readonly Span[]
  readonly base?: string
}

/** The part of a file that the end of a place names. */
const PART = /^(?:#[^#/\s*?{}]{1,200}|:[1-9]\d{0,7}(?:-[1-9]\d{0,7})?)$/
export const isPart = (v: unknown): v is string => typeof v === 'string' && PART.test(v)
/** What was meant for one, and is none. */
const NO_PART = /^(?:#|:[\d,-]*)$/

type Place = { on: string; part?: string }

/** `src/cart.ts#total` and `src/cart.ts:12-40` in two, unless a file has that name. Nothing for what is no part of one file. */
export function splitPlace(place: string, isThere: (path: string) => boolean): Place | undefined {
  const name = place.lastIndexOf('/') + 1
  const at = Math.max(place.indexOf('#', name), place.lastIndexOf(':'))
  const [on, part] = [place.slice(0, at), place.slice(at)]
  if (at <= name || isThere(place)) return { on: place }
  if (!PART.test(part)) return NO_PART.test(part) ? undefined : { on: place }
  const before = on.slice(Math.max(on.lastIndexOf('#'), on.lastIndexOf(':')))
  return isThere(on) || !(isGlob(on) || PART.test(before)) ? { on, part } : undefined
}

/** A claim as its holder would write it. */
export const placeOf = ({ on, part = '' }: { on: string } & Part): string => `${on}${part}`

export const symbolOf = ({ part }: Part): string | undefined => (part?.startsWith('#') ? part.slice(1) : undefined)

/** `:12-40` as a span. */
export function linesOf({ part }: Part): Span | undefined {
  if (!part?.startsWith(':')) return undefined
  const numbers = part.slice(1).split('-').map(Number)
  return [Math.min(...numbers) - 1, Math.max(...numbers)]
}

/** `total` may be `Cart.total`, and is within `Cart`. */
const isWithin = (inner: string, outer: string): boolean => `.${inner}.`.includes(`.${outer}.`)

/** Whether what two claims hold of one file meets. What cannot be compared does. */
export function partsMeet(a: Part, b: Part): boolean {
  if (a.lines && b.lines && a.base === b.base) return a.lines.some((s) => b.lines!.some((t) => overlap(s, t)))
  const [x, y] = [symbolOf(a), symbolOf(b)]
  return x === undefined || y === undefined || isWithin(x, y) || isWithin(y, x)
}
