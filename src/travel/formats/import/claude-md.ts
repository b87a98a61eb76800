import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { inspect, pathIn } from '../../../base/files.ts'
import { frontMatterOf } from '../../../model/markdown.ts'
import { foldText } from '../../../model/names.ts'
import { sectionsOf } from './docs.ts'
import { labelOf } from './files.ts'
import { unlessNone } from './json-values.ts'
import { blocksOf, withoutComments } from './markdown.ts'
import { pagesAt, type Page as Read } from './pages.ts'
import { chunksOf } from './shorten.ts'
import { rulesIn, type Statement } from './statements.ts'
import type { Importer, Item } from './types.ts'

type Found = Pick<Statement, 'fact' | 'category' | 'context'> & Record<'locations' | 'topics' | 'paths', string[]>

interface Page extends Read {
  /** Its rules are for work on these files alone. */
  globs: readonly string[]
}

/** What is said beside a rule and is shorter is of no use alone. */
const KNOWLEDGE = 80
/** Of a rule that is said again and again, the first places are kept. */
const MOST_PLACES = 50

export const claudeMd: Importer = {
  name: 'claude-md',
  about:
    'rule files (CLAUDE.md, AGENTS.md, .cursor/rules, .github/instructions …): rules become facts, the rest searchable chunks',
  read(path, root, others = []) {
    const open = (at: string) => pagesAt(at, root, ['.md', '.mdc', '.txt'])
    const { pages: own, unplaced, rest: reading } = open(path)
    const pages: Page[] = own.map((p) => ({ ...p, globs: globsOf(p) }))
    const redacted = [...reading.redacted]
    const found = new Map<string, Found>()
    for (const page of pages) {
      const isImported = !own.some((p) => p.label === page.label)
      for (const i of importsOf(page.text)) {
        // Cursor names a file from the top of the project
        const from =
          page.label.endsWith('.mdc') && existsSync(join(root, i.path)) ? root : dirname(resolve(root, page.label))
        const target = resolveImport(i.path, from, root)
        const leaveOut = (why: string) =>
          void unplaced.push({ where: `${page.label}:${i.line}`, what: `@${i.path}`, why })
        if (typeof target !== 'string') {
          if (target && !isImported) leaveOut(target.why)
        } else if (isImported) leaveOut('an import within an import is not followed')
        else if (!pages.some((p) => p.label === labelOf(target, root)))
          try {
            const imported = open(target)
            redacted.push(...imported.rest.redacted)
            pages.push({ ...imported.pages[0]!, globs: page.globs })
          } catch (error) {
            if (!(error instanceof UserError)) throw error
            leaveOut(error.message)
          }
      }
    }
    const chunks = pages.flatMap((page) => {
      const rest = sectionsOf(takeRules(page, found)).filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
      // a section that says more than rules is kept whole: without its rules it would answer falsely
      const isKept = new Set(rest.map(({ line }) => line))
      return sectionsOf(withoutImports(page.text)).flatMap(({ title, text, line }) => {
        const from = { sourceFile: page.label, section: title, where: `${page.label}:${line}` }
        return isKept.has(line) ? chunksOf(text, from).chunks : []
      })
    })
    const items: Item[] = [...[...found.values()].map(itemOf), ...chunks]
    const counted = items.filter(({ where }) => !others.some((other) => where.startsWith(other)))
    const rules = counted.filter(({ verb }) => verb === 'record-fact').length
    const counts = { rules, chunks: counted.length - rules }
    return { items, unplaced, counts, ...reading, redacted, owns: ['fact', 'chunk'], files: pages.map((p) => p.label) }
  },
}

const itemOf = ({ fact, category, locations, topics, paths, context }: Found): Item => {
  const more = { topics: unlessNone(topics), paths: unlessNone(paths), context: context || undefined }
  return { verb: 'record-fact', args: { fact, category, locations, ...more }, where: locations[0]! }
}

