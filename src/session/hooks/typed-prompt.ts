/** What a person types: kept on this machine, and where the words say that they last, put to the person as a question. */
import { plainLine } from '../../travel/formats/import/classify.ts'
import { leftToJudge } from './ask-agent.ts'
import { agreedJustNow, isOfPerson, isTyped } from './ask-person.ts'
import type { HookReply } from './call.ts'
import { type Hook, joined } from './hook.ts'
import { openPrompts, PROMPTS_MS } from './kept-prompts.ts'
import { isForLater, mayBeRepeated, partsOf, SESSIONS } from './lasting-words.ts'
import { isSmall } from './small-talk.ts'
import { CUT_OUT, ownWords, sentencesOf } from './typed-words.ts'

/** Keeps a prompt. Says what the person is to be asked about it, and what the agent is to judge of earlier sessions. */
export async function notePrompt(hook: Hook, text: string): Promise<HookReply> {
  const { config, project, memory, call } = hook
  const session = hook.session || call.session
  const typed = ownWords(text).trim()
  if (session === '' || typed === '' || isSmall(typed) || !isOfPerson(hook)) return {}
  const now = memory.env.now()
  using prompts = openPrompts(project, { create: config.keepPrompts, wait: PROMPTS_MS, now })
  if (prompts && !config.keepPrompts) hook.attempt('prompts', () => prompts.erase())
  const sentences = sentencesOf(text).flatMap((s) => partsOf(plainLine(s)))
  const again = config.keepPrompts ? sentences.filter(mayBeRepeated) : []
  const isByHand = isTyped(hook)
  const prompt = config.keepPrompts
    ? await hook.attemptLater(
        'prompts',
        async () => prompts?.add({ at: now, session, client: call.client, text: typed }, again, isByHand),
        true,
      )
    : undefined
  // nothing can be kept with the session, or nobody is there: nothing is asked
  if (hook.session === '' || hook.left <= 0 || !isByHand) return {}
  const left = prompts && hook.attempt('to judge', () => leftToJudge(hook, prompts))
  const open = sentences.filter(
    (s) =>
      !s.includes('[redacted: ') &&
      !s.includes(CUT_OUT) &&
      hook.attempt('prompts', () => prompts?.isRefused(s)) !== true,
  )
  const isAgain = (s: string) =>
    again.includes(s) && (hook.attempt('prompts', () => prompts?.sessionsThatSay(s)) ?? 0) >= SESSIONS
  const wanted = open.filter((s) => isForLater(s) || isAgain(s))
  // what most prompts do without is loaded when it is needed
  const isAsked = wanted.length > 0 || agreedJustNow(hook).length > 0
  const question = isAsked ? (await import('./wish-question.ts')).askFor(hook, wanted, sentences, prompt) : undefined
  // a repetition is asked about once, also where nobody answers
  for (const s of wanted.filter((s) => question?.asked.includes(s) && !isForLater(s)))
    hook.attempt('prompts', () => prompts?.refuse(s, now))
  return { visible: question?.visible, context: joined(left) }
}
