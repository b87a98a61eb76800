import { keptIn } from '../../base/lookup.ts'
import type { Project } from '../../engine/store/project.ts'
import { type Term, termsOf } from '../../engine/store/terms.ts'
import { slug } from '../../model/names.ts'
import { namesIn } from './contradictions.ts'
import { TOPIC_WORDS } from './topic-words.ts'

const MOST_TERMS = 300

/** "sign in" is not "sign": stop-words count. */
const wordsIn = (text: string) => termsOf(text, MOST_TERMS, true)

const keyOf = (text: string): string =>
  wordsIn(text.replaceAll(/[-_]/g, ' ').toLowerCase())
    .map((t) => t.stem)
    .join(' ')

/** The topics that words speak of: those that ship, and a project's own. */
export class TopicVocabulary {
  /** Stems of a word or phrase → its topics. */
  readonly #words = new Map<string, Set<string>>()
  readonly #names = new Map<string, string>()
  readonly #spoken = new Map<string, string[]>()
  /** Single words as they are written, in lower case. */
  readonly #written = new Set<string>()
  /** The stem that a phrase begins with → how many words the longest of them has. */
  readonly #longest = new Map<string, number>()

  constructor(own: Readonly<Record<string, readonly string[]>> = {}) {
    for (const line of TOPIC_WORDS.trim().split('\n')) {
      const [names = '', words = ''] = line.split(': ')
      this.#add(names.split(' '), words.split(', '), this.#words)
    }
    // in a project a word speaks of what the project says, and of nothing else
    const words = new Map<string, Set<string>>()
    for (const [names, spoken] of Object.entries(own)) this.#add(names.split(/\s+/).filter(Boolean), spoken, words)
    for (const [key, topics] of words) this.#words.set(key, topics)
  }

  #add(names: readonly string[], spoken: readonly string[], words: Map<string, Set<string>>): void {
    const said = names.filter((name) => !name.startsWith('~'))
    const plain = names.map((name) => name.replace('~', ''))
    const topic = this.nameOf(plain[0] ?? '')
    for (const name of plain) this.#names.set(keyOf(name), topic)
    for (const word of [...said, ...spoken]) {
      const key = keyOf(word)
      if (key === '') continue
      if (!/[ -]/.test(word)) this.#spoken.set(topic, [...(this.#spoken.get(topic) ?? []), word])
      for (const w of word.toLowerCase().split(/[\s_-]+/)) this.#written.add(w)
      const [first = '', ...rest] = key.split(' ')
      this.#longest.set(first, Math.max(this.#longest.get(first) ?? 0, 1 + rest.length))
      words.set(key, (words.get(key) ?? new Set()).add(topic))
    }
  }

  /** The single words that speak of a topic, which is called by its name. */
  wordsOn(said: string): Term[] {
    return termsOf((this.#spoken.get(this.known(said) ?? '') ?? []).join(' '))
  }

  /** One name for a topic and its aliases: `db` is `database`. */
  nameOf(said: string): string {
    return this.known(said) ?? slug(said)
  }

  /** The name, if it is one of the vocabulary. */
  known(said: string): string | undefined {
    return this.#names.get(keyOf(said))
  }

  /** Topics that the words of a text speak of, with these words; the longest phrase counts. */
  in(text: string): Map<string, string[]> {
    // a brand is one word: SQLite has no "SQ", and GitHub Actions is no git
    const plain = text.replaceAll(/[A-Za-z][A-Za-z0-9]*/g, (w) =>
      this.#written.has(w.toLowerCase()) ? w.toLowerCase() : w,
    )
    const terms = wordsIn(plain)
    const found = new Map<string, string[]>()
    for (let i = 0; i < terms.length; ) {
      let n = Math.min(this.#longest.get(terms[i]!.stem) ?? 0, terms.length - i)
      let topics: Set<string> | undefined
      for (; n > 0 && !topics; n--) topics = this.#words.get(keyAt(terms, i, n))
      const by = terms.slice(i, i + n + 1).map((t) => t.word)
      for (const topic of topics ?? []) found.set(topic, [...(found.get(topic) ?? []), by.join(' ')])
      i += topics ? n + 1 : 1
    }
    return found
  }
}

const keyAt = (terms: readonly { stem: string }[], at: number, n: number): string => {
  let key = terms[at]!.stem
  for (let i = 1; i < n; i++) key += ` ${terms[at + i]!.stem}`
  return key
}

let shipped: TopicVocabulary | undefined
export const shippedWords = () => (shipped ??= new TopicVocabulary())
const made = new WeakMap<object, TopicVocabulary>()

/** The topics of a project: `"topics": {"billing invoices": ["dunning", "proration"]}` in its configuration adds to those that ship. */
export const topicVocabularyOf = (project: Pick<Project, 'topics'>): TopicVocabulary =>
  project.topics === undefined
    ? shippedWords()
    : keptIn(made, project, () => new TopicVocabulary(namesIn(project.topics)))
