import type { Memory } from '../../engine/memory.ts'
import type { Result } from '../../engine/write/plan.ts'
import { span } from './format.ts'

type Lease = Readonly<Record<'on' | 'what' | 'until', string>>

export const leases = (said: unknown): readonly Lease[] => (Array.isArray(said) ? (said as Lease[]) : [])

/** What a claim took, a line each; `nameOf` tells what a task is called. */
export const claimedLines = (r: Result, { reader, env }: Memory): string[] =>
  leases(r.claims).map(({ on, what, until }) => {
    const name = what === 'task' ? `task "${reader.entity(on)?.name ?? on}"` : on
    return `claimed ${name} for ${span(Date.parse(until) - env.now())}`
  })

/** What was given up, or to whom it went. */
export const releasedLines = (r: Result, to?: string): string[] =>
  leases(r.released ?? r.claims).map(({ on }) => (to === undefined ? `released ${on}` : `${on} is ${to}'s now`))
