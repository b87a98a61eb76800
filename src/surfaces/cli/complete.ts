import { whenRefused } from '../../base/errors.ts'
import { openAt } from '../../project/open.ts'
import { TOOLS } from '../tools/index.ts'
import type { Flag } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { flagsOf, GLOBAL, listing } from './help.ts'

type Place = Readonly<{ choices?: readonly string[]; ref?: boolean }>

const choicesIn = (text: string | undefined): readonly string[] =>
  text?.includes('|') && /^[\w|-]+$/.test(text) ? text.split('|') : []

/** The options of a command and what stands at its places, as it declares them. */
async function declared(name: string): Promise<{ flags: Readonly<Record<string, Flag>>; places: Place[] } | undefined> {
  if (Object.hasOwn(TOOLS, name)) {
    const { params } = await TOOLS[name]!.load()
    const placed = Object.values(params).filter((p) => p.place !== undefined)
    const order = (place: number | 'rest' | undefined) => (typeof place === 'number' ? place : placed.length)
    return { flags: flagsOf(params), places: placed.sort((a, b) => order(a.place) - order(b.place)) }
  }
  if (!Object.hasOwn(COMMANDS, name)) return undefined
  const { flags, usage = '' } = await COMMANDS[name]!.load()
  return { flags, places: usage.split(' ').map((word) => ({ choices: choicesIn(word), ref: word === 'REF' })) }
}

/** What is recorded, as people type it: the end of its id, or the id where two end alike. */
function namesIn(directory: string, prefix: string): string[] {
  const { memory } = openAt({ projectPath: directory, hurried: true })
  using _open = memory
  const { reader } = memory
  const kinds = reader.registry().visibleKinds()
  const ids = kinds.flatMap((k) => reader.ids(k.name))
  const ends = Map.groupBy(ids, (id) => id.slice(id.indexOf(':') + 1))
  return prefix.includes(':') ? ids : [...ends].flatMap(([end, same]) => (same.length === 1 ? [end] : same))
}

async function candidates(words: readonly string[], directory: string): Promise<readonly string[]> {
  const [name = '', ...given] = words
  if (given.length === 0) return listing().flatMap(([, names]) => names)
  const command = await declared(name === 'help' ? '' : name)
  if (name === 'help' && given.length === 1) return candidates([], directory)
  if (!command) return []
  const flags: Readonly<Record<string, Flag>> = { ...command.flags, ...GLOBAL }
  const takes = (word: string) => word.startsWith('--') && !word.includes('=') && flags[word.slice(2)]?.type !== 'flag'
  const last = given.at(-1)!
  const before = given.at(-2)
  if (before !== undefined && takes(before)) return choicesIn(flags[before.slice(2)]?.value)
  if (last.startsWith('-')) return Object.keys(flags).map((flag) => `--${flag}`)
  const typed = given.filter((word, n) => !word.startsWith('-') && !(n > 0 && takes(given[n - 1]!)))
  const place = command.places[Math.min(typed.length, command.places.length) - 1]
  return place?.choices?.length ? place.choices : place?.ref ? namesIn(directory, last) : []
}

/** What may stand where the last of these words is typed, one a line: what the scripts of `completion` ask for. */
export async function complete(words: readonly string[], directory: string): Promise<string[]> {
  const last = words.at(-1) ?? ''
  const project = words[words.indexOf('--project') + 1]
  const all = candidates(words, words.includes('--project') && project ? project : directory)
  // no project, or a store that cannot be read: nothing to offer
  return (await all.catch(whenRefused((): string[] => []))).filter((word) => word.startsWith(last)).toSorted()
}
