import { cut, oneLine } from '../../model/text.ts'

/** What a skill is to do about what went wrong: in the words of a proposal, and as its step. */
type Remedy = { readonly does: string; readonly step: string }

export const LONGEST = 120

/** Beside the thing that was left out. */
const OMITTED = new Set(['skipped', 'missed', 'omitted', 'without', 'forgot', 'forgotten', 'lacked', 'lacking', 'missing']) // biome-ignore format: a list
/** Behind such a word they do not begin a thing, but say when, where or why it was left out. */
const ABOUT =
  /^(?:before|after|on|in|at|by|during|for|from|until|when|while|once|twice|again|and|but|or|as|at|that|due|this|yet|too|it|them|-|–|—)$/i
/** Between the thing and the word. */
const BETWEEN =
  /^(?:was|were|is|are|be|been|being|got|gets|has|had|have|simply|again|often|also|still|just|always|completely|went|ran|out|live|through|the|a|an)$/i

/** The first clause: what follows tells what came of it, or why. */
const clauseOf = (line: string): string =>
  line.split(/[,;:.](?: |$)| [(–—-]| (?:because|so|which|although|though|but) /, 1)[0]!.trim()

const required = (thing: string): Remedy => ({
  does: `requires ${cut(thing, LONGEST)}`,
  step: `Required: ${cut(thing, LONGEST)}. Go on only when it has passed.`,
})
const ensured = (what: string): Remedy => ({
  does: `makes sure ${cut(what, LONGEST)}`,
  step: `Make sure ${cut(what, LONGEST)}; go on only when it is done.`,
})

/** The words without those of a sort at their end. */
const without = (words: readonly string[], which: RegExp): string[] =>
  words.slice(0, words.findLastIndex((word) => !which.test(word)) + 1)

/** What is to be done, where the words say it; else nothing. */
export function remedyIn(what: string): Remedy | undefined {
  const line = oneLine(what)
  const words = clauseOf(line).split(' ').filter(Boolean)
  const lower = words.map((w) => w.toLowerCase())
  const failed = lower.indexOf('failed')
  if (failed > 0 && line.endsWith(', then passed')) {
    const command = cut(words.slice(0, failed).join(' '), LONGEST)
    return {
      does: `runs ${command} after each change`,
      step: `Run ${command} after each change; mend what fails before you go on.`,
    }
  }
  if (lower[0] === 'left' && lower.indexOf('failing') > 1)
    return ensured(`that ${words.slice(1, lower.indexOf('failing')).join(' ')} passes`)
  if (lower[0] === 'no' && words.length > 1) return required(without(words.slice(1), ABOUT).join(' '))
  const not = lower.findIndex((w) => w === 'not' || w === 'never')
  const is = { was: 'is', were: 'are', is: 'is', are: 'are' }[lower[not - 1] ?? '']
  if (not > 1 && is !== undefined && words[not + 1] !== undefined) {
    const said = without(words.slice(not + 1), ABOUT).join(' ')
    return ensured(`that ${words.slice(0, not - 1).join(' ')} ${is} ${said}`)
  }
  if (/^(?:did not|didn't|does not|doesn't|never) /i.test(`${lower.join(' ')} `) && lower[0] !== 'never')
    return ensured(`to ${words.slice(lower[0]!.includes("'") ? 1 : 2).join(' ')}`)
  const at = lower.findIndex((w) => OMITTED.has(w))
  if (at < 0) return undefined
  const rest = without(words.slice(at + 1), /^again$/i)
  if (rest[0]?.toLowerCase() === 'to' && rest.length > 1) return ensured(rest.join(' '))
  if (rest.length > 0 && !ABOUT.test(rest[0]!)) return required(rest.join(' '))
  const thing = without(words.slice(0, at), BETWEEN)
  return thing.length > 0 && thing.length <= 6 ? required(thing.join(' ')) : undefined
}

/** The remedy that the shortest of several texts says; where none does, the plainest phrase for the shortest. */
export function remedyFor(texts: readonly string[]): Remedy & { from: string } {
  const shortest = texts.toSorted((a, b) => a.length - b.length)
  for (const from of shortest) {
    const said = remedyIn(from)
    if (said) return { ...said, from }
  }
  const from = shortest[0]!
  const short = oneLine(from, LONGEST)
  return {
    does: `checks that this does not happen: "${short}"`,
    step: `Check that this does not happen: ${short.replace(/[.…]$/, '')}.`,
    from,
  }
}
