import { besideOf } from '../../find/recall/told.ts'
import { type Entity, saidAt } from '../../model/entity.ts'
import { gistOf } from '../../model/gist.ts'
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
  return typeof value === 'string' ? gist(value, max) : ''
}

/** A page in whole sentences, safe to stand behind the fence. */
export const gist = (page: string, max: number): string => {
  const said = page.includes('\n') || page.length > max ? gistOf(page, max) : page
  return plain(said, said.endsWith(' …') ? max + 2 : max)
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
