import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { below, filesBelow, inspect, linesOf, realPath } from '../../base/files.ts'
import { whyNotOwn } from '../../base/git.ts'
import { sha256 } from '../../model/digest.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import { CLIENT_FACTS } from '../../work/coordination/clients.ts'
import { AIDER_FILE, saidInAider, startedAt, TYPED } from '../hooks/transcripts/aider.ts'
import type { Kept } from '../hooks/transcripts/conversation.ts'
import { saidInSpecstory } from '../hooks/transcripts/specstory.ts'
import { type Said, saidIn } from '../hooks/transcripts/turns.ts'
import { codexHome, configDir, copilotHome, geminiHome, opencodeData } from './common/homes.ts'
import type { ClientContext } from './common/types.ts'
import { opencodeSessions, opencodeTexts } from './opencode/sessions.ts'

export type FoundSessions = Readonly<{ title: string; where: string; sessions: readonly Kept[] }>

type Head = Readonly<{ client: string; id: string; cwd?: string; projectHash?: string }>

const LOOKED_AT = { lines: 60, bytes: 4 * 2 ** 20 }
/** A line of more says nothing: the outputs of tools are in there. */
const LINE_MAX = 64 * 2 ** 20
const DEEPEST = 8
const isText = (v: unknown): v is string => typeof v === 'string' && v !== ''

/** Whose transcript a file is, by its first lines; nothing where it is none that is understood. */
function headOf(path: string): Head | undefined {
  let claude: Head | undefined
  let n = 0
  for (const { text, end } of recordsOf(path)) {
    if (++n > LOOKED_AT.lines || end > LOOKED_AT.bytes) break
    const l = jsonIn(text)
    if (!isObject(l)) continue
    const { payload, data } = l
    if (l.type === 'session_meta' && isObject(payload) && isText(payload.id))
      return { client: 'codex', id: payload.id, ...(isText(payload.cwd) && { cwd: payload.cwd }) }
    if (l.type === 'session.start' && isObject(data)) {
      const cwd = isObject(data.context) ? data.context.cwd : undefined
      return { client: 'copilot', id: basename(dirname(path)), ...(isText(cwd) && { cwd }) }
    }
    if (isText(l.sessionId) && isText(l.projectHash))
      return { client: 'gemini', id: l.sessionId, projectHash: l.projectHash }
    if (isText(l.sessionId) && isText(l.type) && isText(l.cwd))
      return { client: 'claude', id: basename(path, '.jsonl'), cwd: l.cwd }
    if (isText(l.sessionId) && isText(l.type)) claude = { client: 'claude', id: basename(path, '.jsonl') }
  }
  return claude
}

/** The records of a file: its lines, or what stands in the one document that older versions of Gemini CLI wrote. */
function* recordsOf(path: string): Generator<{ text: string; end: number }> {
  if (!path.endsWith('.json')) return yield* linesOf(path, LINE_MAX)
  const document = jsonIn([...linesOf(path, LINE_MAX)].map(({ text }) => text).join('\n'))
  if (!isObject(document)) return
  const { messages, ...head } = document
  for (const record of [head, ...(Array.isArray(messages) ? messages : [])])
    yield { text: JSON.stringify(record), end: 0 }
}

/** What was said; of records that come again under one id, as Gemini CLI writes them, the last. */
function saidBy(path: string): Said[] {
  const all = new Map<string, Said[]>()
  let n = 0
  for (const { text } of recordsOf(path)) {
    const line = jsonIn(text)
    const { $set } = isObject(line) ? line : {}
    for (const record of isObject($set) && Array.isArray($set.messages) ? $set.messages : [line]) {
      const said = saidIn(record)
      const id = isObject(record) && isText(record.id) && !('data' in record) ? `#${record.id}` : n++
      if (said.length > 0) all.set(String(id), said)
    }
  }
  return [...all.values()].flat()
}

const sessionsBelow = (dir: string, isWanted: (name: string) => boolean): string[] =>
  existsSync(dir) ? filesBelow(dir, isWanted, (name, depth) => name !== 'subagents' && depth <= DEEPEST) : []

const isTranscript = (name: string) => /\.jsonl?$/.test(name)

function sessionAt(path: string, belongs: (head: Head) => boolean): Kept[] {
  if (path.endsWith('.md')) return aiderAt(path)
  const head = headOf(path)
  return head && belongs(head) ? [{ client: head.client, id: head.id, said: () => saidBy(path) }] : []
}

function opencodeAt(path: string, belongs: (directory: string) => boolean): Kept[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return []
  return opencodeSessions(path)
    .filter(({ directory }) => belongs(directory))
    .map(({ id }) => ({
      client: 'opencode',
      id,
      said: () =>
        opencodeTexts(path, id).flatMap(({ role, text, at }): Said[] => {
          if (!isText(text) || (role !== 'user' && role !== 'assistant')) return []
          return [{ who: role === 'user' ? 'user' : 'agent', text, ...(typeof at === 'number' && { at }) }]
        }),
    }))
}

