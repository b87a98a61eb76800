import { remark } from '../../scheme/lexical.ts'
import type { Card } from './card.ts'

/** What clients take in one answer without cutting it themselves at a worse place. */
export const MAX_CHARACTERS = 40_000

export interface Limits {
  readonly budget?: number
  readonly limit?: number
  /** How many were found, where more than are given here. */
  readonly found?: number
  /** Stands above the items, if any is told. */
  readonly head?: string
  /** The lines about `omitted` items that were left out, the most helpful first. */
  readonly closing?: (omitted: number) => readonly string[]
}

export interface Packed {
  readonly text: string
  /** In the order given: the index of each item that is told, and how. */
  readonly shown: readonly { readonly index: number; readonly form: keyof Card }[]
  readonly omitted: number
}

/** So many of the best are told at least in a line, before any but the first is told whole. */
const FIRST = 5

/** What an item is told as: not at all, in a line, whole. */
const OMIT = 0
const LINE = 1
const CARD = 2
type Form = typeof OMIT | typeof LINE | typeof CARD

/**
 * Tells as many items as the budget holds, in their order: whole, else in a line, else not; never a part of one. An item
 * takes at most half of what is left, unless those behind it still fit in lines, and leaves room for the first five in
 * lines: a long one does not shut out the rest. From the second on, none is whole while that leaves out another.
 */
export function pack(items: readonly Card[], limits: Limits, count: (text: string) => number): Packed {
  const { budget, limit = items.length, head = '', closing = inScheme } = limits
  const closings = (omitted: number) => (omitted === 0 ? [''] : closing(omitted))
  const given = items.slice(0, limit)
  const found = Math.max(limits.found ?? 0, items.length)
  const told = (forms: readonly Form[], last: string) => {
    const lines = forms.flatMap((form, i) => (form === OMIT ? [] : [form === CARD ? given[i]!.card : given[i]!.line]))
    return [lines.length > 0 ? head : '', ...lines, last].filter((line) => line !== '').join('\n')
  }
  const fits = (text: string) =>
    text.length <= MAX_CHARACTERS && (budget === undefined || text === '' || count(text) <= budget)
  const result = (forms: readonly Form[], last: string): Packed => {
    const shown = forms.flatMap((form, index) =>
      form === OMIT ? [] : [{ index, form: form === CARD ? ('card' as const) : ('line' as const) }],
    )
    return { text: told(forms, last), shown, omitted: found - shown.length }
  }

  const whole: Form[] = given.map(() => CARD)
  const remarked = closings(found - given.length)[0] ?? ''
  if (fits(told(whole, remarked))) return result(whole, remarked)

  const forms = chosen(given, costIn(budget, count), [...closings(found), ''], head)
  // what stands side by side may cost a token more than apart, so the last word is had by the text as it is told
  for (let last = forms.length - 1; ; ) {
    const sayable = closings(found - forms.filter((f) => f !== OMIT).length).filter(fits)
    const fitting = (sayable.length > 0 ? sayable : ['']).find((c) => fits(told(forms, c)))
    if (fitting !== undefined) return result(forms, fitting)
    while (forms[last] === OMIT) last--
    forms[last] = forms[last] === CARD && given[last]!.line !== given[last]!.card ? LINE : OMIT
  }
}

/** The same with a longer first one, unless fewer of the first five are told for that. */
export function packLonger(
  items: readonly Card[],
  longer: Card | undefined,
  limits: Limits,
  count: (text: string) => number,
) {
  const plain = pack(items, limits, count)
  const more = longer && pack([longer, ...items.slice(1)], limits, count)
  const isLonger = more !== undefined && more.shown.length >= Math.min(FIRST, plain.shown.length)
  return { ...(isLonger ? more : plain), isLonger }
}

/** The closing remark as a comment of the notation: what is printed reads back. */
const inScheme = (omitted: number): string[] => [
  remark(`${omitted} left out: a higher limit or budget tells more, kind or since narrows it`),
  remark(`${omitted} left out`),
]

/** What a text takes of all there is, from 0 to 1. */
const costIn = (budget: number | undefined, count: (text: string) => number) => (text: string) => {
  const characters = (text.length + 1) / MAX_CHARACTERS // each with its line break
  return budget === undefined ? characters : Math.max(characters, (count(text) + 1) / budget)
}

/** A remark that takes more than this of the room is said shorter. */
const MAX_REMARK = 0.05

/** The form of each item, by what each costs alone. */
function chosen(given: readonly Card[], cost: (text: string) => number, closing: readonly string[], head: string) {
  const cards = given.map((g) => cost(g.card))
  const lines = given.map((g, i) => (g.line === g.card ? cards[i]! : cost(g.line)))
  const forms: Form[] = given.map(() => OMIT)
  let room = 1 - (closing.map(cost).find((c) => c <= MAX_REMARK) ?? 0) - (head === '' ? 0 : cost(head))
  let behind = lines.reduce((sum, n) => sum + n, 0)
  for (const [i, card] of cards.entries()) {
    const line = lines[i]!
    behind -= line
    const best = lines.slice(i + 1, FIRST).reduce((sum, n) => sum + n, 0)
    const isAllTold = i > 0 && line + behind <= room
    if (card <= room - Math.max(isAllTold ? behind : Math.min(behind, room / 2), best)) {
      forms[i] = CARD
      room -= card
    } else if (line <= room) {
      forms[i] = LINE
      room -= line
    }
  }
  // what is left over goes to the best ones that could be told better
  for (const [i, form] of forms.entries()) {
    const more = form === CARD ? 0 : cards[i]! - (form === LINE ? lines[i]! : 0)
    if (form !== CARD && more <= room) {
      forms[i] = CARD
      room -= more
    }
  }
  return forms
}
