import { join } from 'node:path'
import { besideStore, type Project } from '../../engine/store/project.ts'
import { Prompts, wordsOf } from '../../engine/store/prompts.ts'
import { sha256 } from '../../model/digest.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import { ownWords } from './typed-words.ts'

/** A hook waits so long for another one that writes there. */
export const PROMPTS_MS = 40

/** The prompts that were typed in a project on this machine; nothing where none was kept, or the file is no use. */
export const openPrompts = (
  project: Pick<Project, 'root' | 'storePath'>,
  options: { create?: boolean; wait?: number; now?: number } = {},
): Prompts | undefined => Prompts.open(join(...besideStore(project, 'prompts.db')), options)

/** The kept prompt with a digest of the words that a record rests on, and these; undefined where nobody typed them. */
export function evidenceFor(prompts: Prompts | undefined, quote: string, session: string) {
  const evidence = (id: number, words: string) => [`${id}:${sha256(wordsOf(words)).slice(0, 16)}`, words] as const
  const prompt = prompts?.saying(quote, session)
  if (prompt) return evidence(prompt.id, quote)
  // what is long and stands in quotation marks is not kept: a quote of it rests on the words around it
  const own = ownWords(quote).trim()
  const around = prompts?.saying(own, session)
  const flat = (text: string) => text.replace(/\s+/g, ' ').toLowerCase()
  return around && flat(around.text).includes(flat(own)) ? evidence(around.id, own) : undefined
}

/** A session recorded something for the prompts that these name, resting on these words. Whether it did so by itself: nobody asked it about them. */
export function markUsed(prompts: Prompts, quotes: ReadonlyMap<string, string>, session: string, now: number): boolean {
  const unasked = [...quotes].map(([said, words]) => {
    prompts.quote(said, words, now)
    return prompts.use(Number(said.split(':')[0]), session)
  })
  return unasked.every(Boolean)
}

/** The user's words that an entity rests on, if they were typed here. */
export function quoteOf(prompts: Prompts | undefined, e: Entity): string | undefined {
  const said = provenanceOf(e).findLast((p) => p.said !== undefined)?.said
  return typeof said === 'string' ? prompts?.quoted(said) : undefined
}
