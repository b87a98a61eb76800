/**
 * handoff: the state of the work for whoever takes over. This file prints and parses the page, `compose.ts` writes one
 * without the agent, `current.ts` finds the one that counts, `views/` keeps the files under `.tidemark/`.
 */

import { isOpen } from '../../engine/read/work-tree.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { oneLine } from '../../model/text.ts'
import { shown } from '../../scheme/invisible.ts'

/** A handoff is read at the start of every session: more lines than these are cut. */
export const HANDOFF_LINES = 50

/** The lists of a handoff in the order of its page, with the headings that mean them. */
export const HANDOFF_PARTS = [
  {
    field: 'inProgress',
    heading: 'In Progress',
    means:
      /^(?:in[- ]progress|current(?:ly)?(?: work| task| focus)?|active(?: work| tasks?)?|working on|under ?way|wip)\b/i,
  },
  { field: 'decisionsMade', heading: 'Decisions Made', means: /^(?:key |recent )?decisions?\b/i },
  { field: 'blockers', heading: 'Blockers', means: /^(?:blockers?|blocked|blocking|waiting (?:on|for))\b/i },
  {
    field: 'nextSteps',
    heading: 'Next Steps',
    means: /^(?:next|to ?dos?|remaining|what(?:'s| is) next|action items)\b/i,
  },
] as const

export type HandoffPart = (typeof HANDOFF_PARTS)[number]['field']

/** A handoff as its page says it. Items and headers stand on one line each; `body` is what is in none of the lists. */
export interface Handoff extends Readonly<Record<HandoffPart, readonly string[]>> {
  /** Whose or which task it is; only pages that stand beside others say it. */
  readonly title?: string
  /** ms since the epoch; the page has it to the minute, in UTC. */
  readonly written?: number
  /** `78%`, or what was said. */
  readonly contextUsed?: string
  readonly body?: string
}

/** How many lines of which part did not fit. */
type LeftOut = Readonly<Partial<Record<HandoffPart | 'body', number>>>

/** The four lists, each by its field. */
export const listsOf = <T>(list: (field: HandoffPart) => T): Record<HandoffPart, T> => ({
  inProgress: list('inProgress'),
  decisionsMade: list('decisionsMade'),
  blockers: list('blockers'),
  nextSteps: list('nextSteps'),
})

/** The same as a file shows it, which agents and terminals read: nothing goes unseen, or opens or closes a fence. */
export const onPage = (text: string): string => oneLine(shown(text))

/** How full the context was, as it is kept: `78%`, or whatever else was said of it. */
export function contextText(said: string | number): string {
  const n = /^(\d{1,3}(?:\.\d{1,9})?)\s*(?:%\s*)?(?:used)?$/i.exec(String(said).trim())?.[1]
  return n === undefined ? oneLine(String(said)) : `${Math.min(100, Math.round(Number(n)))}%`
}

/** A moment to the minute, in UTC. */
export const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')

/** What a minute on a page means. */
function minuteOf(text: string): number | undefined {
  const m = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?/.exec(text.trim())
  const ms = m ? Date.parse(`${m[1]}T${m[2] ?? '00:00'}:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

const bodyLines = ({ body }: Handoff): string[] => (body ? body.split('\n') : [])

function headerOf({ title, written, contextUsed }: Handoff, commits: number): string[] {
  const lines = ['# Session Handoff']
  if (title !== undefined) lines.push(`**For:** ${title}`)
  if (written !== undefined) lines.push(`**Written:** ${minute(written)}`)
  if (contextUsed !== undefined)
    lines.push(`**Session context:** ${contextUsed}${/^\d{1,3}%$/.test(contextUsed) ? ' used' : ''}`)
  if (commits > 0) lines.push(`**Stale:** ${commits} commits since it was written`)
  return lines
}

/** Its parts cut to what fits into a page, the longest first and the next steps last. */
export function fitHandoff(h: Handoff): { shown: Handoff; left: LeftOut } {
  const sizes = new Map<HandoffPart | 'body', number>([
    ['body', bodyLines(h).length],
    ...HANDOFF_PARTS.map((p) => [p.field, h[p.field].length] as const),
  ])
  const whole = new Map(sizes)
  const lines = (n: number, part: HandoffPart | 'body') => (n === 0 ? 0 : n + (part === 'body' ? 1 : 2))
  // the line that calls it stale is counted always: a page must not change otherwise when it comes
  const header = headerOf(h, 1).length
  const total = () => {
    const cut = [...sizes].some(([part, n]) => n < whole.get(part)!)
    return header + [...sizes].reduce((sum, [part, n]) => sum + lines(n, part), 0) + (cut ? 2 : 0)
  }
  while (total() > HANDOFF_LINES) {
    const [longest] = [...sizes].filter(([part, n]) => part !== 'nextSteps' && n > 0).sort((a, b) => b[1] - a[1])
    const part = longest?.[0] ?? 'nextSteps'
    sizes.set(part, sizes.get(part)! - 1)
  }
  const left = Object.fromEntries([...sizes].flatMap(([p, n]) => (n < whole.get(p)! ? [[p, whole.get(p)! - n]] : [])))
  const lists = listsOf((field) => h[field].slice(0, sizes.get(field)))
  const body = bodyLines(h).slice(0, sizes.get('body')).join('\n').trimEnd() || undefined
  return { shown: defined({ ...h, ...lists, body }), left }
}

/** The page of a handoff in the form of the concept paper, with how many commits came after it where it is stale. */
export function printHandoff(h: Handoff, commits = 0, { shown: fit, left } = fitHandoff(h)): string {
  const lines = headerOf(fit, commits)
  if (fit.body) lines.push('', fit.body)
  const cut = [...HANDOFF_PARTS, { field: 'body' as const, heading: 'the rest' }].flatMap(({ field, heading }) =>
    left[field] === undefined ? [] : [`${left[field]} of ${heading}`],
  )
  const cutLine = `(left out to keep it at ${HANDOFF_LINES} lines: ${cut.join(', ')})`
  for (const { field, heading } of HANDOFF_PARTS) {
    const items = fit[field]
    if (field === 'nextSteps' && cut.length > 0) lines.push('', cutLine)
    if (items.length === 0) continue
    lines.push('', `## ${heading}`)
    items.forEach((item, i) => void lines.push(field === 'nextSteps' ? `${i + 1}. ${item}` : `- ${item}`))
  }
  return shown(`${lines.join('\n')}\n`)
}

const CUT = /^\(left out to keep it at \d+ lines: (.+)\)$/
const PAGE = /^#\s+session handoff\s*$/i
const HEADER = /^\*\*(For|Written|Session context|Stale):?\*\*:?\s*(.*)$/i

/** What stands below a heading of the first or second level; before the first there is none. */
export interface PageSection {
  readonly heading: string
  readonly line: number
  readonly lines: readonly string[]
  /** The list that the heading means. */
  readonly field?: HandoffPart | undefined
}

/** The sections of a page, and its header lines by their names in lower case. */
export function readPage(page: string) {
  let lines: string[] = []
  const sections: PageSection[] = [{ heading: '', line: 1, lines }]
  const header = new Map<string, string>()
  let isCut = false
  for (const [i, line] of page.replace(/\r\n?/g, '\n').split('\n').entries()) {
    const said = HEADER.exec(line)
    const heading = CUT.test(line) ? '' : /^##?\s/.test(line) ? line.trim() : undefined
    if (heading === '') isCut = true
    if (said?.[2]?.trim()) header.set(said[1]!.toLowerCase(), said[2].trim())
    if (said) continue
    if (heading === undefined) lines.push(line)
    else {
      const name = heading.startsWith('##') ? heading.replace(/^##\s*/, '') : ''
      const field = HANDOFF_PARTS.find((p) => p.means.test(name))?.field
      sections.push({ heading, line: i + 1, lines: (lines = []), field })
    }
  }
  return { sections, header, isCut }
}

/** The items of a section's list, each on one line; paragraphs count as items. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = []
  let open = false
  for (const line of lines) {
    const item = /^(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line)
    if (open && !item && line.trim() !== '') items.push(`${items.pop()} ${oneLine(line)}`)
    else if (line.trim() !== '') items.push(oneLine(item?.[1] ?? line))
    open = line.trim() !== ''
  }
  return items.filter(Boolean)
}

/** What a page says; whatever stands in none of the four lists is its body. Never fails. */
export function parseHandoff(page: string): Handoff & { left?: boolean } {
  const { sections, header, isCut } = readPage(page)
  const itemsIn = (field: HandoffPart) => [
    ...new Set(sections.filter((s) => s.field === field).flatMap((s) => itemsOf(s.lines))),
  ]
  const rest = sections.flatMap(({ field, heading, lines }) =>
    field ? [] : [...(heading === '' || PAGE.test(heading) ? [] : [heading]), ...lines],
  )
  const used = header.get('session context')
  return defined({
    ...listsOf(itemsIn),
    title: header.get('for'),
    written: minuteOf(header.get('written') ?? ''),
    contextUsed: used && contextText(used),
    body: rest.join('\n').replace(/\n{3,}/g, '\n\n').trim() || undefined,
    left: isCut || undefined,
  }) // biome-ignore format: a list
}

/** The pages of a file that holds several. What stands before the first is a page of its own, if it says anything. */
export function handoffPages(file: string): string[] {
  const pages: string[][] = [[]]
  for (const line of file.replace(/\r\n?/g, '\n').split('\n')) {
    if (PAGE.test(line)) pages.push([])
    pages.at(-1)!.push(line)
  }
  return pages.map((lines) => lines.join('\n')).filter((page) => page.trim() !== '')
}

const listed = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string').map((item) => oneLine(item)) : []

/** The task that a step is, where it says so at its end. */
const STEP_OF = /\((task:[^\s()]{1,200})\)$/

/** Without the steps that are tasks which are done. */
export function withoutDone(said: Handoff, entity: (id: string) => Entity | undefined): Handoff {
  const isDone = (item: string) => {
    const task = STEP_OF.exec(item)?.[1]
    const e = task === undefined ? undefined : entity(task)
    return e !== undefined && !isOpen(e)
  }
  return { ...said, nextSteps: said.nextSteps.filter((item) => !isDone(item)) }
}

/** What an entity of kind handoff says, as its page has it. */
export function handoffOf(e: Entity): Handoff {
  const { written, contextUsed, body } = e.fields
  const moment = typeof written === 'string' ? Date.parse(written) : Number.NaN
  return defined({
    ...listsOf((field) => listed(e.fields[field])),
    title: e.name,
    written: Number.isNaN(moment) ? e.updated : moment,
    contextUsed: typeof contextUsed === 'string' && contextUsed !== '' ? contextText(contextUsed) : undefined,
    body: (typeof body === 'string' && body.trim()) || undefined,
  })
}

/** Whether a handoff still speaks: nothing has taken its place, and the task it is of is still to be done. */
export function isCurrentHandoff(e: Entity, entity: (id: string) => Entity | undefined): boolean {
  if (e.kind !== 'handoff' || !e.live || e.fields.retired !== undefined) return false
  if (standingOf(e.fields) !== 'confirmed') return false
  if (typeof e.fields.task !== 'string') return true
  const task = entity(e.fields.task)
  const above = [task?.fields.activity, task?.fields.goal].flatMap((id) => (typeof id === 'string' && entity(id)) || [])
  return isOpen(task) && above.every(isOpen)
}
