import type { Term } from '../store/terms.ts'

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Words by which one asks rather than what one asks for: "give me an overview of the different things I mentioned". */
const ASKING = list(`
  aspect aspects throughout across conversation conversations chat chats discussion discussions mention mentioned
  mentioning summary summarize summarise summarized overview recap comprehensive walk explain tell told remind provide
  give given please help suggest describe show different various kind kinds thing things brought bring many much
  regarding`)

/** Words that ask only beside one of `OF_TALK`: "list in order what I mentioned", but an order of a customer. */
const AT_TIMES = list('list order item items type types')
const OF_TALK = list('brought mention mentioned conversation conversations throughout across summary')

/** Which of a question's words ask, and are not asked for. */
export function asking(terms: readonly Term[]): (term: Term) => boolean {
  const ofTalk = terms.some((t) => OF_TALK.has(t.word))
  return ({ word }) => ASKING.has(word) || (ofTalk && AT_TIMES.has(word))
}

/** Words by which a sentence that asks or bids begins. */
const OPENING = list(`
  who what when where why which how whose whom is are was were am do does did can could should would will shall may might
  must has have had tell list give show explain describe summarize summarise remind help name find let please i we`)

/** Whether it is a title, a subject or some keywords, and not a sentence that asks. */
export function isHeading(question: string): boolean {
  const asked = question.trim()
  if (/[?？؟]/.test(asked)) return false
  const first = /[\p{L}\p{N}]+/u.exec(asked.toLowerCase())?.[0] ?? ''
  return !OPENING.has(first)
}
