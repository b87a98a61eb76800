import { statSync } from 'node:fs'
import { join } from 'node:path'
import { below } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { identityOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { forceOf } from '../../travel/formats/import/orders.ts'
import { actionOf } from '../../travel/formats/import/said-as.ts'
import { agreedJustNow, askAbout, type Wish } from './ask-person.ts'
import type { Hook } from './hook.ts'
import { isForLater, takesBack } from './lasting-words.ts'
import { severalMeant, wishToEnd, wishToReturn, wishToTakeBack } from './taken-back.ts'

/** Of one prompt, so that a question stays one. */
const MAX_ASKED = 2
const YOU_SHOULD = /^(?:you|we) (?:should|must|need to|have to) (?!not\b)/i

/** The question about sentences that last or take something back, and these; undefined where all of it is known. `all`: of the prompt. */
export function askFor(hook: Hook, sentences: readonly string[], all: readonly string[], prompt: number | undefined) {
  const { reader } = hook.memory
  const back = wishToTakeBack(reader, all, agreedJustNow(hook))
  // an order to do one thing now is work, however often it is given; nor does a report ask for anything
  const isWork = (s: string) => !isForLater(s) && [0, 2].includes(forceOf(s.replace(YOU_SHOULD, '')))
  const asked = sentences.filter((s) => s !== back?.words && !isWork(s))
  const wishes = [
    back ?? [],
    ...asked.map((s) => wishToReturn(reader, s) ?? wishToEnd(reader, s) ?? (takesBack(s) ? [] : wishOf(s, hook.project.root))), // biome-ignore format: a row
  ]
    .flat()
    .filter(({ actions: [first] }) => !isKnown(hook.memory, first![0].replace(/^record-/, ''), first![1]))
    .map((wish): Wish => ({ ...wish, ...(prompt === undefined ? {} : { prompt }) }))
  const now = wishes.slice(0, MAX_ASKED)
  const unclear = now.length === 0 ? asked.flatMap((s) => severalMeant(reader, s) ?? []) : []
  if (now.length === 0) return unclear.length > 0 ? { visible: unclear[0], asked: [] } : undefined
  return { visible: askAbout(hook, [], now, wishes.length - now.length), asked: now.map((wish) => wish.words) }
}

/** Whether the knowledge has it already, and somebody agreed to it. */
function isKnown(memory: Memory, kindName: string, args: { readonly [field: string]: Json | undefined }): boolean {
  const kind = memory.registry().kind(kindName)
  const id = kind && identityOf(kind, args)
  const there = id === undefined ? undefined : memory.reader.entity(id)
  return there?.live === true && standingOf(there.fields) !== 'proposed'
}

/** A sentence that says itself that it lasts is a rule, though its words state something: "I want that you …". */
function wishOf(words: string, root: string): Wish {
  const said = actionOf(words)
  const { kind, action } = said.kind === 'learning' ? actionOf(words, 'fact') : said
  const folder = kind === 'fact' ? folderIn(words, root) : undefined
  if (folder === undefined) return { words, actions: [action] }
  const paths = [`${folder}/**`]
  return { words, actions: [[action[0], { ...action[1], paths }]], also: `holds for ${paths[0]}` }
}

const IN_FOLDER = /(?:^|\s)(?:in|inside|within|under|for)\s(?:the\s)?([\w@-][\w.@-]*(?:\/[\w.@-]+)*\/?)(?=[\s,:;]|$)/gi

/** The one folder of the repository in which a sentence says that it holds: "in examples/celery". */
function folderIn(words: string, root: string): string | undefined {
  const named = [...words.matchAll(IN_FOLDER)].map((m) => m[1]!).filter((name) => name.includes('/'))
  const [folder, ...others] = new Set(named.map((name) => name.replace(/[/.]$/, '')))
  const isFolder = folder !== undefined && others.length === 0 && below(root, join(root, folder)) === folder
  return isFolder && statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() ? folder : undefined
}
