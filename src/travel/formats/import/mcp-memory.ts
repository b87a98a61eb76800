import { UserError } from '../../../base/errors.ts'
import { outsideJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { foldName, slug, WORD } from '../../../model/names.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { RELATIONS } from '../../../model/relations.ts'
import { labelOf, readText } from './files.ts'
import { unlessEmpty, unlessNone } from './json-values.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/** Other words for core relations. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  'depends-on': ['requires', 'needs', 'relies-on', 'blocks-on'],
  supersedes: ['replaces'],
  'instance-of': ['is-a', 'is-an', 'type-of', 'kind-of'],
  'relates-to': ['related-to', 'related', 'associated-with', 'connected-to'],
  uses: ['calls', 'utilizes'],
  impacts: ['affects', 'influences'],
  caused: ['causes'],
  'led-to': ['leads-to'],
  'based-on': ['derived-from'],
  extends: ['builds-on'],
  contradicts: ['opposes'],
  'followed-by': ['precedes'],
  about: ['describes'],
}

export const mcpMemory: Importer = {
  name: 'mcp-memory',
  about: 'the JSONL file of the MCP reference memory server: entities become concepts, relations links',
  read(path, root) {
    const file = labelOf(path, root)
    const unplaced: Unplaced[] = []
    const records = recordsOf(readText(path, root), file, unplaced)
    const [first] = unplaced
    const hint = 'it has one JSON object per line, {"type":"entity",…} or {"type":"relation",…}'
    if (records.length === 0 && first)
      throw new UserError('bad-format', `${file} is no memory file: ${first.where}: ${first.why}`, hint)
    const concepts: Item[] = []
    const names = new Map<string, string>()
    const called = new Map<string, string>()
    const links: Item[] = []
    const defined = new Map<string, Item>()
    const isEntity = (value: JsonObject) => value.type === 'entity' && isName(value.name)
    for (const { value, where } of records.filter((r) => isEntity(r.value))) {
      const own = String(value.name)
      // the server tells names apart by case: of two such the later one has its type in its name
      const typed = `${own} (${isName(value.entityType) ? value.entityType : 'another'})`
      const name = names.get(own) ?? [own, typed].find((n) => !called.has(foldName(n))) ?? own
      names.set(own, name)
      if (!called.has(foldName(own))) called.set(foldName(own), name)
      called.set(foldName(name), name)
      concepts.push(conceptOf(value, name, where, unplaced))
    }
    for (const { value, where } of records.filter((r) => !isEntity(r.value))) {
      const leaveOut = (why: string, what = JSON.stringify(value)) => void unplaced.push({ where, what, why })
      const { type, from, to, relationType } = value
      if (type === 'entity') leaveOut('an entity without a name')
      else if (type !== 'relation') leaveOut('neither an entity nor a relation')
      else if (!isName(from) || !isName(to) || !isName(relationType))
        leaveOut('a relation needs from, to and relationType')
      else {
        const what = `${from} ${relationType} ${to}`
        const [source, target] = [from, to].map((end) => names.get(end) ?? called.get(foldName(end)))
        const missing = [source ? [] : [`"${from}"`], target ? [] : [`"${to}"`]].flat()
        if (!source || !target) leaveOut(`there is no entity ${missing.join(' and ')}`, what)
        else if (source === target) leaveOut('an entity is not linked to itself', what)
        else links.push(linkOf(source, target, relationType, where, defined))
      }
    }
    const items = [...defined.values(), ...concepts, ...links]
    const counts = { entities: concepts.length, relations: links.length }
    return { items, unplaced, counts, owns: ['chunk'], files: [file] }
  },
}

const isName = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''
export const aliasOf = (name: string) => `concept ${foldName(name)}`

