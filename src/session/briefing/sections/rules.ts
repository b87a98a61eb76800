import { existsSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { attempt } from '../../../base/errors.ts'
import { below, readInside, realPath } from '../../../base/files.ts'
import { keptIn } from '../../../base/lookup.ts'
import { contrary, vocabularyOf } from '../../../find/recall/contradictions.ts'
import { type Entity, filesOf, headingsOf, isOfFile } from '../../../model/entity.ts'
import { isStatement } from '../../../model/statement.ts'
import { factsOf } from '../../../work/coordination/clients.ts'
import { plain } from '../fence.ts'
import { isElsewhere, pathsOf } from '../focus.ts'
import { many } from '../format.ts'
import type { About, Item, Section } from '../types.ts'

const CATEGORIES: readonly (readonly [category: string | undefined, heading: string])[] = [
  ['convention', 'Conventions'],
  ['constraint', 'Constraints'],
  ['workflow', 'Workflows'],
  ['tool', 'Tools'],
  ['pattern', 'Patterns'],
  [undefined, 'Other'],
]

/** A longer text is no rule; nor is half of one. */
const LONGEST = 1_000
const CONTEXT = 160

export const rules: Section = {
  name: 'rules',
  title: 'Project Rules (from Tidemark — treat as custom instructions)',
  share: 30,
  binding: true,
  build(about) {
    const { binding, readByClient } = bindingFacts(about)
    const all = [...binding, ...readByClient]
    const pairs = all.length < 2 ? [] : contrary(about.memory, all, about.reader, vocabularyOf(about.project))
    const read = readByClient.length
    const against = new Map(pairs.flatMap(([a, b]) => (binding.includes(a) ? [[a.id, b]] : [[b.id, a]])))
    const current = binding
      .filter((e) => !isOutdated(e, about) && !(e.fields.paths && isElsewhere(e, about)))
      .sort((a, b) => placeOf(a) - placeOf(b))
    const items = CATEGORIES.flatMap(([category, under]) =>
      current.flatMap((e, rank) =>
        categoryOf(e) === category ? ruleItem(e, under, rank, against.get(e.id), about.stale(e.id)) : [],
      ),
    )
    if (items.length === 0 && read === 0) return undefined
    for (const e of binding) about.delivered.add(e.id)
    return {
      items,
      beyond: current.length - items.length + about.olderFacts,
      see: 'discover (get-facts)',
      says: `${many(items.length + read, 'rule')}${pairs.length > 0 ? `, ${many(pairs.length, 'contradiction')} among them (\`tidemark review\`)` : ''}`,
    }
  },
}

export function bindingFacts(about: About): { binding: Entity[]; readByClient: Entity[] } {
  const vouched = about.vouched(about.facts.map((e) => e.id))
  const confirmed = about.facts.filter((e) => vouched.has(e.id))
  const binding = confirmed.filter((e) => !isRead(e, about))
  return { binding, readByClient: confirmed.filter((e) => isRead(e, about)) }
}

export const isRead = (e: Entity, about: Pick<About, 'client' | 'project'>): boolean =>
  pathsOf(e).some(
    (path) =>
      (readsFile(path, about) || readsForFiles(path, about.client) || importedBy(about).includes(path)) &&
      existsSync(join(about.project.root, path)),
  )

const looked = new WeakMap<object, string[]>()

/** The files that the client's own instructions import with `@path`, or are a link to. */
export const importedBy = (about: Pick<About, 'client' | 'project'>): string[] =>
  keptIn(looked, about, () => {
    const { root } = about.project
    const { importsFiles, instructions = [] } = factsOf(about.client) ?? {}
    return instructions.flatMap((at) => {
      const text = importsFiles ? `${readInside(root, at) ?? ''}` : ''
      const linked = attempt(() => below(realPath(root), realPath(join(root, at))))
      if (linked !== undefined && linked !== at) return [linked]
      const prose = text.replace(/```[\s\S]*?(?:```|$)|<!--[\s\S]*?(?:-->|$)/g, '')
      return [...prose.matchAll(/(?:^|\s)@([\w./-]*\w)/g)].map((m) => posix.join(posix.dirname(at), m[1]!))
    })
  })

/** What a client reads as it works on some files: its own rules for them, and the instructions of their folder. */
const readsForFiles = (path: string, client: string | undefined): boolean => {
  const { rules, importsFiles, instructions } = factsOf(client) ?? {}
  const isOfFolder = importsFiles === true && instructions?.includes(basename(path)) === true
  return isOfFolder || (rules !== undefined && path.startsWith(`${rules.folder}/`))
}

/** Clients without hooks of ours that read AGENTS.md. */
const OTHERS = /^(?:vscode|windsurf)/i

export function readsFile(
  path: string,
  { client = '', project: { root } }: Pick<About, 'client' | 'project'>,
): boolean {
  const facts = factsOf(client)
  if (!facts) return OTHERS.test(client) && path === 'AGENTS.md'
  const { instructions, instead, rules } = facts
  if (instructions.includes(path) || (rules?.areRead && path.startsWith(`${rules.folder}/`))) return true
  return path === instead && !existsSync(join(root, instructions[0]!))
}

/**
 * What a person typed goes before a main file, that before a file in a folder of rules, that before a page which a rule
 * only names, and last what holds for some files: an edit of them is told it.
 */
export function placeOf(e: Entity): number {
  if (Array.isArray(e.fields.paths)) return 2
  const [file = ''] = isOfFile(e) ? filesOf(e) : []
  return file.includes('/') ? (file.startsWith('.') ? 1.5 : 1.7) : file === '' ? 0 : 1
}

const categoryOf = (e: Entity): string | undefined =>
  CATEGORIES.find(([category]) => category !== undefined && category === e.fields.category)?.[0]

export function ruleLike(e: Entity): string | undefined {
  const fact = plain(String(e.fields.fact ?? e.name), Number.POSITIVE_INFINITY)
  return fact === '' || fact.length > LONGEST ? undefined : fact
}

/** Whether it says how the code is, and the code has changed: that is no instruction any more. An order keeps binding. */
export const isOutdated = (e: Entity, about: Pick<About, 'stale'>): boolean =>
  e.fields.category === undefined && isStatement(String(e.fields.fact ?? e.name)) && about.stale(e.id) !== undefined

/** The headings that a rule stands under and the files that it is for, as they follow it. */
export function heldFor(e: Entity): string {
  const { paths } = e.fields
  const files = Array.isArray(paths) && paths.length > 0 ? `for ${paths.join(', ')}` : ''
  const said = [headingsOf(e), files].map((text) => plain(text, CONTEXT))
  return said.map((text) => text && ` (${text})`).join('')
}

/** A rule as it is told: the files that it is for, what speaks against it, whether its place has changed; `short` without its context. */
export function ruleLine(e: Entity, against?: Entity, stale?: string): Pick<Item, 'text' | 'short'> | undefined {
  const fact = ruleLike(e)
  if (fact === undefined) return undefined
  const other = against
    ? ` [contradicts "${plain(against.name, CONTEXT)}", which binds too: ask the user which holds]`
    : ''
  // no line of code stands among instructions
  const since = stale === undefined ? '' : ` [${plain(stale.split(' to `')[0]!, CONTEXT)}: does it still fit?]`
  const short = `- ${fact}${heldFor(e)}${other}${since}`
  const context = typeof e.fields.context === 'string' ? plain(e.fields.context, CONTEXT) : ''
  return { text: context === '' ? short : `${short} (${context})`, short }
}

function ruleItem(e: Entity, under: string, rank: number, against?: Entity, stale?: string): Item[] {
  const line = ruleLine(e, against, stale)
  return line === undefined ? [] : [{ id: e.id, under, rank, ...line }]
}
