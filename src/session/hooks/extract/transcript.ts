import { realpathSync, statSync } from 'node:fs'
import { linesOf } from '../../../base/files.ts'
import { jsonIn } from '../../../model/object.ts'
import { excludedCommand, type HooksConfig } from '../config.ts'
import { cleaner, privateIn } from './privacy.ts'
import { type Said, saidIn, type Turn } from './turns.ts'

const FILE_MAX = 64 * 2 ** 20
const TURN_MAX = 4_000
const FAILED_MAX = 400
const OWN_COMMAND = /(?:^|[\s/;&|])tidemark(?:\.js)?\s/

export type Read = Readonly<{ turns: Turn[]; end: number }>

export interface ReadOptions {
  readonly config: HooksConfig
  readonly from?: number
  /** From when to when nothing was to be captured, in ms. */
  readonly pauses?: readonly (readonly [from: number, to: number])[]
}

/** What was said since the last look. What was private anywhere, or said in a pause, is left out everywhere. */
export function readTranscript(path: string, { from = 0, ...options }: ReadOptions): Read | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() || stat.size > FILE_MAX) return undefined
  const all: Said[] = []
  const ends: number[] = []
  let end = 0
  for (const line of linesOf(realpathSync(path), FILE_MAX)) {
    if (!line.ended) break // it is still being written
    for (const said of saidIn(jsonIn(line.text))) {
      all.push(said)
      ends.push(line.end)
    }
    end = line.end
  }
  const start = from > end ? 0 : from // a file that was written anew
  const turns = turnsOf(all, options, (place) => ends[place]! > start).map(
    ({ who, text }): Turn => ({ who, text: shown(who, text) }),
  )
  return { turns, end }
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

function shown(who: Turn['who'], text: string): string {
  if (who === 'failed') return text.length > FAILED_MAX ? `… ${text.slice(-FAILED_MAX).toWellFormed()}` : text
  return text.length > TURN_MAX ? `${text.slice(0, TURN_MAX).toWellFormed()} …` : text
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

export function asText(turns: readonly Turn[], most: number): { text: string; turns: readonly Turn[] } {
  let length = 0
  let first = turns.length
  while (first > 0) {
    const next = length + turns[first - 1]!.text.length + 12
    if (next > most) break
    length = next
    first--
  }
  const kept = turns.slice(first)
  return { text: kept.map((t) => `[${t.who}] ${t.text}`).join('\n'), turns: kept }
}
