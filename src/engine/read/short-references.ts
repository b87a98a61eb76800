import { firstWhere } from '../../base/lookup.ts'

/** A short reference: a letter, so that `#123` stays the number of an issue, and hexadecimal digits. */
const SHORT = /^#[a-f][0-9a-f]{2,14}$/i
/** One without its `#`, which begins a comment in a shell. A digit tells it from a word such as "face". */
const BARE = /^[a-f](?=[a-f]*[0-9])[0-9a-f]{2,14}$/i

/** The short reference that a text may be without its `#`. */
export const asShort = (said: string): string | undefined => (BARE.test(said) ? `#${said}` : undefined)

/** Shown at least: `#a3f`. */
const LEAST = 3

const LETTERS = 'abcdef'

/** The digits by which an id is found, of which a short reference is the beginning: FNV-1a, twice. The same everywhere. */
function digitsOf(id: string): string {
  let [a, b] = [0x811c9dc5, 0x9747b28c]
  for (let i = 0; i < id.length; i++) {
    const c = id.charCodeAt(i)
    a = Math.imul(a ^ c, 0x01000193)
    b = Math.imul(b ^ c, 0x5bd1e995) ^ (b >>> 15)
  }
  // the last characters of an id must change its first digits
  const mixed = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d)
  const hex = (n: number) => (n >>> 0).toString(16).padStart(8, '0')
  return `${LETTERS[(mixed >>> 28) % LETTERS.length]}${hex(mixed).slice(1)}${hex(b)}`.slice(0, 15)
}

/** Two of 100,000 ids share so many digits in one memory of five: a question by them is answered with both. */
const ENOUGH = 9

/** A short reference to an id, made without a look at the others. */
export const refOf = (id: string): string => `#${digitsOf(id).slice(0, ENOUGH)}`

/** The ids that a short reference means; several where it is too short by now. */
export function idsOfShort(ref: string, ids: () => readonly string[]): string[] {
  if (!SHORT.test(ref)) return []
  const wanted = ref.slice(1).toLowerCase()
  return ids().filter((id) => digitsOf(id).startsWith(wanted))
}

/** The shortest reference by which each of some ids is found among all. */
export function shortRefs(some: readonly string[], all: readonly string[]): Map<string, string> {
  const sorted = all.map(digitsOf).sort()
  const shared = (a: string, b: string | undefined) => {
    let n = 0
    while (b !== undefined && n < a.length && a[n] === b[n]) n++
    return n
  }
  return new Map(
    some.map((id) => {
      const digits = digitsOf(id)
      const at = firstWhere(sorted.length, (i) => sorted[i]! >= digits)
      const length = Math.max(shared(digits, sorted[at - 1]), shared(digits, sorted[at + 1])) + 1
      return [id, `#${digits.slice(0, Math.max(LEAST, length))}`]
    }),
  )
}
