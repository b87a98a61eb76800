import { withoutPrivate } from '../../base/secrets/screen.ts'

/** Colours of a terminal, control characters, and marks that turn the order of what is read. */
const UNSEEN = /\u001b\[[\d;]*m|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g

/** Of a long prompt, a document that was pasted, only the beginning is looked at. */
const LOOKED_AT = 8_000
/** In a prompt of more lines something was pasted, if any of it looks so; of fewer, if its lines were wrapped, which nobody types. */
const TYPED_LINES = 20
const UNWRAPPED_LINES = 8

const CODE_MARK = /^ {0,3}(`{3,}|~{3,})/
/** Gemini CLI puts the files named with `@` behind the prompt. */
const REFERENCED =
  /^-{3,} *Content from referenced files *-{3,}$[\s\S]*?(?:^-{3,} *End of content *-{3,}$|(?![\s\S]))/gim
const TAG = /<(\/?)([a-z][\w-]*)(?:\s[^<>]*)?>/gi
/** In quotation marks, and too long for a name. */
const QUOTED =
  /"[^"\n]*"|[“„][^“”„\n]*[”“]|«[^«»\n]*»|‹[^‹›\n]*›|「[^「」\n]*」|『[^『』\n]*』|＂[^＂\n]*＂|‘[^‘’\n]*’(?!\p{L})|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|`[^`\n]*`/gu
/** Code that is typed into a sentence: a command, and no prose. */
const isCode = (quoted: string): boolean =>
  quoted.startsWith('`') && quoted.length <= 80 && /[./=_$(){}|-]/.test(quoted)
/** … unless that is how it is to be remembered. */
const TO_KEEP = /\b(?:remember|note|new rule|from now on)(?: (?:this|that))?[:,]?\s*$/i

/** … or names the rule that is taken back; it may have more than one sentence. */
const NAMES_RULE =
  /(?:forget|drop|retire|cancel|lift|scrap|delete|remove|ignore|revoke|withdraw|never ?mind|take back) (?:the|that|our|my) (?:rule|convention|decision)[:,]? $/i

const DIFF = /^(?:diff --git |index [\da-f]{7,}\.\.|@@ -\d|\+\+\+ |--- \S)/

/** What machines write: logs, traces, diffs, tables, shells, code. */
const MACHINE = [
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d/,
  /^\s*\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|NOTICE|FAIL|PASS)\b[\]:\s]/,
  /^\s+at \S|^Traceback \(|^\s*File "[^"]+", line \d|^\s*\w*(?:Error|Exception|Warning): /,
  DIFF,
  /^\s*(?:[$%❯]|\w[\w.-]*@[\w.-][^$#]*[$#]) \S/,
  /^\s*\|.*\|\s*$/,
  /^\s*[\w./\\-]+\.\w{1,5}:\d+(?::\d+)?\b/,
  /^npm (?:ERR!|error|warn)\b/i,
  /[{}]\s*$|[)\]"'];\s*$|^\s*(?:import|export)\b.*['"]|^\s*(?:const|let|var) \w+ *[:=]|^\s*#include /,
  /^(?: {4,}|\t)(?!\s*(?:[-*+]|\d+[.)])\s)/,
]
const isMachine = (line: string): boolean => MACHINE.some((shape) => shape.test(line))
const isBullet = (line: string): boolean => /^\s*(?:[-*+•]|\d+[.)])\s+\S/.test(line)

