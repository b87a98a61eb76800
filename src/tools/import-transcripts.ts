import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import {
  type FoundSessions,
  type KeptSession,
  sessionsIn,
  sessionsOfProject,
  specstoryIn,
} from '../clients/transcripts.ts'
import { mustBeInside } from '../formats/import/files.ts'
import { emptyReport, type ImportReport, joined } from '../formats/import/report.ts'
import { runImport } from '../formats/import/run.ts'
import type { ImportOptions } from '../formats/import/state.ts'
import { capturedIn } from '../hooks/capture/patterns.ts'
import { CAPTURE_SOURCE } from '../hooks/capture/propose.ts'
import { hooksConfig } from '../hooks/config.ts'
import { readConversation } from '../hooks/extract/conversation.ts'
import { proposeAll } from '../hooks/extract/run.ts'
import { pauses } from '../hooks/pause.ts'
import { momentSaid } from '../recall/moment.ts'
import { treesOf } from '../store/project-list.ts'
import type { ToolContext } from './tool.ts'

export const TRANSCRIPTS = {
  name: 'transcripts',
  about:
    'what was said in old sessions of Claude Code, Codex, Gemini CLI, Copilot CLI and opencode, as searchable chunks; finds the sessions of this project by itself',
} as const

export const SPECSTORY = {
  name: 'specstory',
  about: 'the sessions of `.specstory/history`, as searchable chunks',
} as const

type Options = Omit<ImportOptions, 'source'> & { format: string; path: string | undefined; since: string | undefined }

/** Takes in the sessions of this project that clients have kept, or those in a folder; what they lay down is proposed. */
export function importTranscripts(
  context: ToolContext,
  { format, path, since: said, ...given }: Options,
): ImportReport {
  const { memory } = context
  const since = said === undefined ? 0 : momentSaid(said, memory.env.now(), 'since')
  const home = process.env.HOME ?? homedir()
  const found = sessionsAt(context, home, format, path)
  const options = { ...given, source: `import ${format}` }
  let report = emptyReport(options.source, { items: [], unplaced: [], counts: { sessions: 0, turns: 0 } })
  let proposed = 0
  const sessions = found.flatMap((f) => f.sessions)
  for (const [i, session] of sessions.entries()) {
    given.progress?.(`${session.client} ${session.id}: session ${i + 1} of ${sessions.length}`)
    const read = readConversation(session, { ...settingsOf(context), since })
    const one = runImport(memory, read.reading, options)
    if (one.created > 0) proposed += propose(context, session, read.users)
    report = joined(report, one)
  }
  return { ...report, found: told(found, home), proposed }
}

function sessionsAt({ project }: ToolContext, home: string, format: string, path: string | undefined): FoundSessions[] {
  const at = path ?? (format === SPECSTORY.name ? join(project.root, '.specstory', 'history') : undefined)
  if (at !== undefined) {
    mustBeInside(resolve(at), project.root)
    return [format === SPECSTORY.name ? specstoryIn(resolve(at)) : sessionsIn(resolve(at))]
  }
  return sessionsOfProject({ root: project.root, home, env: process.env, launcher: NO_LAUNCHER }, treesOf(project))
}

const NO_LAUNCHER = { onPath: false, node: process.execPath, script: '' }

const settingsOf = ({ memory, project }: ToolContext) => ({
  config: hooksConfig(project.hooks).config,
  pauses: pauses(memory.db),
})

/** Rules and decisions in the words of the user, as hooks would have proposed them. */
function propose({ memory }: ToolContext, { id, client }: KeptSession, users: readonly string[]): number {
  const candidates = users.flatMap((text) =>
    capturedIn(text).map(({ kind, action, said }) => ({ kind, action, quote: said, confidence: 1 })),
  )
  return proposeAll(memory, { session: id, client }, CAPTURE_SOURCE, candidates).length
}

/** What was found where, in words. */
function told(found: readonly FoundSessions[], home: string): string {
  const place = (where: string) => (where.startsWith(`${home}/`) ? `~${where.slice(home.length)}` : basename(where))
  const some = found.filter((f) => f.sessions.length > 0)
  const none = found.filter((f) => f.sessions.length === 0).map((f) => f.title)
  const has = some.map((f) => `${f.sessions.length}${f.title === '' ? '' : ` of ${f.title}`} (${place(f.where)})`)
  if (has.length === 0)
    return `no sessions of this project found; looked at ${found.map((f) => place(f.where)).join(', ')}`
  return `sessions found: ${has.join(', ')}${none.length > 0 ? `; none of ${none.join(', ')}` : ''}`
}
