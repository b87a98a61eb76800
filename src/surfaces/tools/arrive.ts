import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { filesBelow, inspect, realPath } from '../../base/files.ts'
import { randomBytes } from '../../base/random.ts'
import type { Memory } from '../../engine/memory.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import { type Entity, filesOf, isPage, provenanceOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import { many } from '../../session/briefing/format.ts'
import { codexHome, configDir } from '../../session/clients/common/homes.ts'
import { sessionsOfProject } from '../../session/clients/transcripts.ts'
import { IMPORTERS, importFrom } from '../../travel/formats/import/index.ts'
import { SKIPPED } from '../../travel/formats/import/pages.ts'
import { one, shown } from '../../travel/formats/import/report.ts'
import { agreeTo, confirmAll, listed, waitingFrom } from './confirm.ts'
import { oneLine } from './format.ts'
import { waitingIn } from './review-queue.ts'
import { actingAs, type ToolContext } from './tool.ts'

/** Many a program keeps something else in a file of this name. */
const ANY_MEMORY = 'memory.json'

/** Where knowledge lies that people and other tools have written, by its reader. */
const PLACES: readonly (readonly [format: string, ...paths: string[]])[] = [
  ['claude-md', 'AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md', '.github/instructions', '.cursor/rules', '.cursorrules', '.windsurf/rules', '.windsurfrules', '.clinerules', '.claude/rules'],
  ['decisions', 'docs/adr', 'docs/adrs', 'doc/adr', 'adr', 'docs/decisions', 'docs/architecture/decisions', 'doc/architecture/decisions', 'docs/architecture/adr', 'docs/architecture-decisions', 'docs/architecture-decision-log', 'doc/decisions', 'DECISIONS.md', 'docs/DECISIONS.md'],
  ['notes', 'memory-bank', 'cline_docs', '.serena/memories'],
  ['beads', '.beads'],
  ['add', '.add'],
  ['mcp-memory', 'memory.jsonl', '.claude/memory.jsonl', ANY_MEMORY],
] // biome-ignore format: a table
/** Where documents lie that are worth searching: recall reads them, but for the log, which says of each version a little. */
const LOG = 'CHANGELOG.md'
const DOCUMENTS = ['README.md', 'docs', 'doc', 'guides', 'rfcs', 'rfc', LOG, 'ARCHITECTURE.md', 'CONTRIBUTING.md']
/** What is taken in by its name alone, or not at all: told where it lies here. */
const BY_NAME = [
  ['.specstory/history', '  later  sessions of SpecStory: tidemark import specstory'],
  ['memory/MEMORY.md', '  later  notes in memory: tidemark import notes memory'],
  ['.codex/memories/MEMORY.md', '  later  notes of Codex: tidemark import notes .codex/memories/MEMORY.md'],
  ['.claude/memory', '  later  notes in .claude/memory: tidemark import notes .claude/memory'],
] as const
const enters = (name: string) => !name.startsWith('.') && !SKIPPED.has(name)
const DOCUMENT = /\.(?:mdx?|markdown|txt|rst|adoc)$/i
/** What Claude Code and Codex remember of the project, wherever that lies on this machine. */
const CLAUDES = '~/.claude/…/memory'
const OF_FOLDERS = /^(?:(?:CLAUDE|AGENTS|GEMINI)\.md|\.cursorrules)$/
const MOST_FOLDERS = 100
/** No client reads a larger file of rules at each start, and to take it in takes many seconds. */
const MOST_BYTES = 1_000_000

/** Of what was left out of one source as a secret so many places are told. */
const MOST_REDACTED = 10

interface Source {
  readonly format: string
  /** From the project's root, or from the user's home. */
  readonly path: string
  readonly at: string
  readonly source?: string
}

/** What was found here, and what is said of it. */
export type Found = Readonly<{ sources: readonly Source[]; lines: readonly string[] }>

export const namesIn = (flag: unknown): string[] =>
  typeof flag === 'string' ? flag.split(/[\s,]+/).filter(Boolean) : []

