import { readInside } from '../../base/files.ts'
import { keptIn } from '../../base/lookup.ts'
import { trackedFiles } from '../../base/run-git.ts'
import { redact } from '../../base/secrets/find.ts'
import { isAscii } from '../../base/secrets/plain.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import type { Memory } from '../../engine/memory.ts'
import { questionTerms, type Term } from '../../engine/store/terms.ts'
import { hasPieceOf } from '../../engine/store/text-index.ts'
import { ASKING } from '../../find/recall/answer.ts'
import { cutLine, passageOf } from '../../find/recall/card.ts'
import { wordSet } from '../../find/recall/word-overlap.ts'
import { frontMatterOf } from '../../model/markdown.ts'
import { sectionsOf } from '../../travel/formats/import/docs.ts'

/** A section of a page of the project that answers, as the page is now. */
export interface Passage {
  /** With the line: `docs/development.md:12`. */
  readonly path: string
  /** Its headings from the top: `Development › Tests`. */
  readonly section: string
  /** The part of it that says most of what is asked, on a line. */
  readonly text: string
  /** How many words of the question it holds; all that there could be where its own heading asks it. */
  readonly held: number
}

const PAGES = ['*.md', '*.mdx', '*.markdown', '*.rst', '*.adoc']
/** What tools keep in hidden folders, what others wrote, and what says of each version a little. */
const NO_DOCUMENT =
  /(?:^|\/)(?:\.|node_modules|vendor|third[-_]party|extern(?:al)?|fixtures|change(?:log|s)|history|news|blog|licen[cs]e)\b/i
/** A longer page is data; more pages, or more in all, would take seconds. */
const MOST_BYTES = 400_000
const MOST_PAGES = 1_500
const MOST_IN_ALL = 12_000_000
const LEAST_SHARE = 0.5
const PASSAGES = 3
/** The part that a word which no page has counts of one that a single section has. */
const UNSEEN = 0.5
const TEXT = 240
/** BM25 (Robertson, Zaragoza 2009); a word of the path, of a heading or of its own heading counts as so many of the text. */
const K1 = 1.2
const B = 0.75
const OF_HEADING = 4
const OF_OWN = 6
/** A page counts less by so much for each folder that it lies in. */
const OF_FOLDER = 0.95
/** And a translation, which has names and code alone in common with the question. */
const FOREIGN = 0.5

/** The sections that answer a question best, of pages that git has and nothing was imported from. Nothing of them is kept. */
export function passagesOn(question: string, { memory, root }: { memory: Memory; root: string }): Passage[] {
  const asked = questionTerms(question)
  const telling = asked.filter((t) => !ASKING.test(t.word))
  const terms = (telling.length > 0 ? telling : asked).map(formsOf)
  if (terms.length === 0) return []
  let left = MOST_IN_ALL
  const sections = trackedFiles(root, PAGES)
    .filter((path) => !NO_DOCUMENT.test(path))
    .slice(0, MOST_PAGES)
    .flatMap((path) => {
      const text = left > 0 ? readInside(root, path, MOST_BYTES)?.toString('utf8').replaceAll('\r\n', '\n') : undefined
      if (text === undefined) return []
      left -= text.length
      const { body } = frontMatterOf(withoutPrivate(text))
      return sectionsOf(body, path.endsWith('.rst')).map((s) => ({ ...s, path }))
    })
    .map((s) => {
      const heading = s.title.split(' › ').at(-1)!
      const [body, head, own] = [s.text, `${s.path} ${s.title}`, heading].map((t) => t.toLowerCase())
      const isNamed = terms.map((t) => countOf(t, own!) > 0)
      const bonus = (t: Forms, i: number) => (isNamed[i] ? OF_OWN : countOf(t, head!) > 0 ? OF_HEADING : 0)
      return { ...s, isNamed, counts: terms.map((t, i) => countOf(t, body!) + bonus(t, i)) }
    })
  const rarity = terms.map((_, i) => {
    const held = sections.filter((s) => s.counts[i]! > 0).length
    // a word that no page has, as a name from outside, keeps no page from answering the rest
    const part = held === 0 ? UNSEEN : 1
    return part * Math.log(1 + (sections.length - Math.max(1, held) + 0.5) / (Math.max(1, held) + 0.5))
  })
  const mean = sum(sections.map((s) => s.text.length)) / sections.length
  const scored = sections.flatMap((s) => {
    const share = sum(s.counts.map((n, i) => (n > 0 ? rarity[i]! : 0))) / sum(rarity)
    if (share < LEAST_SHARE) return []
    const norm = K1 * (1 - B + (B * s.text.length) / mean)
    const score = sum(s.counts.map((n, i) => (rarity[i]! * n * (K1 + 1)) / (n + norm)))
    const isForeign = isAscii(question) && !isAscii(s.title)
    return [{ ...s, score: score * share * OF_FOLDER ** s.path.split('/').length * (isForeign ? FOREIGN : 1) }]
  })
  const known = new Map<string, boolean>()
  const best: Passage[] = []
  const words = wordSet(question)
  for (const { path, line, title, text, counts, isNamed } of scored.sort((a, b) => b.score - a.score)) {
    if (best.length === PASSAGES) break
    if (keptIn(known, path, () => isImported(memory, path))) continue
    const whole = redact(text)
    const said = cutLine(whole.length > TEXT ? passageOf(whole, words, TEXT) : whole, TEXT)
    const isAsked = isNamed.length > 1 && isNamed.every(Boolean)
    const held = isAsked ? Number.POSITIVE_INFINITY : counts.filter((n) => n > 0).length
    best.push({ path: `${path}:${line}`, section: title, text: said, held })
  }
  return best
}

/** Whether something is known that an import read there. */
const isImported = ({ reader, db }: Memory, path: string): boolean =>
  hasPieceOf(db.here, path) ||
  reader
    .search(path, 20, ['decision', 'fact'])
    .flatMap(({ fields }) => [fields.locations ?? []].flat())
    .some((place) => place === path || String(place).startsWith(`${path}:`))

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** How a word begins in all its forms, and how many letters may follow. */
function formsOf({ stem, word }: Term) {
  let n = 0
  while (n < stem.length && stem[n] === word[n]) n++
  return { begin: word.slice(0, n), most: n < 4 ? 3 : 5 }
}

type Forms = ReturnType<typeof formsOf>

function countOf({ begin, most }: Forms, text: string): number {
  const letters = /\p{L}*/uy
  let count = 0
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + begin.length)) {
    letters.lastIndex = at + begin.length
    if (!/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) && letters.exec(text)![0].length <= most) count++
  }
  return count
}
