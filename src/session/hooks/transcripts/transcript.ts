import { excludedCommand, type HooksConfig } from '../config.ts'
import { cleaner, privateIn } from './privacy.ts'
import type { Said, Turn } from './turns.ts'

const _FILE_MAX = 64 * 2 ** 20
const _TURN_MAX = 4_000
const _FAILED_MAX = 400
const OWN_COMMAND = /(?:^|[\s/;&|])tidemark(?:\.js)?\s/

export interface ReadOptions {
  readonly config: HooksConfig
  /** From when to when nothing was to be captured, in ms. */
  readonly pauses?: readonly (readonly [from: number, to: number])[]
}

/** What was said, as it may leave the session, with its place in `all`. */
export function turnsOf(
  all: readonly Said[],
  { config, pauses = [] }: ReadOptions,
  isWanted: (place: number) => boolean = () => true,
): (Turn & { place: number })[] {
  const clean = cleaner(config, [...new Set(all.flatMap((said) => privateIn(said.text)))])
  const silent = silentCalls(all, config)
  return all.flatMap((said, place) => {
    if (!isWanted(place) || isPaused(said, pauses) || silent(said)) return []
    const text = clean(said.text)
    return text === '' ? [] : [{ who: said.who, text, place, ...(said.at !== undefined && { at: said.at }) }]
  })
}

const isPaused = ({ at }: Said, pauses: NonNullable<ReadOptions['pauses']>): boolean =>
  at === undefined ? pauses.length > 0 : pauses.some(([from, to]) => at >= from && at <= to)

/** Commands that are excluded or our own, and what came of them; outcomes of what was no command. */
function silentCalls(all: readonly Said[], config: HooksConfig): (said: Said) => boolean {
  const isCounted = ({ who, text }: Said) =>
    who === 'command' && text !== '' && !OWN_COMMAND.test(text) && !excludedCommand(config, text)
  const counted = new Set(all.filter(isCounted).flatMap(({ call }) => call ?? []))
  return ({ who, call }) => (who === 'command' || who === 'failed') && !counted.has(call ?? '')
}
