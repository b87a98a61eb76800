import { keptIn } from '../../base/lookup.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { refOf } from '../../engine/read/short-references.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { type Registry, shapeOf } from '../../model/registry.ts'
import { type Data, DataEntity, printData, type Shapes } from '../../scheme/data.ts'
import { remark } from '../../scheme/lexical.ts'
import { type Holds, marksOf } from './told.ts'
import type { Recalled } from './types.ts'
import { wordSet } from './word-overlap.ts'

export interface Printable
  extends Holds,
    Pick<Recalled, 'id' | 'kind' | 'name' | 'fields'>,
    Partial<Pick<Recalled, 'similar' | 'otherwise' | 'contradicts'>> {
  /** The day of what is old. */
  readonly since?: string
}

/** The two forms in which a result is told: all that was said, or what it is called and a reference to ask for it by. */
export type Card = { readonly card: string; readonly line: string }

/** Characters of one field in a line, and of a piece of a document or a session; of the best one more, as it may be all that is read. */
const LINE_FIELD = 80
const LINE_PIECE = 160
const BEST_PIECE = 480
/** What is not much longer is not cut. */
const NEARLY = 1.5
/** Characters of a piece in the line of the first result, as far as the tokens allow. */
export const firstPiece = (budget = BEST_PIECE): number => Math.min(BEST_PIECE, budget)

/** A longer name is no reference: the id stands beside it. */
const MAX_REFERENCE = 80
const SIMILAR_NAMED = 3

/** The text that says what it is about: what is printed by position after the name, or the name where that is all. */
export function sayingOf(e: Printable, kind: Kind | undefined): string {
  const said = (kind?.positional ?? []).flatMap((f) => (typeof e.fields[f] === 'string' ? [String(e.fields[f])] : []))
  const beyond = said.filter((text) => text !== e.name)
  // a name such as use-sqlite is read as words
  const name = /^[\w.]+(-[\w.]+)+$/.test(e.name) ? e.name.replaceAll('-', ' ') : e.name
  return beyond.length === 0 ? name : `${name}\n${beyond.join('\n')}`
}

export const saying = (e: Printable, reader: Reader): string => sayingOf(e, reader.registry().kind(e.kind))

/** An entity as `discover` prints it: what was said of it, without who said it. */
export const cardOf = (e: Printable, registry: Registry): string =>
  printData(new DataEntity(e.kind, said(e, registry.kind(e.kind))), shapesIn(registry))

/**
 * Both forms, with remarks on what was folded into it, what speaks against it, and why it no longer counts. `words`: those of the
 * question that it holds; the line of a piece of a text begins where they stand.
 */
export function formsOf(e: Printable, registry: Registry, words: readonly string[] = [], most?: number): Card {
  const card = cardOf(e, registry)
  const line = lineOf(e, registry, words, most)
  // the card says by itself what its fields say
  const isSaid = e.fields.status === e.state && !e.replacedBy?.length
  const told = e.state !== undefined && (isSaid || e.fields[e.state] !== undefined)
  const whole = card + remarks(told ? { ...e, state: undefined } : e)
  return { card: whole, line: line.length < card.length ? line + remarks(e) : whole }
}

function lineOf(e: Printable, registry: Registry, words: readonly string[], most = LINE_PIECE): string {
  const kind = registry.kind(e.kind)
  const { sourceFile, section } = e.fields
  // what its heading says stands beside it
  const told = wordSet(String(section ?? ''))
  const asked = new Set([...wordSet(words.join(' '))].filter((stem) => !told.has(stem)))
  const inShort = (text: string) => {
    if (sourceFile === undefined || words.length === 0) return cutLine(text)
    // a heading that asks is answered first of all
    if (String(section ?? '').endsWith('?')) return cutLine(text, most)
    return text.length <= NEARLY * most ? cutLine(text, NEARLY * most) : cutLine(passageOf(text, asked, most), most)
  }
  const fields = new Map<string, Data>()
  let before = ''
  for (const field of kind?.positional ?? Object.keys(e.fields).slice(0, 1)) {
    const value = e.fields[field]
    if (value === undefined) break
    const cut = typeof value === 'string' ? inShort(value) : value
    if (typeof cut === 'string' && before !== '' && cut.startsWith(before)) break // a title is often how the text begins
    fields.set(field, cut)
    before = String(cut).replace(/…$/, '')
  }
  // a piece of a page is known by its place: the beginning of a table says nothing
  if (typeof sourceFile === 'string') fields.set('sourceFile', sourceFile)
  if (typeof section === 'string') fields.set('section', cutLine(section.split(' › ').at(-1)!))
  if (namedById(kind) || e.name.length > MAX_REFERENCE || fields.size === 0) fields.set('id', refOf(e.id))
  return printData(new DataEntity(e.kind, fields), shapesIn(registry))
}

