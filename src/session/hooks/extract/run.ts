import { isRunning, processRef } from '../../../base/env.ts'
import type { Memory } from '../../../engine/memory.ts'
import type { Extraction, Waiting } from '../../../engine/store/extraction.ts'
import type { Project } from '../../../engine/store/project.ts'
import { sessionsOf } from '../../../work/coordination/sessions.ts'
import { hooksConfig } from '../config.ts'
import { logExtraction } from '../log.ts'
import { offUntil, pausedSince, pauses } from '../pause.ts'
import { type Allowed, allowedIn, dayOf, nextDay, openExtraction } from './consent.ts'
import { type Candidate, type Earlier, ExtractionFailed } from './extractor.ts'
import { llm } from './llm.ts'
import { keepCaptured, proposeCaptured } from './propose.ts'
import { asText, readTranscript } from './transcript.ts'

/** All of a run; the process that it runs in ends itself a little later. */
export const RUN_MS = 50_000
const LEASE_MS = 70_000
const LEAST_CHARS = 200
const RETRY_MS = 5 * 60_000
const RETRY_MOST_MS = 6 * 3_600_000
const TRIES = 6

export interface Looked {
  readonly session: string
  readonly proposed: readonly string[]
  /** Why nothing was, in words; nothing where it was looked at. */
  readonly why?: string
  readonly tokens?: number
}

export type Ran =
  | { readonly ran: false; readonly why: 'off' | 'paused' | 'capture is off' | 'another process is at it' }
  | { readonly ran: true; readonly looked: readonly Looked[] }

export interface RunOptions {
  readonly session?: string
  /** Only what is due; else everything that waits. */
  readonly dueOnly?: boolean
  readonly limit?: number
}

const silenced = (memory: Memory, project: Project): 'paused' | 'capture is off' | undefined =>
  pausedSince(memory.db) !== undefined || offUntil(memory.db, memory.env.now()) !== undefined
    ? 'paused'
    : hooksConfig(project.hooks).config.capture
      ? undefined
      : 'capture is off'

/** Reads the waiting sessions with the allowed model, one process at a time. All findings are proposed. */
export async function extractWaiting(memory: Memory, project: Project, options: RunOptions = {}): Promise<Ran> {
  using state = openExtraction(project)
  const allowed = allowedIn(state)
  if (!state || !allowed) return { ran: false, why: 'off' }
  const me = processRef(process.pid)
  try {
    const why = silenced(memory, project)
    if (why) return { ran: false, why }
    const now = memory.env.now()
    const isGone = (p: typeof me) => (memory.env.isRunning ?? isRunning)(p) === false
    if (!state.take(me, now, now + LEASE_MS, isGone)) return { ran: false, why: 'another process is at it' }
    const { session, dueOnly, limit = RUN_MS } = options
    const signal = AbortSignal.timeout(limit)
    const looked: Looked[] = []
    const isNew = (w: Waiting) => !looked.some((l) => l.session === w.session)
    /** Also what came while another session was looked at: whoever put it down found us at work and went. */
    const next = () =>
      session === undefined
        ? state.due(dueOnly ? memory.env.now() : undefined).find(isNew)
        : [state.waiting(session)].find((w) => w !== undefined && isNew(w))
    const mayGoOn = () => !signal.aborted && !silenced(memory, project) && allowedIn(state) !== undefined
    for (let entry = next(); entry && mayGoOn(); entry = next())
      looked.push(await lookAt(memory, project, state, allowed, entry, signal))
    return { ran: true, looked }
  } finally {
    state.giveBack(me)
  }
}

/** So many decisions a model is told of, the newest, each shortly; none where the budget of a day is for little more than that. */
const EARLIER = { most: 30, text: 120, budget: 10_000 }

const earlierDecisions = (memory: Memory): Earlier[] =>
  memory.reader
    .list('decision', { limit: EARLIER.most, standing: 'confirmed' })
    .filter((e) => e.fields.status !== 'superseded' && e.fields.retired === undefined)
    .map((e) => ({
      id: e.id,
      name: e.name,
      text: String(e.fields.description ?? e.fields.rationale ?? '')
        .slice(0, EARLIER.text)
        .toWellFormed(),
    }))

