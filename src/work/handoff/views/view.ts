import type { Memory, News } from '../../../engine/memory.ts'
import type { Project } from '../../../engine/store/project.ts'

export interface ViewContext {
  readonly memory: Memory
  readonly project: Project
  /** What happened since the view was written; everything may have, where it is left out. */
  readonly news?: readonly News[]
}

/** What a hand edit of a view says: actions that take it over, and what of it means nothing. */
export type Edit = Readonly<{ actions: readonly Taken[]; problems: readonly string[] }>

export interface Taken {
  readonly action: readonly [verb: string, args: { [name: string]: unknown }]
  /** The session in whose name it is taken over; nobody's unless said. */
  readonly session?: string
  /** One line that tells of it. */
  readonly says: string
}

/** A file under `.tidemark/` that shows what is known, for people and for clients that only read files. */
export interface View {
  readonly name: string
  /** Whether what happened may change it. */
  concerns(news: News): boolean
  /** Its text now; empty where there is nothing to show. `was`: as it was written last. */
  render(context: ViewContext, was: string): string
  /** What somebody who changed `was` into `text` means. */
  read(context: ViewContext, text: string, was: string): Edit
}

/** Ends in the middle: something that was still being written, or was cut off. */
export const isHalf = (text: string, was: string): boolean =>
  text.trim() === '' || (!text.endsWith('\n') && text !== was && was.startsWith(text))

/** The lines of a view that say something. */
const linesOf = (text: string): string[] =>
  text.split(/\r\n?|\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'))

/** An edit of a view whose lines are only added: `read` says what a new one means, or what is wrong with it; `lost`, what is of those that are gone. */
export function addedLines(
  text: string,
  was: string,
  lost: string,
  read: (line: string, gone: string[]) => Taken | string | undefined,
): Edit {
  if (isHalf(text, was)) return { actions: [], problems: ['it ends in the middle of a line'] }
  const gone = linesOf(was)
  const fresh = linesOf(text).filter((line) => {
    const at = gone.indexOf(line)
    if (at >= 0) gone.splice(at, 1)
    return at < 0
  })
  const said = fresh.flatMap((line) => read(line, gone) ?? [])
  const problems = said.filter((s) => typeof s === 'string')
  if (gone.length > 0) problems.push(`${gone.length} line${gone.length === 1 ? ' is' : 's are'} ${lost}`)
  return { actions: said.filter((s) => typeof s !== 'string'), problems }
}

/** The parts of a line between its separators; `escapes`: what a backslash stands before so that it is no separator. */
export function partsOf(line: string, escapes = /./s): string[] {
  const parts = ['']
  for (let i = 0; i < line.length; i++) {
    const isEscape = line[i] === '\\' && escapes.test(line[i + 1] ?? '')
    if (line[i] === '|') parts.push('')
    else parts.push(parts.pop()! + line[isEscape ? ++i : i]!)
  }
  return parts.map((p) => p.trim())
}

/** What git writes around two sides of a conflict. `=======` alone is an underlined heading as well. */
const MARKER = /^(?:<{7}|>{7}|\|{7})(?:\s|$)/

/** Why an edit cannot be read: a merge left it unsettled. What the view said itself before is none of its markers. */
export function conflictIn(text: string, was: string): string | undefined {
  const before = new Set(was.split(/\r\n?|\n/))
  const at = text.split(/\r\n?|\n/).findIndex((line) => MARKER.test(line) && !before.has(line))
  if (at < 0) return undefined
  return `git's conflict markers (line ${at + 1}) are not settled, so nothing of it was taken over: settle them, and write what you mean into the file anew`
}
