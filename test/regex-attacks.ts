/**
 * Texts on which a regular expression may take quadratic time or worse, made from the expression itself: what each of
 * its repetitions matches, many times over, behind what leads there and before what fails.
 */

/** A text of any length: `before`, then `pump` again and again, then `after`. */
export interface Attack {
  readonly before: string
  readonly pump: string
  readonly after: string
}

type Node =
  | { readonly is: 'any'; readonly of: readonly Node[] }
  | { readonly is: 'all'; readonly of: readonly Node[] }
  | { readonly is: 'repeated'; readonly of: Node; readonly min: number; readonly max: number }
  | { readonly is: 'one'; readonly chars: readonly string[] }

const NOTHING: Node = { is: 'all', of: [] }
/** One of each sort that expressions tell apart. */
const CHARACTERS = [
  ...'aAbZxs09_-+./\\:;,=@#&|*?!$%^~<>()[]{}"\'`\n\t ',
  'é',
  '漢',
  '’',
  '–',
  '\u00a0',
  '\u0301',
  '\u200b',
  '\u0001',
  '😀',
]
/** What may stand behind a repetition so that the expression fails there. */
const ENDS = ['\u0001\u0001', ' ', '\n', 'a', '/', '"', '<', '\n\n=', ' x=']

/** How an expression is built, as far as samples of it need that: looking around counts as nothing. */
function parse(source: string, flags: string): Node {
  let at = 0
  const letters = new Set([...CHARACTERS, ...source])
  const one = (text: string): Node => {
    const test = new RegExp(`^(?:${text})$`, flags.replace(/[gymd]/g, ''))
    return { is: 'one', chars: [...letters].filter((c) => test.test(c)).slice(0, 60) }
  }
  const alternatives = (): Node => {
    const of: Node[] = [sequence()]
    while (source[at] === '|') {
      at++
      of.push(sequence())
    }
    return of.length === 1 ? of[0]! : { is: 'any', of }
  }
  const sequence = (): Node => {
    const of: Node[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') of.push(quantified(atom()))
    return { is: 'all', of }
  }
  const quantified = (of: Node): Node => {
    const sign = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(source.slice(at, at + 40))
    if (!sign) return of
    at += sign[0].length
    const [text, min, upTo, max] = sign
    if (text[0] === '*') return { is: 'repeated', of, min: 0, max: Number.POSITIVE_INFINITY }
    if (text[0] === '+') return { is: 'repeated', of, min: 1, max: Number.POSITIVE_INFINITY }
    if (text[0] === '?') return { is: 'repeated', of, min: 0, max: 1 }
    const most = upTo === undefined ? Number(min) : max ? Number(max) : Number.POSITIVE_INFINITY
    return { is: 'repeated', of, min: Number(min), max: most }
  }
  const atom = (): Node => {
    const from = at
    const c = source[at++]!
    if (c === '(') {
      const looking = /^\?<?[=!]/.exec(source.slice(at, at + 4))
      at += (looking ?? /^(?:\?:|\?<\w+>)?/.exec(source.slice(at, at + 40))!)[0].length
      const inner = alternatives()
      at++
      return looking ? NOTHING : inner
    }
    if (c === '[') {
      for (let depth = 1; depth > 0; at++) {
        if (source[at] === '\\') at++
        else if (source[at] === '[' && flags.includes('v')) depth++
        else if (source[at] === ']') depth--
      }
      return one(source.slice(from, at))
    }
    if (c === '^' || c === '$') return NOTHING
    if (c !== '\\') return one(source.slice(from, at))
    const escaped = /^(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<\w+>|[\s\S])/.exec(
      source.slice(at, at + 80),
    )!
    at += escaped[0].length
    return /^[bBk1-9]/.test(escaped[0]) ? NOTHING : one(source.slice(from, at))
  }
  return alternatives()
}

/** Chance with a seed (mulberry32). */
function chance(seed: number): (below: number) => number {
  let a = seed >>> 0
  return (below) => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** A text that the node matches; up to `stop`, what stands before it. */
function sample(node: Node, below: (n: number) => number, stop?: Node): { text: string; met: boolean } {
  if (node === stop) return { text: '', met: true }
  switch (node.is) {
    case 'one':
      return { text: node.chars.length === 0 ? '' : node.chars[below(node.chars.length)]!, met: false }
    case 'any': {
      const through = stop && node.of.find((n) => holds(n, stop))
      return sample(through ?? node.of[below(node.of.length)]!, below, stop)
    }
    case 'all': {
      let text = ''
      for (const part of node.of) {
        const s = sample(part, below, stop)
        text += s.text
        if (s.met) return { text, met: true }
      }
      return { text, met: false }
    }
    case 'repeated': {
      if (stop && holds(node.of, stop)) return sample(node.of, below, stop)
      const times = Math.min(node.max, node.min + below(3))
      return { text: Array.from({ length: times }, () => sample(node.of, below).text).join(''), met: false }
    }
  }
}

const holds = (node: Node, wanted: Node): boolean =>
  node === wanted ||
  (node.is === 'repeated' ? holds(node.of, wanted) : node.is !== 'one' && node.of.some((n) => holds(n, wanted)))

function* repetitions(node: Node): Generator<Node & { is: 'repeated' }> {
  if (node.is === 'repeated') {
    if (node.max > 20) yield node
    yield* repetitions(node.of)
  } else if (node.is !== 'one') for (const part of node.of) yield* repetitions(part)
}

/** The attacks on an expression. */
export function attacksOn(source: string, flags: string, seed: number): Attack[] {
  const tree = parse(source, flags)
  const below = chance(seed)
  const found = new Map<string, Attack>()
  const add = (before: string, pump: string, after: string) => {
    if (pump !== '') found.set(JSON.stringify([before, pump, after]), { before, pump, after })
  }
  const end = () => ENDS[below(ENDS.length)]!
  for (const c of [...CHARACTERS, 'a ', ' a', 'ab\n', '\n\n ', ', ', '{}', '<a>', '<a ', '**', 'a.'])
    for (const after of ['\u0001', c.trim() === '' ? 'a' : ' ']) add('', c, after)
  for (let n = 0; n < 8; n++) {
    const whole = sample(tree, below).text
    add('', whole, '')
    add('', whole.slice(0, 1 + below(whole.length)), end())
  }
  for (const repetition of repetitions(tree))
    for (let n = 0; n < 12; n++) {
      const pump = sample(repetition.of, below).text
      const before = sample(tree, below, repetition).text
      add(before, pump, end())
      add(before, pump, end())
      add('', before, end())
      add('', before + pump, end())
      // text that is inside the repetition, but leads to it again at every place
      add('', pump + before, end())
    }
  return [...found.values()]
}
