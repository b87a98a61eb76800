import { basename } from 'node:path'
import { type FrontMatter, fencedLines, frontMatterOf, listIn, textIn } from '../../../model/markdown.ts'
import { foldName } from '../../../model/names.ts'
import { unlessEmpty, unlessNone } from './json-values.ts'
import { aliasOf, linkOf } from './mcp-memory.ts'
import { type Page, pagesAt } from './pages.ts'
import { chunksOf } from './shorten.ts'
import type { Importer, Item } from './types.ts'

/** `- [category] text #tag (context)`; a checkbox and a link are none. */
const OBSERVATION = /^\s*[-*+]\s+(\[(?![ xX-]\]|\[)[^\]\n]{1,80}\])(?!\()\s+(\S.*)$/
/** `- relation [[Target]] (context)`; without a word it relates to it. */
const RELATION = /^\s{0,40}[-*+]\s([^[\]]{0,100})\[\[([^[\]|\n]{1,300})(?:\|[^[\]\n]{0,300})?\]\](.*)$/
const TAG = /(?<!\S)#([\p{L}\p{N}][\p{L}\p{N}_/-]{0,60})/gu
const NAMED = new Set(['title', 'type', 'tags', 'permalink'])

export const basicMemory: Importer = {
  name: 'basic-memory',
  about:
    'the folder of basic-memory: notes become concepts with their observations, relations become links, other text chunks',
  read(path, root) {
    const { pages, unplaced, rest } = pagesAt(path, root, ['.md'])
    const names = new Map<string, string>()
    const tails = new Map<string, string>()
    for (const { label, text } of pages) {
      const front = frontMatterOf(text)
      const [title, permalink] = [titleOf(label, front), textIn(front, 'permalink') ?? '']
      for (const known of [basename(label, '.md'), permalink, title]) names.set(plainly(known), title)
      tails.set(plainly(permalink.split('/').at(-1)!), title)
    }
    const called = (name: string) => (name === '' ? undefined : (names.get(name) ?? tails.get(name)))
    const find = (target: string) => called(plainly(target)) ?? called(plainly(target.split('/').at(-1)!))
    const notes = pages.map((page) => noteOf(page, (target) => find(target) !== undefined))
    const defined = new Map<string, Item>()
    const links = notes.flatMap(({ title, relations }) =>
      relations.flatMap(({ word, target, context, where }): Item[] => {
        const to = find(target)
        if (to !== undefined && to !== title) {
          const link = linkOf(title, to, word || 'relates to', where, defined)
          const description = [link.args.description, context].filter(Boolean).join(' ') || undefined
          return [{ ...link, args: { ...link.args, description } }]
        }
        const why = to === title ? 'an entity is not linked to itself' : 'there is no such note'
        unplaced.push({ where, what: `${word} [[${target}]]`, why })
        return []
      }),
    )
    const observations = notes.reduce((n, note) => n + note.observations, 0)
    const counts = { notes: notes.length, observations, relations: links.length }
    const items = [...defined.values(), ...notes.flatMap((n) => n.items), ...links]
    return { items, unplaced, counts, ...rest, owns: ['chunk'] }
  },
}

const titleOf = (label: string, front: FrontMatter) => textIn(front, 'title') ?? basename(label, '.md')
const plainly = (name: string) => foldName(name).replace(/[\s_-]+/g, '-')

/** @param isThere whether a link of it leads to a note: where it does not, it stays text. */
function noteOf({ label, text }: Page, isThere: (target: string) => boolean) {
  const front = frontMatterOf(text)
  const title = titleOf(label, front)
  const observations: string[] = []
  const relations: { word: string; target: string; context: string; where: string }[] = []
  const prose: string[] = []
  const tags = new Set(listIn(front, 'tags').map((tag) => tag.replace(/^#/, '')))
  const lines = front.body.split('\n')
  const fenced = fencedLines(lines)
  let heading = ''
  for (const [i, line] of lines.entries()) {
    const [, category, said] = (!fenced[i] && OBSERVATION.exec(line)) || []
    const [, word = '', target = '', context = ''] = (!fenced[i] && said === undefined && RELATION.exec(line)) || []
    const [, below] = (!fenced[i] && /^#{2,6}\s+(\S.*)$/.exec(line)) || []
    if (below !== undefined) heading = /\b(?:observations|relations)\s*$/i.test(below) ? '' : `${below.trim()}: `
    if (said !== undefined) {
      // a statement below "Out of scope" says nothing without it
      observations.push(`${category} ${heading}${said.trim()}`)
      for (const [, tag] of said.matchAll(TAG)) tags.add(tag!)
    } else if (target !== '') {
      const about = context.trim().replace(/^\((.*)\)$/, '$1')
      relations.push({ word: word.trim(), target: target.trim(), context: about, where: `${label}:${i + 1}` })
      if (!isThere(target) || context.includes('[[')) prose.push(line)
    } else if (!/^#{1,2}\s+(?:observations|relations)\s*$/i.test(line)) prose.push(line)
  }
  const known = [...front.fields].filter(([key]) => !NAMED.has(key))
  const permalink = textIn(front, 'permalink')
  const args = {
    name: title,
    type: textIn(front, 'type'),
    observations: unlessNone([...new Set(observations)]),
    topics: unlessNone([...tags]),
    attrs: unlessEmpty({
      ...(permalink && { permalink }),
      ...Object.fromEntries(known.map(([k, v]) => [k, String(v)])),
    }),
  }
  const as = aliasOf(title)
  const page = prose.join('\n').trim()
  const only = page.replace(/^#\s+.*\n?/, '').trim()
  const body = chunksOf(only === '' ? '' : page, { sourceFile: label, section: '', where: label, owner: as })
  const items: Item[] = [{ verb: 'record-concept', args, where: label, as }, ...body.chunks, ...body.links]
  return { label, title, permalink, observations: observations.length, relations, items }
}
