import type { Said } from './turns.ts'

export const AIDER_FILE = '.aider.chat.history.md'
const STARTED = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$/
/** Before each line that its user typed; behind it Aider writes two blanks. */
export const TYPED = '#### '
/** The words behind these commands are said to the agent. */
const MODE = /^\/(?:ask|code|architect|context)(?:\s+|$)/
/** Other commands, an empty prompt, and an answer that Aider repeats in the name of its user. */
const UNSAID = /^(?:[/!]|<blank>$)|\(Y\)es\/\(N\)o[^\n]{0,80}\]: \S{1,20}$/

/** When a session began, in local time, if this line begins one. */
export function startedAt(line: string): string | undefined {
  const [, day, time] = STARTED.exec(line) ?? []
  return Number.isNaN(Date.parse(`${day}T${time}`)) ? undefined : `${day}T${time}`
}

/** What was said in one session. A heading in an answer looks like what was typed, without the blanks; an editor may have removed them all. */
export function saidInAider(lines: readonly string[], at: number): Said[] {
  const isWhole = lines.some((line) => line.startsWith(TYPED) && line.endsWith('  '))
  const all: { who: 'user' | 'agent'; text: string }[] = []
  let before: 'user' | 'agent' | undefined
  for (const line of lines) {
    const isUser = line.startsWith(TYPED) && (isWhole ? line.endsWith('  ') : before !== 'agent')
    const isAside =
      line.startsWith('>') || startedAt(line) !== undefined || (before === undefined && line.trim() === '')
    const who = isUser ? 'user' : isAside ? undefined : 'agent'
    if (who !== undefined && who !== before) all.push({ who, text: '' })
    if (who !== undefined) all.at(-1)!.text += `${isUser ? line.slice(TYPED.length).trimEnd() : line}\n`
    before = who
  }
  const own = (text: string) => (UNSAID.test(text) ? '' : text)
  return all.map(({ who, text: t }) => ({
    who,
    at,
    text: who === 'agent' ? t.trim() : own(t.trim().replace(MODE, '')),
  }))
}