/** A line after which somebody else is heard: "Here is the log:", "The README says:", "@docs/rules.md:". */
const ANNOUNCES = [
  /^(?:.*\s)?@[\w./~-]+:\s*$/,
  /\b(?:says?|said|writes?|wrote|reads|prints?|printed|answers?|answered|replied|outputs)\s*:\s*$/i,
  /^(?:(?:the|my|full) )*(?:contents?|error|logs?|output|trace|stack ?trace|transcript|excerpt|snippet)(?: (?:is|was|of \S+))?\s*:\s*$/i,
  /^(?:(?:and|so|hi|ok(?:ay)?|please (?:see|look at))[,\s]+)?(?:here(?:['’]s| is| are| was)|this is|see|below is|from|i (?:got|get|found|see)|we (?:got|get)|contents? of|it (?:gives|shows))\b.{0,200}\b(?:logs?|output|errors?|trace|readme|docs?|documentation|file|article|e?-?mail|message|ticket|issue|comments?|review|snippet|excerpt|transcript|spec(?:ification)?|page|guide|handbook|policy|\S{1,200}\.(?:md|txt|log|json|ya?ml|toml))\b[^:]{0,60}:\s*$/i,
]
const OWN = /\b(?:our|my) (?:\w+ )?(?:rules?|conventions?|guidelines?|principles?|preferences?)\b/i
const announces = (line: string): boolean =>
  line.trimEnd().endsWith(':') && line.length <= 200 && !OWN.test(line) && ANNOUNCES.some((shape) => shape.test(line))

/** The text with an empty line for each block of code, as Markdown has them; one that nothing closes goes on to the end. */
export function withoutFenced(text: string): string {
  let mark: string | undefined
  return text
    .split('\n')
    .flatMap((line) => {
      const found = CODE_MARK.exec(line)?.[1]
      const within = mark !== undefined
      if (!within) mark = found
      else if (found?.startsWith(mark!)) mark = undefined
      return within ? [] : [found === undefined ? line : '']
    })
    .join('\n')
}

/** Stands for what was quoted at length. */
export const CUT_OUT = '"…"'

/** The text without elements, `<tag>…</tag>`, and without what follows a tag alone on its line that nothing closes. `within`: for one that stands in a sentence. */
export function withoutElements(text: string, unclosedToo = true, within = ' '): string {
  const open = new Map<string, { at: number; alone: boolean }[]>()
  const gone: [from: number, to: number][] = []
  for (const m of text.matchAll(TAG)) {
    const [whole, closing, tag] = m
    const name = tag!.toLowerCase()
    const end = m.index + whole.length
    const begun = open.get(name) ?? []
    if (closing === '') {
      if (whole.endsWith('/>')) continue
      begun.push({ at: m.index, alone: isAlone(text, m.index, end) })
      open.set(name, begun)
    } else if (begun.length > 0) gone.push([begun.pop()!.at, end])
  }
  const unclosed = [...open.values()].flat().filter((tag) => tag.alone)
  if (unclosedToo && unclosed.length > 0)
    gone.push([unclosed.reduce((least, tag) => Math.min(least, tag.at), text.length), text.length])
  let left = ''
  let at = 0
  for (const [from, to] of gone.sort((a, b) => a[0] - b[0])) {
    const before = text.slice(at, from)
    // clients put in `<system-reminder>`, people type `<Trans>`
    const isTyped = /[^\s.!?:][^\S\n]{0,9}<[a-z\d]{1,40}[\s>]/i.test(before.slice(-10) + text.slice(from, from + 42))
    if (from > at) left += before + (isTyped ? within : ' ')
    at = Math.max(at, to)
  }
  return left + text.slice(at)
}

function isAlone(text: string, from: number, to: number): boolean {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t' || text[at] === '\r'
  while (isSpace(from - 1)) from--
  while (isSpace(to)) to++
  return (from === 0 || text[from - 1] === '\n') && (to === text.length || text[to] === '\n')
}

function blocksOf(text: string): string[][] {
  const blocks: string[][] = [[]]
  for (const line of text.split('\n')) {
    if (line.trim() !== '') blocks.at(-1)!.push(line)
    else if (blocks.at(-1)!.length > 0) blocks.push([])
  }
  return blocks.filter((block) => block.length > 0)
}

const isOutput = (block: readonly string[]): boolean =>
  block.some((line) => DIFF.test(line)) || (block.length >= 3 && block.filter(isMachine).length * 2 >= block.length)

const isHeading = (line: string): boolean => /^#{1,6}\s+\S/.test(line)
const isWrapped = (block: readonly string[]): boolean =>
  block.length >= 3 && block.slice(0, -1).every((line) => line.length >= 50 && line.length <= 130)

const isDocument = (block: readonly string[], before: readonly string[] = []): boolean =>
  block.some((line) => isHeading(line) || isMachine(line)) ||
  before.some(isHeading) ||
  block.filter(isBullet).length >= 3 ||
  isWrapped(block)

/** What of a block its writer said: nothing behind the line that announces somebody else. */
function said(block: readonly string[], announced: boolean): string[] {
  if (announced || isOutput(block)) return []
  const to = block.findIndex(announces)
  return (to < 0 ? block : block.slice(0, to)).filter((line) => !isMachine(line) && !/^\s*>/.test(line))
}

/** What the writer of a prompt said, without quotations, code, output and pasted documents. Rather too little. */
export function ownWords(text: string): string {
  const open = withoutPrivate(text, () => ' ').replace(UNSEEN, '')
  // up to the end of a word: half of a secret does not look like one
  const looked =
    open.length > LOOKED_AT ? open.slice(0, LOOKED_AT).replace(/(?:\[redacted:[^\]]{0,40}|(?<!\S)\S+)$/, '') : open
  const blocks = blocksOf(withoutElements(withoutFenced(looked).replace(REFERENCED, '\n'), true, CUT_OUT))
  const typed = blocks.map((block, i) => said(block, i > 0 && announces(blocks[i - 1]!.at(-1)!)))
  const lines = blocks.flat().length
  if (lines > TYPED_LINES || (lines > UNWRAPPED_LINES && blocks.some(isWrapped))) {
    // what was typed stands before or after what was pasted
    const documents = blocks.map((block, i) => isDocument(block, blocks[i - 1]))
    const to = documents.lastIndexOf(true)
    for (let i = Math.max(0, documents.indexOf(true)); i <= to; i++) typed[i] = []
  }
  return typed
    .flat()
    .join('\n')
    .replace(QUOTED, (quoted, at: number, all: string) => {
      if (quoted.length < 14 || quoted.split(/\s+/).length < 3 || isCode(quoted)) return quoted
      const before = all.slice(Math.max(0, at - 40), at)
      return TO_KEEP.test(before)
        ? quoted.slice(1, -1)
        : NAMES_RULE.test(before)
          ? quoted.replace(/[.!?;]\s+/g, ', ')
          : CUT_OUT
    })
}

const SHORTEST = 6
/** A longer one tells a story. */
const LONGEST = 400
const MAX_SENTENCES = 60
/** It corrects what stands before it: "Actually no, in English", "No. In English", "Wait, make that two". */
const CORRECTS =
  /^(?:(?:h+m+|oh|uh+|oops|sorry|ach|ah|well|ok(?:ay)?)[,.! ]{1,3}){0,3}(?:(?:actually(?=[,: ])(?!,? (?:(?:please|can you|could you) )?(?:also|and|one more|while)(?![a-z]))|(?:scratch that|on second thought|i mean(?! it)|i meant|ich meine|en fait|mejor dicho|ou melhor)(?=[,.:! ]|$))|(?:no|nope|nein|non|não|doch nicht|wait|moment|correction)(?=[,.:!]|$| (?:no|wait|sorry)(?:[,.! ]|$)))/i

export function sentencesOf(text: string): string[] {
  if (/^\s*[/!]/.test(text)) return [] // a command of the client
  const out: string[] = []
  let before: string | undefined
  for (const line of ownWords(text).split('\n')) {
    const plain = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '').trim()
    // a stop ends a sentence before a space: "a.ts" goes on; so do "e.g. this", "git add . first", and "./... first"
    // before no capital
    for (const sentence of plain.split(
      /(?<=[.!?;])(?<!(?:^|\s)\.)(?<!(?:\/\.{0,2}|\b[Ee]tc)\.(?!\s+\p{Lu}))(?<!\b(?:[Ee]\.g|[Ii]\.e|[Vv]s|[Cc]f|[Aa]pprox|[Zz]\.B|[Bb]zw|[Cc]a|[Pp]\.ej)\.)\s+(?!(?:[Ee]ver|[Pp]eriod)[.!])|(?<=[。！？；])/u,
    )) {
      const said = sentence.replace(/[;；]$/, '').trim()
      // what is corrected is not meant, and its correction means nothing alone
      const isNew = !CORRECTS.test(said)
      if (!isNew && out.at(-1) === before) out.pop()
      before = said
      if (isNew && said.split(/,? [-–—] | ?(?:\.{2,3}|…) ?|, | \(/).some((part, i) => i > 0 && CORRECTS.test(part)))
        continue
      if (said.length >= SHORTEST && said.length <= LONGEST && out.length < MAX_SENTENCES) out.push(said)
    }
  }
  return out
}
