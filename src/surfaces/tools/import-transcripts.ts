import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setMeta } from '../../engine/store/meta.ts'
import { treesOf } from '../../engine/store/project-list.ts'
import { KEPT_DAYS, type Prompt } from '../../engine/store/prompts.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { tokensOfProse } from '../../find/recall/token-estimate.ts'
import { DAY_MS } from '../../model/times.ts'
import { many } from '../../session/briefing/format.ts'
import type { FoundSessions } from '../../session/clients/transcripts.ts'
import { sessionsIn, sessionsOfProject, specstoryIn } from '../../session/clients/transcripts.ts'
import { mayHold, PAST, questionOn } from '../../session/hooks/ask-agent.ts'
import { hooksConfig } from '../../session/hooks/config.ts'
import { openPrompts } from '../../session/hooks/kept-prompts.ts'
import { mayBeRepeated, partsOf, saysItLasts } from '../../session/hooks/lasting-words.ts'
import { pauses } from '../../session/hooks/pause.ts'
import { isSmall } from '../../session/hooks/small-talk.ts'
import { type Kept, readConversation, type Typed } from '../../session/hooks/transcripts/conversation.ts'
import { ownWords, sentencesOf } from '../../session/hooks/typed-words.ts'
import { plainLine } from '../../travel/formats/import/classify.ts'
import { mustBeInside } from '../../travel/formats/import/files.ts'
import type { ImportOptions } from '../../travel/formats/import/import-run.ts'
import { emptyReport, type ImportReport } from '../../travel/formats/import/report.ts'
import { runImport } from '../../travel/formats/import/run.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { homesFor } from './arrive.ts'
import type { ToolContext } from './tool.ts'

export const TRANSCRIPTS = {
  name: 'transcripts',
  about:
    'what was said in old sessions of Claude Code, Codex, Gemini CLI, Copilot CLI, opencode and Aider, searchable, on this machine alone; finds the sessions of this project by itself',
} as const

export const SPECSTORY = {
  name: 'specstory',
  about: 'the sessions of `.specstory/history`, searchable, on this machine alone',
} as const

type Options = Omit<ImportOptions, 'source'> & {
  format: string
  path: string | undefined
  since: string | undefined
  dryRun: boolean
}

/** Takes in the sessions of this project that clients have kept, or those in a folder; what was typed in them is kept as hooks keep it. */
export function importTranscripts(
  context: ToolContext,
  { format, path, since: said, dryRun, ...given }: Options,
): ImportReport {
  const { memory } = context
  const since = said === undefined ? 0 : momentSaid(said, memory.env.now(), 'since')
  const found = sessionsAt(context, format, path)
  const options = { ...given, source: `import ${format}` }
  const report: ImportReport = { ...emptyReport(options.source), read: { sessions: 0, turns: 0 } }
  const settings = { config: hooksConfig(context.project.hooks).config, pauses: pauses(memory.db), since }
  let kept = 0
  const sessions = found.flatMap((f) => f.sessions)
  for (const [i, session] of sessions.entries()) {
    given.progress?.(`${session.client} ${session.id}: session ${i + 1} of ${sessions.length}`)
    const read = readConversation(session, settings)
    runImport(memory, read.reading, options, report)
    if (!dryRun) kept += keep(context, session, read.users)
  }
  const past = kept > 0 ? leavePast(context) : undefined
  return { ...report, found: told(found, process.env.HOME ?? homedir()), prompts: kept, ...(past && { past }) }
}

function sessionsAt({ project }: ToolContext, format: string, path: string | undefined): FoundSessions[] {
  const at = path ?? (format === SPECSTORY.name ? join(project.root, '.specstory', 'history') : undefined)
  if (at !== undefined) {
    mustBeInside(resolve(at), project.root)
    return [format === SPECSTORY.name ? specstoryIn(resolve(at)) : sessionsIn(resolve(at))]
  }
  return sessionsOfProject(homesFor(project.root), treesOf(project))
}

/** Keeps what was typed in them, as hooks would have. Returns how many prompts. */
function keep({ memory, project }: ToolContext, { id, client }: Kept, users: readonly Typed[]): number {
  if (!hooksConfig(project.hooks).config.keepPrompts) return 0
  const now = memory.env.now()
  using prompts = openPrompts(project, { create: true, now })
  let kept = 0
  for (const { text: said, at = now } of users) {
    const text = ownWords(said).trim()
    if (text === '' || isSmall(text) || at < now - KEPT_DAYS * DAY_MS) continue
    prompts!.add({ at, session: id, client, text }, sentencesOf(said).filter(mayBeRepeated))
    kept++
  }
  return kept
}

const PAST_TOKENS = 250

/** Picks for the next session what says itself that it lasts, of the sessions that hold most of it and that no hook saw; then the latest. Nobody is asked about the rest. */
function leavePast({ memory, project }: ToolContext): string | undefined {
  using prompts = openPrompts(project, { now: memory.env.now() })!
  const lasts = (sentence: string) => partsOf(plainLine(sentence)).some(saysItLasts)
  const unseen = prompts.unjudgedSessions(0).filter((id) => !sessionsOf(memory).get(id))
  const all = unseen.flatMap((id) => {
    const typed = prompts.unjudgedOf(id).map((p) => ({ p, n: sentencesOf(p.text).filter(lasts).length }))
    const sum = typed.reduce((total, { n }) => total + n, 0)
    return typed.map(({ p, n }) => ({ p, rank: [Math.min(n, 1), sum, p.at, p.id] as const }))
  })
  all.sort((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1] || b.rank[2] - a.rank[2] || b.rank[3] - a.rank[3])
  let [picked, tokens]: [Prompt[], number] = [[], 0]
  for (const { p } of all.filter(({ p }) => mayHold(p))) {
    const { listed, text } = questionOn([...picked, p], 'earlier')
    const cost = tokensOfProse(text)
    if (listed.length === picked.length || cost > PAST_TOKENS) break
    ;[picked, tokens] = [listed, cost]
  }
  const rest = all.flatMap(({ p }) => (picked.includes(p) ? [] : p.id))
  prompts.show(rest, memory.env.now())
  if (picked.length === 0) return undefined
  memory.db.write(() => setMeta(memory.db, PAST, ''))
  const n = new Set(picked.map((p) => p.session)).size
  return `at your next prompt the agent is shown ${many(picked.length, 'prompt')} of your ${n === 1 ? 'richest past session' : `${n} richest past sessions`} to judge, about ${tokens} tokens`
}

function told(found: readonly FoundSessions[], home: string): string {
  const place = (where: string) => (where.startsWith(`${home}/`) ? `~${where.slice(home.length)}` : basename(where))
  const some = found.filter((f) => f.sessions.length > 0)
  const none = found.filter((f) => f.sessions.length === 0).map((f) => f.title)
  const has = some.map((f) => `${f.sessions.length}${f.title === '' ? '' : ` of ${f.title}`} (${place(f.where)})`)
  if (has.length === 0)
    return `no sessions of this project found; looked at ${found.map((f) => place(f.where)).join(', ')}`
  return `sessions found: ${has.join(', ')}${none.length > 0 ? `; none of ${none.join(', ')}` : ''}`
}
