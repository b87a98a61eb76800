import { ownWords } from './own-words.ts'

/** Nothing shorter says a rule: "Sounds good.", "ok, do it". */
const SHORTEST = 10
/** A longer one tells a story. */
const LONGEST = 400
const MOST = 60

/** The sentences of a prompt that may say something to keep, in order. */
export function sentencesOf(text: string): string[] {
  if (/^\s*[/!]/.test(text)) return [] // a command of the client
  const out: string[] = []
  for (const line of ownWords(text).split('\n')) {
    const plain = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '').trim()
    // a stop ends a sentence where a space and no small letter follow: "e.g. this" and "a.ts" do not
    for (const sentence of plain.split(/(?<=[.!?])\s+(?=[^\p{Ll}\s])|(?<=[;])\s+/u)) {
      const said = sentence.replace(/[;]$/, '').trim()
      if (said.length >= SHORTEST && said.length <= LONGEST && out.length < MOST) out.push(said)
    }
  }
  return out
}
