import { basename } from 'node:path'
import { fencedLines, frontMatterOf, listIn, textIn } from '../../../model/markdown.ts'
import { foldName } from '../../../model/names.ts'
import { unlessEmpty, unlessNone } from './json-values.ts'
import { aliasOf, linkOf } from './mcp-memory.ts'
import { type Page, pagesAt } from './pages.ts'
import { chunksOf } from './shorten.ts'
import type { Importer, Item } from './types.ts'

/** `- [category] text #tag (context)`; a checkbox and a link are none. */
const OBSERVATION = /^\s*[-*+]\s+(\[(?![ xX-]\]|\[)[^\]\n]{1,80}\])(?!\()\s+(\S.*)$/
/** `- relation [[Target]] (context)`; without a word it relates to it. */
const RELATION = /^\s{0,40}[-*+]\s([^[\]]{0,100})\[\[([^[\]|\n]{1,300})[\]|]/
const TAG = /(?<!\S)#([\p{L}\p{N}][\p{L}\p{N}_/-]{0,60})/gu
const NAMED = new Set(['title', 'type', 'tags', 'permalink'])

export const basicMemory: Importer = {
  name: 'basic-memory',
  about:
    'the folder of basic-memory: notes become concepts with their observations, relations become links, other text chunks',
  read(path, root) {
    const { pages, unplaced, rest } = pagesAt(path, root, ['.md'])
    const notes = pages.map(noteOf)
    const names = new Map<string, string>()
    for (const { title, permalink, label } of notes)
      for (const known of [basename(label, '.md'), permalink, title]) if (known) names.set(foldName(known), title)
    const defined = new Map<string, Item>()
    const links = notes.flatMap(({ title, relations }) =>
      relations.flatMap(({ word, target, where }): Item[] => {
        const to = names.get(foldName(target)) ?? names.get(foldName(target.split('/').at(-1)!))
        if (to !== undefined && to !== title) return [linkOf(title, to, word || 'relates to', where, defined)]
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

function noteOf({ label, text }: Page) {
  const front = frontMatterOf(text)
  const title = textIn(front, 'title') ?? basename(label, '.md')
  const observations: string[] = []
  const relations: { word: string; target: string; where: string }[] = []
  const prose: string[] = []
  const tags = new Set(listIn(front, 'tags').map((tag) => tag.replace(/^#/, '')))
  const lines = front.body.split('\n')
  const fenced = fencedLines(lines)
  for (const [i, line] of lines.entries()) {
    const [, category, said] = (!fenced[i] && OBSERVATION.exec(line)) || []
    const [, word, target] = (!fenced[i] && said === undefined && RELATION.exec(line)) || []
    if (said !== undefined) {
      observations.push(`${category} ${said.trim()}`)
      for (const [, tag] of said.matchAll(TAG)) tags.add(tag!)
    } else if (target !== undefined)
      relations.push({ word: word!.trim(), target: target.trim(), where: `${label}:${i + 1}` })
    else if (!/^#{1,2}\s+(?:observations|relations)\s*$/i.test(line)) prose.push(line)
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