/** The beginning on one line, ending with a word where there is one. */
export function cutLine(text: string, most = LINE_FIELD): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  if (flat.length <= most) return flat
  const cut = flat.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')
  const space = cut.lastIndexOf(' ')
  return `${space > most / 2 ? cut.slice(0, space) : cut}…`
}

/** Sentences that hold a word of the question, of which so many are looked at. */
const MOST_BEGUN = 40

/** A text from the sentence on with which most of the words stand in so many characters, most of them in itself. */
export function passageOf(text: string, asked: ReadonlySet<string>, most: number): string {
  const sentences = text.split(/\n\s*|(?<=[.!?])\s+/)
  const count = (said: string) => [...wordSet(said)].filter((stem) => asked.has(stem)).length
  const own = sentences.map(count)
  const begun = [...own.keys()].filter((at) => own[at]! > 0).slice(0, MOST_BEGUN)
  let [best, held] = [0, 0]
  for (const at of [0, ...begun]) {
    const within = sentences
      .slice(at, at + most)
      .join(' ')
      .slice(0, most)
    const holds = count(within) + own[at]! / (1 + asked.size)
    if (holds > held) [best, held] = [at, holds]
  }
  return best === 0 ? text : `…${sentences.slice(best).join(' ')}`
}

function remarks({ similar = [], otherwise = [], contradicts = [], since, ...holds }: Printable): string {
  const notes = marksOf(holds)
  if (since) notes.push(`of ${since}`)
  if (contradicts.length > 0) notes.push(`contradicts ${contradicts.join(', ')}`)
  notes.push(...otherwise.slice(0, SIMILAR_NAMED))
  if (otherwise.length > SIMILAR_NAMED) notes.push(`${otherwise.length - SIMILAR_NAMED} more of others`)
  if (similar.length > 0) {
    const named = similar.slice(0, SIMILAR_NAMED).join(', ')
    notes.push(`${similar.length} more alike: ${named}${similar.length > SIMILAR_NAMED ? ' …' : ''}`)
  }
  return notes.length > 0 ? ` ${remark(notes.join('; '))}` : ''
}

/** Several may read alike: only the id says which. */
const namedById = (kind: Kind | undefined): boolean =>
  kind?.identity === 'event' || (kind?.identity === 'content' && kind.key.length > 1)

/** What is printed of an entity, by its fields. */
export function said(e: Pick<Printable, 'id' | 'fields'>, kind: Kind | undefined): Map<string, Json> {
  const fields = new Map<string, Json>()
  if (namedById(kind)) fields.set('id', e.id)
  const known = kind ? fieldsOf(kind) : {}
  for (const name of new Set([...Object.keys(known), ...Object.keys(e.fields)])) {
    const value = e.fields[name]
    if (
      value === undefined ||
      name === 'provenance' ||
      known[name]?.inner ||
      (name === 'standing' && value === 'confirmed')
    )
      continue
    fields.set(name, value)
  }
  return fields
}

const shapes = new WeakMap<Registry, Shapes>()

/** How entities of a registry are printed. */
export function shapesIn(registry: Registry): Shapes {
  const of = (kind: Kind | undefined) => kind && shapeOf(kind)
  return keptIn(shapes, registry, () => ({
    byKind: (name) => of(registry.kind(name)),
    byPlural: (plural) => of(registry.kindByPlural(plural)),
  }))
}
