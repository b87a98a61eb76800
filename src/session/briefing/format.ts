import { besideOf } from '../../find/recall/told.ts'
import { type Entity, saidAt } from '../../model/entity.ts'
import { fencedLines } from '../../model/markdown.ts'
import { localMinute } from '../../model/times.ts'
import { plain } from './fence.ts'
import type { About } from './types.ts'

export const minute = (ms: number, { local }: Pick<About, 'local'>): string =>
  local ? localMinute(ms) : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`
export const day = (ms: number, about: Pick<About, 'local'>): string => minute(ms, about).slice(0, 10)

/** Who said it, when, and whether it holds, behind the fence. */
export const byline = (e: Entity, about: Pick<About, 'holds' | 'local'>): string =>
  besideOf(e, about.holds(e), day(saidAt(e), about), plain)

export const field = (e: Entity, name: string, max: number): string => {
  const value = e.fields[name]
  return typeof value === 'string' ? plain(proseOf(value), max) : ''
}

/** Of a page its sentences: half a table or half a diagram tells nobody anything. */
function proseOf(text: string): string {
  if (!text.includes('\n')) return text
  const lines = text.split('\n')
  const isCode = fencedLines(lines)
  const isLeft = (line: string, i: number) => isCode[i] || /^\s{0,3}(?:\||#{1,6}\s|```|~~~|[-=]{3,}$)/.test(line)
  // what is left out is seen to be: the line before it may speak of it
  const prose = lines
    .flatMap((line, i) => (!isLeft(line, i) ? line : i > 0 && isLeft(lines[i - 1]!, i - 1) ? [] : '…'))
    .join('\n')
  return /^[\s…]*$/.test(prose)
    ? text
    : prose.replace(/\*\*(?=[^\s*/])([^*\n/]{1,200})\*\*(?![*/])/g, '$1').replace(/::$/gm, ':')
}

export const refOf = (e: Entity): string => plain(e.id, 120)

/** What a claim is on; a task by its name, which says what it is, and the reference that takes it up. */
export function claimedOn(on: string, { reader }: About, max = 120): string {
  const task = on.startsWith('task:') ? reader.entity(on) : undefined
  return task ? `task "${plain(task.name, max)}" (${refOf(task)})` : plain(on, max)
}

export function age(ms: number): string {
  const hours = Math.floor(Math.max(0, ms) / 3_600_000)
  if (hours < 1) return 'under 1 h'
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}

export const many = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`
