import { withoutPrivate } from '../../memory/secrets.ts'

/** Nothing shorter says a rule: "Sounds good.", "ok, do it". */
const SHORTEST = 10
/** A longer one tells a story. */
const LONGEST = 400
/** Of a long prompt, a document that was pasted, only the beginning is looked at. */
const LOOKED_AT = 8_000
const MOST = 60

/** What clients and hooks put into prompts themselves: `<system-reminder>…</system-reminder>`, `<command-name>…`. */
const TAGGED = /<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*?<\/\1>/gi
const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n {0,3}\1[^\n]*(?:\n|$)|$)/gm

/** The text without what is nobody's business, and without what the user did not say: code, quotes, tags. */
export function ownWords(text: string): string {
  const open = withoutPrivate(text, () => ' ')
  // up to the end of a word: half of a secret does not look like one
  const looked = open.length > LOOKED_AT ? open.slice(0, LOOKED_AT).replace(/\S+$/, '') : open
  return looked
    .replace(FENCED, '\n')
    .replace(TAGGED, ' ')
    .replace(/^\s*>.*$/gm, '')
}

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