/** Aider appends every session of a work tree to one file: each is read from where it begins. Those of one second are one. */
function aiderAt(path: string): Kept[] {
  const all: { id: string; from: number; to: number; isUsed: boolean }[] = []
  for (const { text, end } of linesOf(path, LINE_MAX)) {
    const last = all.at(-1)
    const id = startedAt(text) ?? last?.id
    if (id !== undefined && id !== last?.id) all.push({ id, from: end, to: end, isUsed: false })
    else if (last) Object.assign(last, { to: end, isUsed: last.isUsed || text.startsWith(TYPED) })
  }
  const said = ({ id, from, to }: (typeof all)[0]): Said[] => {
    const lines: string[] = []
    for (const { text, end } of linesOf(path, LINE_MAX, from)) {
      if (end > to) break
      lines.push(text.replace(/\r$/, ''))
    }
    return saidInAider(lines, Date.parse(id))
  }
  return all.flatMap((s) => (s.isUsed ? [{ client: 'aider', id: s.id, said: () => said(s) }] : []))
}

/** What is committed may be what somebody else typed. */
const isOwnAider = (root: string): boolean =>
  inspect(root, AIDER_FILE).is === 'file' && whyNotOwn(root, AIDER_FILE) === undefined

export function sessionsOfProject(ctx: ClientContext, roots: readonly string[]): FoundSessions[] {
  const isHere = (cwd: string | undefined) => cwd !== undefined && roots.some((root) => below(root, cwd) !== undefined)
  const byCwd = ({ cwd }: Head) => isHere(cwd)
  const hashes = new Set(roots.flatMap((root) => [sha256(root), sha256(realPath(root))]))
  const named = (dir: string) => (existsSync(dir) ? readdirSync(dir) : [])
  const claude = join(configDir(ctx), 'projects')
  const codex = codexHome(ctx)
  const gemini = join(geminiHome(ctx), 'tmp')
  const copilot = join(copilotHome(ctx), 'session-state')
  const opencode = join(opencodeData(ctx), 'opencode.db')
  // a client names the folder of a project by its path; which one it is stands in the transcript
  const slugs = roots.flatMap((root) => [root, realPath(root)]).map((root) => root.replace(/[^A-Za-z0-9]/g, '-'))
  const claudeDirs = named(claude).filter((name) => slugs.some((slug) => name === slug || name.startsWith(`${slug}-`)))
  const geminiIs = (path: string) => (head: Head) =>
    hashes.has(head.projectHash ?? '') || isHere(projectRootOf(dirname(dirname(path))))
  const jsonl = (name: string) => name.endsWith('.jsonl')
  return [
    { title: CLIENT_FACTS.claude.title, where: claude, sessions: claudeDirs.flatMap((name) => sessionsBelow(join(claude, name), jsonl)).flatMap((path) => sessionAt(path, byCwd)) },
    { title: CLIENT_FACTS.codex.title, where: codex, sessions: ['sessions', 'archived_sessions'].flatMap((name) => sessionsBelow(join(codex, name), jsonl)).flatMap((path) => sessionAt(path, byCwd)) },
    { title: CLIENT_FACTS.gemini.title, where: gemini, sessions: sessionsBelow(gemini, (name) => name.startsWith('session-') && isTranscript(name)).flatMap((path) => sessionAt(path, geminiIs(path))) },
    { title: CLIENT_FACTS.copilot.title, where: copilot, sessions: sessionsBelow(copilot, (name) => name === 'events.jsonl').flatMap((path) => sessionAt(path, byCwd)) },
    { title: CLIENT_FACTS.opencode.title, where: opencode, sessions: opencodeAt(opencode, isHere) },
    { title: 'Aider', where: join(roots[0]!, AIDER_FILE), sessions: roots.flatMap((root) => isOwnAider(root) ? aiderAt(join(root, AIDER_FILE)) : []) },
  ] // biome-ignore format: a table
}

export function specstoryIn(path: string): FoundSessions {
  const stat = statSync(path, { throwIfNoEntry: false })
  const files = !stat ? [] : stat.isDirectory() ? sessionsBelow(path, (name) => name.endsWith('.md')) : [path]
  const sessions = files.flatMap((file): Kept[] => {
    const page = [...linesOf(file)].map(({ text }) => text)
    const isOne = page.some((line) => /^<!-- Generated by SpecStory|^_\*\*(?:User|Agent|Assistant)\b/.test(line))
    const said = () => saidInSpecstory(page.join('\n'))
    return isOne ? [{ client: 'specstory', id: basename(file, '.md'), said }] : []
  })
  if (sessions.length > 0) return { title: 'SpecStory', where: path, sessions }
  throw new UserError('no-documents', `no session of SpecStory under ${path}`, 'it keeps them in .specstory/history')
}

/** The sessions in a folder or file that somebody names, whatever project they were of. */
export function sessionsIn(path: string): FoundSessions {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) throw new UserError('no-file', `there is no ${path}`, 'give a folder with transcripts, or none')
  const files = stat.isDirectory()
    ? sessionsBelow(path, (name) => isTranscript(name) || name === 'opencode.db' || name === AIDER_FILE)
    : [path]
  const sessions = files.flatMap((file) =>
    file.endsWith('.db') ? opencodeAt(file, () => true) : sessionAt(file, () => true),
  )
  if (sessions.length === 0) {
    const hint = 'those of Claude Code, Codex, Gemini CLI, Copilot CLI, opencode and Aider are'
    throw new UserError('bad-transcript', `${path} holds no transcript that is understood`, hint)
  }
  return { title: '', where: path, sessions }
}

/** Gemini CLI says in a file beside its chats which project they are of. */
function projectRootOf(dir: string): string | undefined {
  const path = join(dir, '.project_root')
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() && stat.size < 10_000 ? readFileSync(path, 'utf8').trim() : undefined
}
