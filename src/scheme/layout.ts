import { quote, remark } from './lexical.ts'

/** What is to be printed. Children are made when asked for, so a cut list costs what is shown. */
export type Layout =
  /** `width` may be one more than the length of a text that costs time and is made only when it is shown whole. */
  | { readonly type: 'atom'; readonly width: number; readonly text: () => string }
  | { readonly type: 'text'; readonly text: string }
  /** `:key value`, which stand or go together. */
  | { readonly type: 'pair'; readonly key: string; readonly value: Layout }
  | {
      readonly type: 'group'
      readonly open: string
      readonly close: string
      readonly total: number
      /** Only so many can be shown: there is no room for more. */
      readonly most: number
      readonly item: (index: number) => Layout
      /** Its items may stand one per line when they do not fit in one. */
      readonly lines: boolean
      /** Its width, once it has been measured to the end. */
      width?: number
    }

export type Group = Extract<Layout, { type: 'group' }>

export const atom = (text: string): Layout => ({ type: 'atom', width: text.length, text: () => text })

export const group = (open: string, close: string, items: readonly (() => Layout)[], lines = false): Layout =>
  lazyGroup(open, close, items.length, (i) => items[i]!(), lines)

export function lazyGroup(
  open: string,
  close: string,
  total: number,
  make: (index: number) => Layout,
  lines = false,
  most = total,
): Group {
  const made: Layout[] = []
  const item = (i: number): Layout => {
    made[i] ??= make(i)
    return made[i]
  }
  return { type: 'group', open, close, total, most, item, lines }
}

/** A group wider than this puts its items on lines of their own, if it may. */
const LINE = 100
/** Fewer characters than this show nothing of a sibling: then the first ones are shown and the rest counted. */
export const MIN_SHARE = 60

/** Width when printed whole, or more than `cap` as soon as that is certain. */
export function measure(layout: Layout, cap: number): number {
  switch (layout.type) {
    case 'atom':
      return layout.width
    case 'text':
      return layout.text.length + 2 > cap ? cap + 1 : quote(layout.text).length
    case 'pair':
      return layout.key.length + 1 + measure(layout.value, cap - layout.key.length - 1)
    case 'group': {
      if (layout.width !== undefined) return layout.width
      const { open, close, total, most } = layout
      let width = open.length + close.length + (total > 0 && !isBracket(open) ? 1 : 0) + Math.max(0, total - 1)
      for (let i = 0; i < most; i++) {
        width += measure(layout.item(i), cap - width)
        if (width > cap) return width
      }
      layout.width = width
      return width
    }
  }
}

/** `(`, `[`, `{` and `#(` need no space after them; `(principle` does. */
const isBracket = (open: string): boolean => open === '' || /[([{]$/.test(open)

export function print(layout: Layout): string {
  switch (layout.type) {
    case 'atom':
      return layout.text()
    case 'text':
      return quote(layout.text)
    case 'pair':
      return `${layout.key} ${print(layout.value)}`
    case 'group': {
      const { open, close, total, item } = layout
      const separator = layout.lines && measure(layout, LINE) > LINE ? '\n' : ' '
      const items = Array.from({ length: total }, (_, i) => print(item(i)))
      return open + (total === 0 || isBracket(open) ? '' : separator) + items.join(separator) + close
    }
  }
}

/** At most `max` characters, cut fairly, saying what was left out; what is printed reads back. */
export const printLimited = (layout: Layout, max: number): string => cut(layout, max) ?? CUT

/** The same, cut already where it is wider than `max`. */
export const limited = (layout: Layout, max: number): Layout =>
  measure(layout, max) <= max ? layout : atom(printLimited(layout, max))

export function printAll(layouts: readonly Layout[], max: number): string[] {
  const all = lazyGroup('', '', layouts.length, (i) => layouts[i]!)
  if (measure(all, max) <= max) return layouts.map(print)
  return shareOut(all, max).map((text) => text ?? CUT)
}

/** Prints in at most `room` characters, or null if not even a remark fits. */
function cut(layout: Layout, room: number): string | null {
  if (measure(layout, room) <= room) return print(layout)
  switch (layout.type) {
    case 'atom':
      return fits(`nil ${remark(`${layout.width} characters`)}`, room)
    case 'text':
      return cutText(layout.text, room)
    case 'pair': {
      const value = cut(layout.value, room - layout.key.length - 1)
      return value === null ? null : `${layout.key} ${value}`
    }
    case 'group':
      return cutGroup(layout, room)
  }
}

const fits = (text: string, room: number): string | null => (text.length <= room ? text : null)

/** The beginning of a string, closed, and how much is missing. */
function cutText(text: string, room: number): string | null {
  const note = (kept: number): string => ` ${remark(`+${text.length - kept} characters`)}`
  let kept = Math.min(text.length, room - note(0).length - 3)
  while (kept > 0) {
    if (/[\ud800-\udbff]/.test(text[kept - 1]!)) kept--
    const shown = quote(text.slice(0, kept) + '…') + note(kept)
    if (shown.length <= room) return shown
    // Escapes made it longer than it is: give back at least as much as is too long.
    kept -= Math.max(1, Math.floor((shown.length - room) / 8))
  }
  return fits(`"…"${note(0)}`, room)
}

function cutGroup(layout: Group, room: number): string | null {
  const { open, close, total } = layout
  const note = (left: number): string => remark(`+${left} more of ${total}`)
  const inner = room - open.length - close.length - 1 - note(total).length - 1
  if (inner < 0) return null
  const kept = inner / total >= MIN_SHARE ? shareOut(layout, inner) : firstOnes(layout, inner)
  const shown = kept.filter((text) => text !== null)
  const separator = layout.lines ? '\n' : ' '
  if (shown.length < total) shown.push(note(total - shown.length))
  return open + (isBracket(open) ? '' : separator) + shown.join(separator) + close
}

const CUT = `nil ${remark('cut')}`

/** Every item appears: small ones whole, the others share what is left equally. */
function shareOut({ total, item }: Group, room: number): (string | null)[] {
  const cap = Math.max(MIN_SHARE, Math.ceil((4 * room) / total))
  const widths = Array.from({ length: total }, (_, i) => measure(item(i), cap))
  const narrowFirst = widths.map((_, i) => i).sort((a, b) => widths[a]! - widths[b]!)
  const texts: (string | null)[] = []
  let left = room - total
  for (const [place, i] of narrowFirst.entries()) {
    // an element that leaves nothing to show keeps its place: what follows must not move up into it
    const text = cut(item(i), Math.floor(left / (total - place))) ?? (item(i).type === 'pair' ? null : CUT)
    left -= text?.length ?? 0
    texts[i] = text
  }
  return texts
}

/** Too many to show a useful part of each: the first ones, none of them taking more than an eighth. */
function firstOnes(layout: Group, room: number): (string | null)[] {
  const kept: string[] = []
  let left = room
  for (let i = 0; i < layout.most && left > 0; i++) {
    const text = cut(layout.item(i), Math.min(left - 1, Math.max(MIN_SHARE, Math.floor(room / 8))))
    if (text === null) {
      // A field whose very name is too long goes alone; a cell or an element takes its followers with it, or they would move up.
      if (layout.item(i).type === 'pair' && left > MIN_SHARE) continue
      break
    }
    kept.push(text)
    left -= text.length + 1
  }
  return kept
}
