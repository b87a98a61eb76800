import { identityOf } from '../../../model/entity.ts'
import type { JsonObject } from '../../../model/object.ts'
import type { Registry } from '../../../model/registry.ts'
import { mapStrings } from './json-values.ts'
import { isTooLong, pieces } from './text.ts'
import type { Item } from './types.ts'

/** What stays in the field of a text that is kept in pieces. */
const HEAD = 2_000
const NAME_HEAD = 200

/** An item whose texts fit into fields, then linked chunks that hold the long ones whole. No length is refused. */
export function shorten(item: Item, registry: Registry): Item[] {
  const kind = registry.recordedBy(item.verb)
  if (!kind || kind.name === 'chunk') return [item]
  const long: { field: string; text: string }[] = []
  const args = mapStrings(item.args as JsonObject, (text, [first, ...path]) => {
    if (!isTooLong(text)) return text
    const field = `${first}${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`
    long.push({ field, text })
    const [head = ''] = pieces(text, kind.key.includes(field) ? NAME_HEAD : HEAD)
    return `${head.trimEnd()} … (the whole is in chunks: ${field} of ${item.where})`
  }) as JsonObject
  if (long.length === 0) return [item]
  const owner = item.as ?? identityOf(kind, args)
  const made = long.map(({ field, text }) =>
    chunksOf(text, { sourceFile: item.where, section: field, where: item.where, ...(owner ? { owner } : {}) }),
  )
  return [{ ...item, args }, ...made.flatMap((m) => m.chunks), ...made.flatMap((m) => m.links)]
}

/** A text as chunks in order, the first at `from`, and the links of each to its `owner`, of which it is a piece. */
export function chunksOf(
  text: string,
  o: { sourceFile: string; section: string; where: string; owner?: string; from?: number },
): { chunks: Item[]; links: Item[] } {
  const chunks = pieces(text)
    .filter((content) => content.trim() !== '')
    .map((content, i): Item => {
      const position = (o.from ?? 0) + i
      const args = { content, sourceFile: o.sourceFile, section: o.section || undefined, position }
      // by what it says too: a page may have a heading twice
      return { verb: 'record-chunk', args, where: o.where, as: `chunk ${o.where} ${position} ${content}` }
    })
  const { owner, where } = o
  if (owner === undefined) return { chunks, links: [] }
  const argsOf = (c: Item) => ({ from: c.as!, to: owner, type: 'from-source' })
  return { chunks, links: chunks.map((c): Item => ({ verb: 'link-entities', args: argsOf(c), where })) }
}
