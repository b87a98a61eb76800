/** The agent judges what of a session lasts. It is told so at the start, and asked again where it writes anyway. */
import { dropMeta, getMeta } from '../../engine/store/meta.ts'
import type { Prompt, Prompts } from '../../engine/store/prompts.ts'
import { askedFor } from './ask-person.ts'
import { dataLine, dataList } from './delivery.ts'
import type { Hook } from './hook.ts'
import { openPrompts, PROMPTS_MS } from './kept-prompts.ts'
import { isSmall } from './small-talk.ts'

export const TO_RECORD =
  'Tidemark: when the user says something that later sessions need (a rule, a decision, how things are), record it with act, and add "said": their exact words.'

/** Characters of all that is listed: about 250 tokens of an earlier session, and 600 where the agent's own is full. */
const MAX_CHARS = { earlier: 1_000, own: 2_400 }
const MAX_OF_ONE = 160
/** A shorter prompt, or one that only asks, holds nothing that lasts. */
const LEAST_CHARS = 25
const ONLY_ASKS =
  /^(?:and |so |but )?(?:why|what|how|where|when|which|who|can|could|would|do|does|did|is|are|should|have|has|warum|was|wie|wo|kann|qué|cómo|por qué|pourquoi|comment|est-ce|peux-tu|o que|como)\b(?:[^.!?\n]|\.(?=\S)){0,200}\?\s*$/i
/** What was left longer ago is nobody's any more. */
const LEFT_MS = 14 * 86_400_000
/** Sessions were taken in: what was picked of them waits for the next one. */
export const PAST = 'past_to_judge'

export const mayHold = ({ text }: Prompt): boolean =>
  text.length >= LEAST_CHARS && sentencesIn(text).some((s) => !ONLY_ASKS.test(s) && !isSmall(s))
const sentencesIn = (text: string): string[] => text.split(/(?<=[.!?])\s+|\n/)

const TITLE = {
  own: 'The user typed in this session, and nothing was recorded for it (data):',
  earlier: 'Earlier sessions: what the user typed, and nothing was recorded for it (data):',
}

/** The newest prompts that may hold something, as far as there is room, and the question about them. */
export function questionOn(all: readonly Prompt[], whose: 'own' | 'earlier'): { listed: Prompt[]; text: string } {
  const listed: Prompt[] = []
  const lineOf = ({ text }: Prompt) => dataLine(text.replace(/\s+/g, ' '), MAX_OF_ONE)
  let left = MAX_CHARS[whose]
  for (const p of all.filter(mayHold).toReversed()) if ((left -= lineOf(p).length) >= 0) listed.unshift(p)
  const text = `${dataList(TITLE[whose], listed.map(lineOf))}\nWhat of this will a later session need? Record only that, with act and "said": the user's exact words. Most of it needs nothing.`
  return { listed, text }
}

/** Each prompt is listed once; what there is no room for waits. */
function asked(hook: Hook, prompts: Prompts, all: readonly Prompt[], whose: 'own' | 'earlier'): string | undefined {
  const { listed, text } = questionOn(all, whose)
  const done = [...listed, ...all.filter((p) => !mayHold(p))].map((p) => p.id)
  prompts.show(done, hook.memory.env.now())
  return listed.length === 0 ? undefined : text
}

/** Where the agent writes anyway: what its own session's person typed. */
export const toJudge = (hook: Hook): string | undefined =>
  hook.attempt('to judge', () => {
    if (hook.session === '' || !hook.captures) return undefined
    using prompts = openPrompts(hook.project, { wait: PROMPTS_MS })
    const all = prompts?.unjudgedOf(hook.session) ?? []
    return all.length === 0 ? undefined : asked(hook, prompts!, all, 'own')
  })

/** What was taken in, or sessions left that ended before their agents were asked: once in a session, at a prompt that a person types. */
export function leftToJudge(hook: Hook, prompts: Prompts): string | undefined {
  const { sessions, session, memory } = hook
  if (hook.kept('judged') === true) return undefined
  const isPast = getMeta(memory.db, PAST) !== undefined
  const over = prompts.unjudgedSessions(isPast ? 0 : memory.env.now() - LEFT_MS).filter((id) => {
    const state = sessions.get(id)?.state
    return id !== session && (isPast ? state === undefined : state !== 'active' && state !== 'idle')
  })
  // whoever records, or hands over, has judged what was typed before
  const judgedAt = (id: string) => {
    const { recordedAt = 0, handedOffAt = 0 } = sessions.get(id)?.data ?? {}
    return Math.max(Number(recordedAt), Number(handedOffAt))
  }
  // … but not what it left to the person to answer, who never did
  const all = over.toReversed().flatMap((id) => {
    const unanswered = askedFor(sessions.get(id)?.data.questions)
    return prompts.unjudgedOf(id).filter((p) => p.at > judgedAt(id) || unanswered.has(p.id))
  })
  if (isPast) memory.db.write(() => dropMeta(memory.db, PAST))
  const text = asked(hook, prompts, all, 'earlier')
  if (text !== undefined) sessions.patch(session, { judged: true })
  return text
}