/** One record per line; or one document `{entities, relations}`, as the server's read_graph answers. */
function recordsOf(text: string, file: string, unplaced: Unplaced[]): { value: JsonObject; where: string }[] {
  const whole = text.trimStart().startsWith('{') ? outsideJson(text) : undefined
  const taken = (value: Json | undefined, where: string, what: string, more: JsonObject = {}) => {
    // some files leave the type out
    const holds = (key: string) => isObject(value) && key in value
    const type = holds('relationType') ? 'relation' : holds('entityType') || holds('observations') ? 'entity' : ''
    if (isObject(value)) return [{ value: { ...(type && { type }), ...value, ...more }, where }]
    unplaced.push({ where, what, why: value === undefined ? 'not JSON' : 'not an object' })
    return []
  }
  const listed = (list: Json | undefined, name: string, type: string) =>
    (Array.isArray(list) ? list : []).flatMap((v, i) => taken(v, `${file}#${name}[${i}]`, JSON.stringify(v), { type }))
  if (isObject(whole) && (Array.isArray(whole.entities) || Array.isArray(whole.relations)))
    return [...listed(whole.entities, 'entities', 'entity'), ...listed(whole.relations, 'relations', 'relation')]
  return text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : taken(outsideJson(line), `${file}:${i + 1}`, line)))
}

function conceptOf(value: JsonObject, name: string, where: string, unplaced: Unplaced[]): Item {
  const { type: _type, name: _name, entityType, observations, ...rest } = value
  const said = Array.isArray(observations) ? observations : observations === undefined ? [] : [observations]
  const texts: string[] = []
  said.forEach((o, i) => {
    if (typeof o === 'string' && o.trim() !== '') texts.push(o)
    else if (isObject(o) && isName(o.content ?? o.text)) texts.push(String(o.content ?? o.text))
    else unplaced.push({ where, what: `observation ${i + 1} of "${name}": ${JSON.stringify(o)}`, why: 'not text' })
  })
  const args = {
    name,
    type: isName(entityType) ? entityType : undefined,
    observations: unlessNone([...new Set(texts)]),
    attrs: unlessEmpty(Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== null))),
  }
  return { verb: 'record-concept', args, where, as: aliasOf(name) }
}

/** A link in the words of the source; a word of the project's own is defined on the way. */
export function linkOf(from: string, to: string, original: string, where: string, defined: Map<string, Item>): Item {
  const { type, reversed } = relationFor(original)
  const [a, b] = reversed ? [to, from] : [from, to]
  const description = type === wordOf(original) ? undefined : original
  const definition = { name: type, about: `"${original}" in ${where.split(/[:#]/)[0]}` }
  if (!defined.has(type) && !RELATIONS.some((r) => r.name === type))
    defined.set(type, { verb: 'define-relation', args: definition, where })
  return { verb: 'link-entities', args: { from: aliasOf(a), to: aliasOf(b), type, description }, where }
}

/** `worksOn`, `works_on` and `Works on` are one word: `works-on`. */
const wordOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** The relation that says the same, else one of the project's own by that word, else relates-to. */
function relationFor(original: string): { type: string; reversed?: boolean } {
  const word = wordOf(original)
  const bare = word.replace(/^(?:is|are|was|has-been)-/, '')
  for (const w of [word, bare, `${word}s`, word.replace(/^(\w+)(-|$)/, '$1s$2')]) {
    if (RELATIONS.some((r) => r.name === w)) return { type: w }
    // "follows the rules" says nothing of an order in time
    const inverse = w === 'follows' ? undefined : RELATIONS.find((r) => r.inverse === w)
    if (inverse) return { type: inverse.name, reversed: true }
    const same = Object.keys(SYNONYMS).find((type) => SYNONYMS[type]!.includes(w))
    if (same !== undefined) return { type: same }
  }
  // a word of the project's own, if the letters that were dropped were no part of it
  const ascii = !/[^\p{ASCII}]/u.test(original.normalize('NFKD').replace(/\p{M}/gu, ''))
  return { type: ascii && WORD.test(word) && slug(word) === word ? word : 'relates-to' }
}
