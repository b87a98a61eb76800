import { attempt } from '../../../base/errors.ts'
import type { Project } from '../../../engine/store/project.ts'
import { many } from '../../briefing/format.ts'
import { type Check, ok, wrong } from '../doctor-line.ts'
import { type Allowed, allowedIn, dayOf, openExtraction, placeOf } from './consent.ts'

export interface Meter {
  readonly allowed: Allowed
  readonly tokens: number
  readonly calls: number
  /** Sessions that wait, and what went wrong the last time. */
  readonly waiting: number
  readonly error?: string
}

/** How much of extraction was used here today; nothing where it is off. */
export function meterOf(project: Project, now: number): Meter | undefined {
  // not to be read: then nothing is sent either
  return attempt(() => {
    using state = openExtraction(project)
    const allowed = allowedIn(state)
    if (!state || !allowed) return undefined
    const due = state.due()
    const error = due.findLast((w) => w.error !== undefined)?.error
    return { allowed, ...state.used(dayOf(now)), waiting: due.length, error }
  })
}

export const meterLine = ({ allowed, tokens, calls, waiting }: Meter): string =>
  `extraction ${tokens} of ${allowed.budget} tokens today in ${many(calls, 'call')}${waiting > 0 ? `, ${many(waiting, 'session waits', 'sessions wait')}` : ''}`

export function checkExtraction(project: Project, now: number): Check[] {
  const meter = meterOf(project, now)
  if (!meter) return []
  const what = `${meterLine(meter)}, by ${placeOf(meter.allowed)}`
  if (meter.error === undefined) return [ok('extraction', what)]
  return [wrong('extraction', `${what}; the last time: ${meter.error}`, '`tidemark extract` tries again now')]
}
