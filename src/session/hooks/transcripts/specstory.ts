import type { Said } from './turns.ts'

/** `_**User (2026-07-13 13:40:49Z)**_`, `_**Agent (model 2026-07-13 13:40:56Z)**_`, `_**Assistant**_`. */
const HEADER = /^_\*\*(User|Agent|Assistant)\b([^*\n]{0,200})\*\*_\s*$/
const TIME = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:?\d\d)/
/** The head of a page is in so many characters. */
const HEAD = 400
const ADDED = /^(?:---|_Tools used: .*_|<!-- .* -->)$/

/** What was said in a session, as SpecStory has written it down; calls of tools and thoughts stand in elements. */
export function saidInSpecstory(page: string): Said[] {
  const all: { who: Said['who']; at?: number; lines: string[] }[] = []
  let isAside = false
  // a page that does not say when each was said says when it began
  const began = timeIn(page.slice(0, HEAD))
  for (const line of page.split('\n')) {
    const [, who, more = ''] = HEADER.exec(line) ?? []
    if (who !== undefined) {
      isAside = more.includes('(sidechain)')
      const at = timeIn(more) ?? began
      if (!isAside) all.push({ who: who === 'User' ? 'user' : 'agent', lines: [], ...(at === undefined ? {} : { at }) })
    } else if (!isAside && !ADDED.test(line.trim())) all.at(-1)?.lines.push(line)
  }
  return all.map(({ lines, ...said }) => ({ ...said, text: withoutTools(lines.join('\n')).trim() }))
}

function timeIn(text: string): number | undefined {
  const [, day, time, zone] = TIME.exec(text) ?? []
  const at = Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(at) ? undefined : at
}

/** Blocks of a tool's name, arguments and output: cleaning removes elements, older pages have them without. */
const withoutTools = (text: string) => text.replace(/^Tool use: \*\*[^\n]*$/gm, '')
