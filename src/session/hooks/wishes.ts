import { identityOf, standingOf } from '../../model/entity.ts'
import { actionOf } from '../../travel/formats/import/said-as.ts'
import type { Hook } from './hook.ts'
import { wishToEnd } from './taken-back.ts'
import { askAbout, type Wish } from './witness.ts'

/** Of one prompt, so that a question stays one. */
const MOST_ASKED = 2

/**
 * The question to the person about sentences that say that they last, and about those that take something back, if there is
 * something that they mean. Nothing where all of it is known.
 */
export function askFor(
  hook: Hook,
  lasting: readonly string[],
  ending: readonly string[],
  prompt: number | undefined,
): string | undefined {
  const ends = (s: string) => wishToEnd(hook.memory.reader, s)
  const wishes = [...lasting.map((s) => ends(s) ?? wishOf(s)), ...ending.flatMap((s) => ends(s) ?? [])]
    .filter((wish) => !isKnown(hook, wish))
    .slice(0, MOST_ASKED)
    .map((wish): Wish => ({ ...wish, ...(prompt === undefined ? {} : { prompt }) }))
  return wishes.length === 0 ? undefined : askAbout(hook, [], wishes)
}

const wishOf = (words: string): Wish => ({ words, actions: [actionOf(words).action] })

/** Whether the knowledge has it already, or somebody has turned it down. */
function isKnown({ memory }: Hook, { actions: [first] }: Wish): boolean {
  const [verb, args] = first!
  const kind = memory.registry().kind(verb.replace(/^record-/, ''))
  const id = kind && identityOf(kind, args)
  const there = id === undefined ? undefined : memory.reader.entity(id)
  return there?.live === true && standingOf(there.fields) !== 'proposed'
}