/** Its subject is how rules for agents are written. */
const OF_RULES =
  /\b(?:creat|writ|maintain|improv|updat|add|edit|manag)\w* (?:[\w'-]+ ){0,2}(?:(?:cursor|claude|copilot|agent|ai) rules?|rule files?)\b/i

/** The files that the rules of a page are for: as its front matter says, else those of its folder; nothing for all. */
function globsOf({ label, text }: Read): string[] {
  const { fields, body } = frontMatterOf(text)
  const [above = '', inside] = label.split(/(?:^|\/)\.(?:cursor|claude|github|windsurf|clinerules)\//)
  const subject = fields.get('description') ?? blocksOf(body).find((b) => b.type === 'heading')?.text
  if (inside !== undefined && OF_RULES.test(String(subject))) return [`${dirname(label)}/**`]
  const at = inside === undefined ? dirname(label) : above
  const below = /^(?:\.?|\/|\.\..*)$/.test(at) ? '' : `${at}/`
  const keys = fields.get('alwaysapply') === 'true' ? [] : ['globs', 'applyto', 'paths']
  const said = keys.map((key) => fields.get(key) ?? '')
  const globs = said.flat().join(',').slice(0, 2_000).split(',').reduce<string[]>(joinBraces, [])
  const named = globs.map((glob) => glob.trim().replace(/^['"]|['"]$/g, '')).filter((glob) => glob !== '')
  const isAll = named.length === 0 || named.some((glob) => /^\*{1,2}(?:\/\*)?$/.test(glob))
  if (isAll) return below === '' ? [] : [`${below}**`]
  return named.map((glob) => below + (glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`))
}

/** Puts together what was cut at a comma within `{a,b}`. */
const joinBraces = (globs: string[], part: string): string[] => {
  const last = globs.at(-1) ?? ''
  return last.split('{').length > last.split('}').length ? [...globs.slice(0, -1), `${last},${part}`] : [...globs, part]
}

/** Adds the rules of a page to what was found, and returns the page without them. */
function takeRules({ text, label, globs }: Page, found: Map<string, Found>): string {
  const lines = withoutImports(text).split('\n')
  const { fields } = frontMatterOf(text)
  // Copilot's agent does not read it: its rules are those of reviews
  if (String(fields.get('excludeagent')).includes('coding-agent')) return lines.join('\n')
  // Cursor's agent reads such a page where its description fits
  const isOnRequest = fields.get('alwaysapply') === 'false' && globs.length === 0
  const when = isOnRequest
    ? [String(fields.get('description') ?? '').toLowerCase()].filter((d) => d && d.length <= 80)
    : []
  for (const { fact, category, context, line, end, topics } of rulesIn(text)) {
    // knowledge beside it is found before anybody agreed to the rule
    if (context.length < KNOWLEDGE) lines.fill('', line - 1, end)
    // said again: one fact, both places
    const was = found.get(foldText(fact)) ?? { fact, category, context, locations: [], topics: [], paths: [...globs] }
    const both = (list: readonly string[], more: readonly string[]) => [...new Set([...list, ...more])]
    const paths = was.paths.length > 0 && globs.length > 0 ? both(was.paths, globs) : []
    const locations = both(was.locations, [`${label}:${line}`]).slice(0, MOST_PLACES)
    found.set(foldText(fact), { ...was, locations, topics: both(was.topics, [...when, ...topics]), paths })
  }
  return lines.join('\n')
}

const withoutImports = (text: string): string => withoutComments(text).replace(/^[ \t]*@\S+[ \t]*$/gm, '')

/** `@path` outside code, with its line. */
const importsOf = (text: string): { path: string; line: number }[] =>
  blocksOf(text).flatMap((b) => {
    if (b.type === 'heading') return []
    return [...b.text.replace(/`[^`]*`/g, '').matchAll(/(?:^|\s)@([\w.~/\\-][\w.~/\\@-]*)/g)].map((m) => ({
      path: m[1]!.replace(/(?<![.,;:])[.,;:]+$/, ''),
      line: b.line,
    }))
  })

/** The file that `@path` means; why it is not read; nothing when it is no import at all (`@types/node`, `@ana`). */
function resolveImport(path: string, from: string, root: string): string | { why: string } | undefined {
  if (path.startsWith('~')) return { why: 'outside the project' }
  const target = isAbsolute(path) ? path : resolve(from, path)
  const way = pathIn(root, target)
  const found = way === undefined ? undefined : inspect(root, way)
  if (found?.is === 'file') return target
  if (!/\.(?:md|mdx|mdc|txt)$/i.test(path)) return undefined
  if (!found) return { why: 'outside the project' }
  return { why: found.is === 'unsafe' ? 'a link, which is not followed' : 'there is no such file' }
}