/** Where the clients of this user keep what is theirs. */
export const homesFor = (root: string) => {
  const launcher = { onPath: false, node: process.execPath, script: '' }
  return { root, home: process.env.HOME ?? homedir(), env: process.env, launcher }
}

/** What lies in the project, and what clients remember of it, as far as a reader finds something in it. */
export function findSources(root: string, refused: readonly string[], known: readonly string[] = []): Found {
  const left: string[] = []
  const again = known.map((path) => ({ format: 'docs', path, at: join(root, path), source: `import docs ${path}` }))
  const places = [...placesIn(root), ...again].filter((s) => !refused.includes(s.path) && !refused.includes(s.format))
  const found = places.flatMap((source): [source: Source, says: string][] => {
    const { format, path, at } = source
    const there = source.source === undefined ? inspect(root, path) : undefined
    const others = places.flatMap((p) => (p.format === format && p !== source ? p.path : []))
    const isTwice = there?.is === 'file' && there.stat.nlink > 1
    const leave = (why: string) => void (path !== ANY_MEMORY && left.push(`  leave  ${path}: ${why}`))
    const bytes = format === 'claude-md' && there?.is === 'file' ? there.stat.size : 0
    if (isTwice) leave('it has a second name (a hard link); `tidemark import FORMAT PATH` reads it all the same')
    else if (there?.is === 'unsafe') leave('it is a link, or no file; what a link leads to is imported by its own name')
    else if (bytes > MOST_BYTES)
      leave(`it has ${(bytes / 1e6).toFixed(1)} MB; \`tidemark import ${format} ${path}\` takes it in all the same`)
    else
      try {
        const { items, counts, unplaced } = IMPORTERS.find((i) => i.name === format)!.read(at, realPath(root), others)
        const said = Object.entries(counts).flatMap(([what, n]) => (n > 0 ? `${n} ${n === 1 ? one(what) : what}` : []))
        if (items.length > 0) return [[source, said.length > 0 ? `${path} (${said.join(', ')})` : path]]
        if (unplaced[0]) leave(`nothing in it could be read: \`tidemark import ${format} ${path}\` says why`)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        if (error.code !== 'no-documents') leave(error.message)
      }
    return []
  })
  const groups = [...Map.groupBy(found, ([s]) => s.format).values()]
  const sessions = sessionsOfProject(homesFor(root), [root]).filter((f) => f.sessions.length > 0)
  const documents = documentsIn(root, refused, known)
  const log = documents.find(([path]) => path === LOG)
  const read = documents.flatMap(([path, says]) => (path === LOG ? [] : says))
  const lines = [
    ...groups.map((all) => `  import ${all.map(([, says]) => says).join(', ')}`),
    ...left,
    ...(read.length > 0 ? [`  read   ${read.join(', ')}: recall looks into the pages that git has, as they are`] : []),
    ...(log ? [`  later  ${log[1]}: tidemark import docs ${log[0]}`] : []),
    ...BY_NAME.flatMap(([path, says]) => (refused.includes(path) || inspect(root, path).is === 'nothing' ? [] : says)),
    ...sessions.map((f) => `  later  ${many(f.sessions.length, 'session')} of ${f.title}: tidemark import transcripts`),
  ]
  return { sources: found.map(([s]) => s), lines }
}

/** Where documents were taken in from, as far as that is there: an import reads them again. */
export function readFrom({ reader }: Memory, root: string): string[] {
  const sources = reader.list('file').filter(isPage).flatMap(provenanceOf)
  const named = new Set(sources.flatMap((p) => /^import docs (.+)$/.exec(String(p.source))?.[1] ?? []))
  return [...named].filter((path) => ['file', 'directory'].includes(inspect(root, path).is))
}

