/** Words by which a decision says how it relates to another, and the words that name the other. */

/** A relation from the decision to what it names; `<constrains` from that to the decision. */
export interface Cue {
  readonly type: string
  readonly isFrom: boolean
  /** As the text has it: `instead of JWT tokens`. */
  readonly quote: string
  readonly object: string
  /** With two named, of which one may be the decision itself: the other one. */
  readonly other?: string
}

/** What stands behind the cue is the other one. */
const BEHIND = `
  supersedes: instead of | in place of | rather than | replaces | replace | replacing | in replacement of | supersedes | supersede
  supersedes: superseding | takes the place of | taking the place of | no longer | not any more | switch from | switching from
  supersedes: migrate from | migrating from | move from | moving from | move away from | moving away from | switch away from
  supersedes: puts an end to | reverses | revokes | overrides | overturns | undoes
  conflicts-with: conflicts with | conflict with | conflicting with | in conflict with | incompatible with | not compatible with
  conflicts-with: clashes with | contradicts | cannot be combined with | can't be combined with | at odds with | does not go with
  depends-on: requires | require | depends on | depend on | depending on | relies on | rely on | relying on | needs | presupposes
  depends-on: assumes | builds on | building on | built on | built upon | builds upon | only works with | prerequisite is | extends
  cites: as in | as decided in | as decided for | as agreed in | as per | according to | as with | consistent with | in line with
  cites: in keeping with | following on from | as described in | as we did for | as we did in | as set out in
  similar-to: similar to | similarly to | analogous to | the same way as | same approach as | just like | the same as
  constrains: limits | restricts | constrains | rules out | ruling out | prevents | precludes
  impacts: affects | impacts | amends | has consequences for | exception to | has an effect on | breaks
  <informs: based on | in light of | in the light of | informed by | learned from | taught by | because of | due to | given that | prompted by
`
/** The same, where a sentence begins with it. */
const OPENING = `
  supersedes: stop | drop | end | retire | abandon | cancel | quit | remove | give up | pause | leave | no more
`
/** The other one stands before it. */
const BEFORE = `
  supersedes: is replaced | are replaced | is retired | are retired | is dropped | is lifted | is abandoned | is no longer | are no longer
  supersedes: is decommissioned | be decommissioned | are decommissioned | is superseded | is shut down | are shut down
`
const CANNOT = ["can't", 'cannot', 'can not', 'can no longer', "couldn't", 'unable to', 'must not']
const CAUSES = ['because of', 'because', 'since', 'due to', 'given that', 'given']
const CONDITIONS = ['if', 'while', 'as long as']

type Phrase = { readonly type: string; readonly isFrom: boolean; readonly words: string }

const phrases = (text: string): Phrase[] =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [type = '', said = ''] = line.trim().split(': ')
      const isFrom = !type.startsWith('<')
      return said.split(' | ').map((words) => ({ type: isFrom ? type : type.slice(1), isFrom, words }))
    })
const [behind, opening, before] = [BEHIND, OPENING, BEFORE].map(phrases) as [Phrase[], Phrase[], Phrase[]]

/** Here the words that name something end. */
const ENDS = [',', ' (', ' – ', ' — ', ' because ', ' since ', ' so that ', ' which ', ' while ', ' until ', ' after ', ' when ', ' where ', ' if ', ' as ', ' we '] // biome-ignore format: a list
/** "Replace A by B", "move from A to B": B is not what is replaced. */
const CHANGES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^replac/, [' by ', ' with ', ' in favour of ', ' in favor of ']],
  [/ from$/, [' to ']],
]
/** Beyond so many characters nothing is named any more. */
const MOST = 80
const SENTENCES = 20
const TEXT = 4_000

const cut = (text: string, ends: readonly string[]): string =>
  text
    .slice(0, Math.min(MOST, text.length, ...ends.map((end) => text.indexOf(end, 1)).filter((i) => i > 0)))
    .trim()
    .replace(/[.,;:!?]$/, '')

const isWord = (c: string | undefined): boolean => c !== undefined && /[\p{L}\p{N}_-]/u.test(c)

