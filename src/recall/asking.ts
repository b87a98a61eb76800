import type { Term } from '../store/words.ts'

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
