import { keptIn } from '../../base/lookup.ts'
import { FENCE_BEGIN, FENCE_END, FENCE_NOTE, fenced } from './fence.ts'
import type { Built, Item, Section } from './types.ts'

/** What a briefing may cost unless somebody says otherwise (design §4). */
export const BRIEFING_TOKENS = 2_000
/** Clients cut a longer text themselves, at a worse place. */
export const BRIEFING_CHARS = 9_000

export type Budget = { readonly tokens: number; readonly chars: number; count(text: string): number }

interface Filling {
  readonly section: Section
  readonly built: Built
  readonly texts: (string | undefined)[]
  /** Indices of the items in the order in which they are told while there is room. */
  readonly order: readonly number[]
}

/** After this many items in a row that do not fit, no shorter one is looked for. */
const MISSES = 5

export interface Filled {
  readonly section: Section
  readonly built: Built
  readonly shown: readonly Item[]
  readonly tokens: number
  readonly omitted: number
}

/** Fills sections in order. Each gets its share first; what is left goes to all, the first before the last. */
export function fill(
  given: readonly { section: Section; built: Built }[],
  budget: Budget,
): { text: string; tokens: number; sections: Filled[] } {
  const fillings = given.map(({ section, built }): Filling => {
    return { section, built, texts: built.items.map(() => undefined), order: orderOf(built.items) }
  })
  const costs = new Map<string, number>()
  const costOf = (text: string): number => keptIn(costs, text, () => budget.count(`${text}\n`))
  const all = Math.max(0, budget.tokens - (budget.count(frameOf(fillings)) + 1))
  const chars = Math.max(0, budget.chars - frameOf(fillings).length)
  let usedTokens = 0
  let usedChars = 0
  const take = (f: Filling, part: number): void => {
    const upToTokens = Math.min(all, usedTokens + all * part)
    const upToChars = Math.min(chars, usedChars + chars * part)
    let misses = 0
    for (const i of f.order) {
      const item = f.built.items[i]!
      if (f.texts[i] === item.text) continue
      if (++misses > MISSES) break
      for (const text of [item.text, ...(item.short === undefined || f.texts[i] !== undefined ? [] : [item.short])]) {
        const before = f.texts[i]
        const more = costOf(text) - (before === undefined ? 0 : costOf(before))
        const longer = text.length - (before?.length ?? -1)
        if (usedTokens + more > upToTokens || usedChars + longer > upToChars) continue
        f.texts[i] = text
        misses = 0
        usedTokens += more
        usedChars += longer
        break
      }
    }
  }
  for (const f of fillings) take(f, f.section.share / 100)
  for (const f of fillings) take(f, 1)
  // what stands side by side may cost more than apart, so the last word is had by the text as it is told
  let text = compose(fillings)
  let tokens = budget.count(text)
  while (text !== '' && (text.length > budget.chars || tokens > budget.tokens)) {
    const more = dropLast(fillings)
    text = more ? compose(fillings) : ''
    tokens = budget.count(text)
    if (!more) break
  }
  const none = text === ''
  return { text, tokens, sections: fillings.map((f) => filled(none ? { ...f, texts: [] } : f, costOf)) }
}

const orderOf = (items: readonly Item[]): number[] =>
  [...items.keys()].sort((a, b) => (items[a]!.rank ?? a) - (items[b]!.rank ?? b) || a - b)

const shownIn = (f: Filling): Item[] => f.built.items.filter((_, i) => f.texts[i] !== undefined)
const omittedIn = (f: Filling): number => f.built.items.length - shownIn(f).length + (f.built.beyond ?? 0)

const filled = (f: Filling, costOf: (text: string) => number): Filled => ({
  section: f.section,
  built: f.built,
  shown: shownIn(f),
  tokens: f.texts.reduce((n, text) => n + (text === undefined ? 0 : costOf(text)), 0),
  omitted: omittedIn(f),
})

function dropLast(fillings: readonly Filling[]): boolean {
  for (const f of [...fillings].reverse()) {
    const last = f.order.findLast((i) => f.texts[i] !== undefined)
    if (last === undefined) continue
    f.texts[last] = undefined
    return true
  }
  return false
}

/** What is always said: headings, the fence, and what a section has left out. */
const frameOf = (fillings: readonly Filling[]): string =>
  [
    FENCE_BEGIN,
    FENCE_NOTE,
    FENCE_END,
    ...fillings.flatMap((f) => [
      ...(f.built.items.length > 0 ? ['', `## ${f.section.title}`] : []),
      ...new Set(f.built.items.flatMap((i) => (i.under ? [`### ${i.under}`] : []))),
      left(f, 999),
      f.built.note ?? '',
    ]),
  ].join('\n')

function printed(f: Filling): string {
  const lines: string[] = []
  const shown = shownIn(f)
  if (shown.length > 0) lines.push(`## ${f.section.title}`)
  let under: string | undefined
  for (const [i, item] of f.built.items.entries()) {
    const text = f.texts[i]
    if (text === undefined) continue
    if (item.under !== under) {
      under = item.under
      if (under) lines.push(`### ${under}`)
    }
    lines.push(text)
  }
  const omitted = omittedIn(f)
  if (omitted > 0 && (shown.length > 0 || f.built.items.length > 0)) {
    if (shown.length === 0) lines.push(`## ${f.section.title}`)
    lines.push(left(f, omitted))
  }
  if (f.built.note) lines.push(f.built.note)
  return lines.join('\n')
}

const left = (f: Filling, n: number): string =>
  f.built.see === undefined ? `(${n} left out)` : `(${n} left out: ${f.built.see})`

function compose(fillings: readonly Filling[]): string {
  const texts = (binding: boolean) =>
    fillings.filter((f) => (f.section.binding === true) === binding).flatMap((f) => printed(f) || [])
  const data = texts(false)
  return [...texts(true), ...(data.length === 0 ? [] : [fenced([data.join('\n\n')])])].join('\n\n')
}