/** Where the words stand in a text, as whole words. */
function placeOf(text: string, words: string): number {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1))
    if (!isWord(text[at - 1]) && !isWord(text[at + words.length])) return at
  return -1
}

const firstOf = (text: string, all: readonly string[]): { at: number; end: number } | undefined =>
  all
    .map((words) => ({ at: placeOf(text, words), end: words.length }))
    .filter(({ at }) => at >= 0)
    .map(({ at, end }) => ({ at, end: at + end }))
    .sort((a, b) => a.at - b.at || b.end - a.end)[0]

/** How a text says that it relates to something, in its order. */
export const cuesIn = (text: string): Cue[] =>
  text
    .slice(0, TEXT)
    .split(/[.;:!?]\s|\n/)
    .slice(0, SENTENCES)
    .flatMap((sentence) => cuesOf(sentence.trim().replaceAll('’', "'")))

function cuesOf(sentence: string): Cue[] {
  const low = sentence.toLowerCase()
  const cannot = firstOf(low, CANNOT)
  if (cannot) {
    const condition = firstOf(low.slice(cannot.end), CONDITIONS)
    if (condition) {
      const other = sentence.slice(cannot.end, cannot.end + condition.at).trim()
      const object = cut(sentence.slice(cannot.end + condition.end), ENDS.slice(0, 4))
      return [{ type: 'conflicts-with', isFrom: true, quote: cut(sentence.slice(cannot.at), ['.']), object, other }]
    }
    // "as" gives a reason only before it: "we cannot use it as a queue"
    const cause = firstOf(low.slice(0, cannot.at), [...CAUSES, 'as']) ?? firstOf(low, CAUSES)
    if (cause) {
      const from = sentence.slice(cause.end).trimStart().replace(/^we /i, '')
      const object = cut(cause.at < cannot.at ? from.slice(0, from.toLowerCase().search(/\bwe\b|,|\bcan/)) : from, ENDS)
      const quote =
        cause.at < cannot.at
          ? sentence.slice(cause.at, cannot.end)
          : `${sentence.slice(cannot.at, cannot.end)} … ${sentence.slice(cause.at, cause.end)} ${object}`
      return [{ type: 'constrains', isFrom: false, quote, object }]
    }
  }
  const found: (Cue & { at: number })[] = []
  const add = ({ type, isFrom }: Phrase, at: number, object: string, quote: string) => {
    const overlaps = found.some((f) => at >= f.at && at < f.at + f.quote.length)
    if (object !== '' && !overlaps) found.push({ type, isFrom, quote, object, at })
  }
  for (const phrase of opening)
    if (low.startsWith(`${phrase.words} `)) {
      const object = cut(sentence.slice(phrase.words.length), ENDS)
      add(phrase, 0, object, `${sentence.slice(0, phrase.words.length)} ${object}`)
    }
  for (const phrase of behind) {
    const at = placeOf(low, phrase.words)
    if (at < 0) continue
    const end = at + phrase.words.length
    const ends = CHANGES.flatMap(([pattern, more]) => (pattern.test(phrase.words) ? more : []))
    const object = cut(sentence.slice(end), [...ends, ...ENDS])
    add(phrase, at, object, `${sentence.slice(at, end)} ${object}`)
  }
  for (const phrase of before) {
    const at = placeOf(low, phrase.words)
    if (at < 0) continue
    const said = sentence.slice(0, at)
    const object = said.slice(Math.max(0, said.lastIndexOf(',') + 1, said.length - MOST)).trim()
    add(phrase, at, object, `${object} ${sentence.slice(at, at + phrase.words.length)}`)
  }
  return found.sort((a, b) => a.at - b.at).map(({ at: _at, ...cue }) => cue)
}

/** What a text chooses: without what it says that it turns down. */
export function chosenIn(text: string): string {
  let chosen = text.slice(0, TEXT)
  for (const { type, quote } of cuesIn(chosen)) if (type === 'supersedes') chosen = chosen.replace(quote, ' ')
  return chosen
}