/** Documents that nothing else reads, with how many there are. */
function documentsIn(
  root: string,
  refused: readonly string[],
  known: readonly string[],
): [path: string, says: string][] {
  const ofOthers = [...PLACES.flatMap(([, ...paths]) => paths), ...known].map((path) => join(root, path))
  return DOCUMENTS.filter((path) => !refused.includes(path) && !known.includes(path)).flatMap(
    (path): [string, string][] => {
      const { is } = inspect(root, path)
      if (is === 'file') return [[path, path]]
      if (is !== 'directory') return []
      const files = filesBelow(join(root, path), (name) => DOCUMENT.test(name), enters)
      const n = files.filter((file) => !ofOthers.some((other) => file.startsWith(other + sep))).length
      return n > 0 ? [[path, `${many(n, 'document')} in ${path}`]] : []
    },
  )
}

function placesIn(root: string): Source[] {
  const isOwn = (dir: string) => dir === '' || !existsSync(join(root, dir, '.git'))
  const folders = filesBelow(root, (name) => OF_FOLDERS.test(name), enters)
    .map((file) => file.slice(root.length + 1).replaceAll('\\', '/'))
    .filter((path) => path.includes('/') && path.split('/').every((_, i, all) => isOwn(all.slice(0, i).join('/'))))
  const named: Source[] = PLACES.flatMap(([format, ...paths]) => {
    const there = paths.filter((path) => inspect(root, path).is !== 'nothing')
    const all = format === 'claude-md' ? [...there, ...folders.slice(0, MOST_FOLDERS)] : there
    return all.map((path) => ({ format, path, at: join(root, path) }))
  })
  const homes = homesFor(root)
  const notes = [
    [CLAUDES, join(configDir(homes), 'projects', realPath(root).replace(/[^A-Za-z0-9]/g, '-'), 'memory')],
    ['~/.codex/memories', join(codexHome(homes), 'memories', 'MEMORY.md')],
  ] as const
  for (const [path, at] of notes)
    if (existsSync(at)) named.push({ format: 'notes', path, at, source: `import notes ${path}` })
  return named
}

/** What a person left out: it stays out until it is named. */
const REFUSED = 'arrivals-refused'
export const refusedIn = (memory: Memory): string[] => JSON.parse(getMeta(memory.db, REFUSED) ?? '[]') as string[]
export function refuse(memory: Memory, more: readonly string[]): void {
  const all = new Set([...refusedIn(memory), ...more])
  if (more.length > 0) memory.db.write(() => setMeta(memory.db, REFUSED, JSON.stringify([...all])))
}

/** The session that an arrival is written in, so that it can be taken back whole. */
export const newArrival = (): string => `arrival-${randomBytes(4).toString('hex')}`

type Who = Pick<ToolContext, 'memory' | 'session' | 'agent'>

/** How an arrival is taken back; nothing where it has written nothing since. */
export const wayBack = ({ memory, session }: Who, since: number): string[] =>
  memory.newsSince(since).some((n) => !n.presence && n.author.session === session)
    ? [`tidemark undo --all-of ${session} takes back what came`]
    : []

/** Takes sources in as proposals; each is told in a line. Returns what each is called in the provenance. */
export function takeIn(who: Who, root: string, { sources }: Found, out: (line: string) => void) {
  const taken: string[] = []
  const imported = sources.map(({ format, path, at, ...named }): Json => {
    try {
      const done = importFrom(who.memory, format, at, { ...actingAs(who), ...named, by: 'agent', root })
      const { created, updated, unchanged, kept } = done
      taken.push(done.source)
      const links = done.kinds.link?.created ?? 0
      const counts = [
        created > links && `${created - links} new`,
        links > 0 && many(links, 'link'),
        updated > 0 && `${updated} updated`,
        kept.length > 0 && `${kept.length} left as changed or deleted here`,
      ].filter(Boolean)
      out(`  ${path}: ${counts.join(', ') || 'nothing new'}`)
      for (const u of done.unplaced) out(`    ${u.where}  ${u.what}: ${shown(u.why)}`)
      const redacted = [...new Set(done.redacted.map((r) => `${r.where}  left out as a secret: ${r.category}`))]
      for (const line of redacted.slice(0, MOST_REDACTED)) out(`    ${line}`)
      if (redacted.length > MOST_REDACTED) out(`    … and ${redacted.length - MOST_REDACTED} more secrets left out`)
      return { path, created, updated, unchanged }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      out(`  ${path}: not imported: ${error.message}${error.hint ? ` (${error.hint})` : ''}`)
      return { path, error: error.message }
    }
  })
  const isWhole = imported.every((i) => isObject(i) && i.error === undefined)
  return { taken, imported, again: isWhole ? undefined : 'not all of it came: `tidemark import` tries again' }
}

