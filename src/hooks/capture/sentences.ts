import { ownWords } from './prompt-text.ts'

/** Nothing shorter says a rule: "ok", "do it". */
const SHORTEST = 6
/** A longer one tells a story. */
const LONGEST = 400
const MOST = 60

/** The sentences of a prompt that may say something to keep, in order. */
export function sentencesOf(text: string): string[] {
  if (/^\s*[/!]/.test(text)) return [] // a command of the client
  const out: string[] = []
  for (const line of ownWords(text).split('\n')) {
    const plain = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '').trim()
    // a stop ends a sentence before a space: "a.ts" goes on; so does "e.g. this"
    for (const sentence of plain.split(
      /(?<=[.!?;])(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|z\.B|bzw|ca|p\.ej)\.)\s+(?!(?:ever|period)[.!])|(?<=[。！？；])/iu,
    )) {
      const said = sentence.replace(/[;；]$/, '').trim()
      if (said.length >= SHORTEST && said.length <= LONGEST && out.length < MOST) out.push(said)
    }
  }
  return out
}