async function lookAt(
  memory: Memory,
  project: Project,
  state: Extraction,
  allowed: Allowed,
  entry: Waiting,
  signal: AbortSignal,
): Promise<Looked> {
  const { session } = entry
  const { due: _due, error: _error, ...bare } = entry
  const nothing = (why: string, next: Waiting): Looked => {
    state.keep(next)
    return { session, proposed: [], why }
  }
  const { config } = hooksConfig(project.hooks)
  const read = readTranscript(entry.transcript, { config, from: entry.readTo, pauses: pauses(memory.db) })
  if (!read) return nothing('its transcript is gone, or not understood', { ...bare, tries: 0 })
  const done: Waiting = { ...bare, readTo: read.end, tries: 0 }
  const extractor = llm(allowed, allowed.budget < EARLIER.budget ? [] : earlierDecisions(memory))
  let maxChars = extractor.maxChars
  let given = asText(read.turns, maxChars)
  while (extractor.cost(given.text) > allowed.budget && given.turns.length > 0) {
    maxChars = Math.floor(maxChars / 2) // a small budget still sees the end of a session
    given = asText(read.turns, maxChars)
  }
  if (given.text.length < LEAST_CHARS) return nothing('too little was said', done)
  const now = memory.env.now()
  const day = dayOf(now)
  const reserved = extractor.cost(given.text)
  if (!state.reserve(day, reserved, allowed.budget)) {
    const { tokens } = state.used(day)
    const why = `over budget: it can take ${reserved} tokens, and ${Math.max(0, allowed.budget - tokens)} of ${allowed.budget} are left today; nothing was sent`
    logExtraction(project, now, session, why)
    return nothing(why, { ...bare, error: why, due: nextDay(now) })
  }
  try {
    const { candidates, tokens = reserved } = await extractor.extract(given.turns, given.text, signal)
    state.settle(day, reserved, tokens)
    state.keep(done)
    if (silenced(memory, project)) return { session, proposed: [], why: 'paused meanwhile', tokens }
    return { session, proposed: proposeAll(memory, entry, extractor.source, candidates), tokens }
  } catch (error) {
    if (!(error instanceof ExtractionFailed)) throw error
    const { free, tokens = free ? 0 : reserved, message } = error
    state.settle(day, reserved, tokens)
    const tries = entry.tries + 1
    const wait = Math.max(error.wait ?? 0, Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** entry.tries))
    const failed: Waiting = { ...bare, tries, error: message, ...(tries < TRIES ? { due: now + wait } : {}) }
    logExtraction(project, now, session, message)
    const next = tries < TRIES ? 'it is tried again later' : 'it is not tried again'
    return { ...nothing(`${message}; ${next}`, failed), tokens }
  }
}

/** Whether something says so already by the same words, whatever became of it. */
function isTold(memory: Memory, { kind, quote }: Candidate): boolean {
  const { reader } = memory
  const words = JSON.stringify(quote).slice(1, -1)
  return [...reader.list(kind, { all: true }), ...reader.list(kind, { standing: 'rejected' })].some((e) =>
    JSON.stringify(e.fields).includes(words),
  )
}

function proposeAll(
  memory: Memory,
  { session, client }: Pick<Waiting, 'session' | 'client'>,
  source: string,
  candidates: readonly Candidate[],
): string[] {
  const author = { agent: client, session }
  const ids = candidates.flatMap((c) => {
    if (isTold(memory, c)) return []
    const evidence = `"${c.quote}" (${source}, confidence ${c.confidence})`
    const id = proposeCaptured({ memory, author }, c.kind, c.action, evidence, source)
    if (id === undefined) return []
    const links = (c.relations ?? []).flatMap(({ type, to }) => {
      const link = ['link-entities', { from: id, to, type }] as const
      return proposeCaptured({ memory, author }, 'relationship', link, evidence, source) ?? []
    })
    return [id, ...links]
  })
  const sessions = sessionsOf(memory)
  if (sessions.get(session)) keepCaptured({ sessions }, session, ids)
  return ids
}