/** More rules than somebody reads at once are asked about a file at a time. */
const MANY = 20

/** The rules of files bind after a yes to what is shown; without a way to ask, the command that says it is told. */
export async function askForRules(
  who: Who,
  sources: readonly string[],
  ask: ((question: string) => Promise<boolean>) | undefined,
): Promise<{ lines: string[]; json: { [key: string]: Json }; batches: string[] }> {
  const { memory } = who
  const all = [...new Map(sources.flatMap((s) => waitingFrom(memory, s)).map((e) => [e.id, e])).values()]
  const actionOf = ({ kind, name }: Entity) => (kind === 'proposal' ? (JSON.parse(name) as [string, JsonObject]) : [])
  const isGone = (e: Entity | undefined) => e !== undefined && actionOf(e)[0] === 'retire'
  // a place that is taken off a rule changes nothing of what it says
  const says = (e: Entity) => Object.keys(actionOf(e)[1] ?? {}).some((arg) => arg !== 'ref' && arg !== 'locations')
  const rules = all.filter((e) => says(e) || memory.registry().kind(e.kind)?.binding)
  const standing = (some: readonly Entity[]) => {
    const found = some.map((e) => memory.reader.entity(String(actionOf(e)[1]?.ref)) ?? e)
    const named = [...new Set(found.flatMap((e) => filesOf(e)[0] ?? []))]
    const more = named.length > 4 ? [`${named.length - 3} more files`] : []
    const files = oneLine([...(more.length > 0 ? named.slice(0, 3) : named), ...more].join(', '), 200)
    const verb = some.length === 1 ? 'stands' : 'stand'
    return `${many(some.length, 'rule')} ${isGone(some[0]) ? `no longer ${verb}` : verb} in ${files}`
  }
  const [agreed, left]: [Entity[], Entity[]] = [[], []]
  const batches: string[] = []
  const told = (all: readonly Entity[], confirm = '') =>
    [...Map.groupBy(all, isGone)].map(([ends, some]) => {
      const bind = some.length === 1 ? 'binds' : 'bind'
      const until = ends ? 'until a person says yes' : "nobody yet. A person's yes"
      if (confirm !== '') return `${standing(some)} and ${bind} ${until} to all that waits: ${confirm}`
      return `${standing(some)}: ${ends ? 'retired' : 'confirmed, every session here is told to follow them'}`
    })
  const isMany = ask !== undefined && rules.length > MANY
  for (const some of Map.groupBy(rules, (e) => (isGone(e) ? 'gone' : isMany && filesOf(e)[0])).values()) {
    const wish = isGone(some[0]) ? 'stop binding' : 'bind every session here'
    const question = `${standing(some)}. Should ${some.length === 1 ? 'it' : 'they'} ${wish}?`
    const isYes = await ask?.([...listed(memory, some), question].join('\n')).catch((error: Error) => {
      error.message = [...told(agreed), error.message].join('\n')
      throw error
    })
    if (isYes) batches.push(...agreeTo(memory, some, { ...actingAs(who), by: 'person' }).batches)
    ;(isYes ? agreed : left).push(...some)
  }
  // a code agrees to all that waits: it is told where that is what was just told
  const confirm = left.length > 0 && waitingIn(memory).length === left.length ? confirmAll(memory) : 'tidemark confirm'
  const lines = [...told(agreed), ...told(left, confirm)]
  const json = { confirmed: agreed.length, waiting: left.length, ...(left.length > 0 && { confirm }) }
  if (all.length > rules.length) lines.push(`${all.length - rules.length} proposed: tidemark review`)
  return { lines, json, batches }
}
