/** What a person types: kept on this machine, and where the words say that they last, put to the person as a question. */
import { plainLine } from '../formats/import/classify.ts'
import { actionOf } from '../formats/import/said-as.ts'
import { identityOf, standingOf } from '../model/entity.ts'
import type { HookReply } from './call.ts'
import { type Hook, joined } from './hook.ts'
import { leftToJudge } from './judge.ts'
import { openPrompts, PROMPTS_MS } from './kept-prompts.ts'
import { mayBeRepeated, SESSIONS, saysItLasts } from './lasting-words.ts'
import { isSmall } from './small.ts'
import { wishToEnd } from './taken-back.ts'
import { ownWords, sentencesOf } from './typed-words.ts'
import { askAbout, isOfPerson, isTyped, type Wish } from './witness.ts'

/** Of one prompt, so that a question stays one. */
const MOST_ASKED = 2

/** Keeps a prompt. Says what the person is to be asked about it, and what the agent is to judge of earlier sessions. */
export function heard(hook: Hook, text: string): HookReply {
  const { config, project, memory, call } = hook
  const session = hook.session || call.session
  const typed = ownWords(text).trim()
  if (session === '' || typed === '' || isSmall(typed) || !isOfPerson(hook)) return {}
  const sentences = sentencesOf(text).map(plainLine)
  using prompts = config.keepPrompts ? openPrompts(project, { create: true, wait: PROMPTS_MS }) : undefined
  const again = sentences.filter(mayBeRepeated)
  const prompt = prompts?.add({ at: memory.env.now(), session, client: call.client, text: typed }, again)
  // nothing can be kept with the session, so nothing can be asked
  if (hook.session === '' || hook.left <= 0) return {}
  const left = prompts && isTyped(hook) ? leftToJudge(hook, prompts) : undefined
  const lasts = (s: string) => saysItLasts(s) || (again.includes(s) && (prompts?.sessionsThatSay(s) ?? 0) >= SESSIONS)
  const wishes = sentences
    .filter((s) => !s.includes('[redacted: ') && !prompts?.isRefused(s))
    .flatMap((s): Wish[] => {
      const ends = wishToEnd(memory.reader, s)
      if (!ends && !lasts(s)) return []
      return isKnown(hook, ends ?? wishOf(s))
        ? []
        : [{ ...(ends ?? wishOf(s)), ...(prompt === undefined ? {} : { prompt }) }]
    })
    .slice(0, MOST_ASKED)
  const visible = wishes.length === 0 ? undefined : askAbout(hook, [], wishes)
  return { visible, context: joined(left) }
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
