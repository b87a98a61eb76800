import { actionOf } from '../../travel/formats/import/said-as.ts'
import { isKnown } from './extract/propose.ts'
import type { Hook } from './hook.ts'
import { wishToEnd } from './taken-back.ts'
import { askAbout, type Wish } from './witness.ts'

/** Of one prompt, so that a question stays one. */
const MAX_ASKED = 2

/** The question about sentences that last or take something back; undefined where all of it is known. */
export function askFor(
  hook: Hook,
  lasting: readonly string[],
  ending: readonly string[],
  prompt: number | undefined,
): string | undefined {
  const ends = (s: string) => wishToEnd(hook.memory.reader, s)
  const wishes = [...lasting.map((s) => ends(s) ?? wishOf(s)), ...ending.flatMap((s) => ends(s) ?? [])]
    .filter(({ actions: [first] }) => !isKnown(hook.memory, first![0].replace(/^record-/, ''), first![1]))
    .slice(0, MAX_ASKED)
    .map((wish): Wish => ({ ...wish, ...(prompt === undefined ? {} : { prompt }) }))
  return wishes.length === 0 ? undefined : askAbout(hook, [], wishes)
}

/** A sentence that says itself that it lasts is a rule, though its words state something: "I want that you …". */
function wishOf(words: string): Wish {
  const said = actionOf(words)
  return { words, actions: [(said.kind === 'learning' ? actionOf(words, 'fact') : said).action] }
}
