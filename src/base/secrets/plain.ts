import { firstWhere } from '../lookup.ts'

/** Characters that look like others, or like nothing: blanks, soft hyphens, zero-width marks, full-width and mathematical letters, quotation marks. */
const ODD =
  /«[ \u00a0\u202f]?|[ \u00a0\u202f]?»|[„“”‟‹›「」『』‘’‚]|[\u00a0\u00ad\u061c\u180e\u2000-\u200f\u202a-\u202f\u205f-\u206f\u3000\ufeff\uff01-\uff5e]|\ud835[\udc00-\udfff]/g

/** Without a pattern, which would have to be compiled first. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** `at`: where a place of the plain text is in the given one. */
export function plainOf(given: string): { readonly text: string; at(place: number): number } {
  if (isAscii(given) || given.search(ODD) < 0) return { text: given, at: (place) => place }
  let text = ''
  let from = 0
  const starts: number[] = [] // pieces of the plain text, and where each begins in the given one
  const origins: number[] = []
  const add = (piece: string, origin: number) => {
    if (piece === '') return
    starts.push(text.length)
    origins.push(origin)
    text += piece
  }
  for (const { 0: odd, index } of given.matchAll(ODD)) {
    add(given.slice(from, index), from)
    const meant = /[«»„“”‟‹›「」『』]/.test(odd) ? '"' : /[‘’‚]/.test(odd) ? "'" : odd.normalize('NFKC')
    add(/^[\x20-\x7e]$/.test(meant) ? meant : '', index)
    from = index + odd.length
  }
  add(given.slice(from), from)
  const at = (place: number): number => {
    const piece = firstWhere(starts.length, (i) => starts[i]! > place) - 1
    return place >= text.length ? given.length : origins[piece]! + place - starts[piece]!
  }
  return { text, at }
}
