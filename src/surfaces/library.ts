import type { Doc } from 'yjs'
import type { StreamEvent } from '../engine/feed/feed.ts'
import type { ActOptions, ActResult, Memory, News } from '../engine/memory.ts'
import type { ListOptions, Reader } from '../engine/read/reader.ts'
import type { Ingested } from '../engine/replication/ingest.ts'
import { createProject, findProject, type Project } from '../engine/store/project.ts'
import { isRefusedFor } from '../engine/write/batch.ts'
import { absentFiles } from '../find/code/settle.ts'
import type { RecallSettings } from '../find/recall/config.ts'
import { contextOf } from '../find/recall/context.ts'
import { Recaller } from '../find/recall/recall.ts'
import type { RecallOptions, RecallResult } from '../find/recall/types.ts'
import type { Entity } from '../model/entity.ts'
import type { Field, Json } from '../model/field.ts'
import type { COMMON, RecordArgs } from '../model/kind.ts'
import { discover } from '../project/discover/discover.ts'
import { recallFunctions } from '../project/discover/recall.ts'
import { whatIfFunctions } from '../project/discover/what-if.ts'
import { type OpenOptions, openProject } from '../project/open.ts'
import type { ArgsOf, Batch, KindName, KindOf, TypedAction } from '../project/verbs/actions.ts'
import { type Briefing, type BriefOptions, brief } from '../session/briefing/brief.ts'
import { type LiveDocument, liveYjs, type YjsOptions } from '../travel/formats/yjs-live.ts'
import { receiveChanges } from '../travel/sync/receive.ts'
import { type Claim, claimsOf } from '../work/coordination/claims.ts'
import { type Inbox, inbox } from '../work/coordination/inbox.ts'
import { sameSession } from '../work/coordination/session-ids.ts'
import { type Sessions, sessionsOf } from '../work/coordination/sessions.ts'
import { type EventsOptions, eventsSince, type SharedStore, sharedStore } from '../work/coordination/shared-context.ts'
import { synthesizeIfDue } from '../work/evolution/synthesis.ts'
import { readEdits, refreshViews } from '../work/handoff/views/refresh.ts'
import { saidJson } from './tools/format.ts'

type Read_<F extends Field> = F['type'] extends 'number'
  ? number
  : F['type'] extends 'flag'
    ? boolean
    : F['type'] extends 'set' | 'list'
      ? string[]
      : F['type'] extends 'map'
        ? { [key: string]: Json }
        : F['type'] extends 'choice'
          ? F['choices'] extends readonly (infer C)[]
            ? C
            : never
          : string

type Fields<F extends Readonly<Record<string, Field>>> = { -readonly [K in keyof F]?: Read_<F[K]> }

/** What of a record says where it comes from. */
type Origin = 'session' | 'agent' | 'user' | 'branch' | 'commit' | 'task' | 'activity' | 'goal' | 'source'

/** An entity of a core kind as the library gives it; what nobody said is not there. */
export type Known<N extends KindName = KindName> = Fields<KindOf<N>['fields']> &
  Fields<Omit<typeof COMMON, 'provenance'>> & {
    id: string
    kind: N
    recorded: string
    updated: string
    version: number
    provenance?: ({ at: string } & Partial<Record<Origin, string>>)[]
  }

/** A link as the library gives it; ends by id. */
export interface Relationship {
  id: string
  from: string
  to: string
  type: string
  description?: string
  confidence?: number
}

/** Everything that can be read, now or as of a moment. */
export interface Knowledge {
  readonly projectName: string
  readonly projectPath: string
  readonly principles: Known<'principle'>[]
  readonly patterns: Known<'pattern'>[]
  readonly decisions: Known<'decision'>[]
  readonly files: Known<'file'>[]
  readonly relationships: Relationship[]
  readonly principleByName: Map<string, Known<'principle'>>
  readonly patternByName: Map<string, Known<'pattern'>>
  readonly decisionByName: Map<string, Known<'decision'>>
  readonly fileByPath: Map<string, Known<'file'>>
  /** Entities of a kind, newest first. */
  list<N extends KindName>(kind: N, options?: ListOptions): Known<N>[]
  list(kind: string, options?: ListOptions): { [field: string]: Json }[]
  /** What a reference means, if it means one thing. */
  get(ref: string): Known | undefined
  relationshipsFrom(ref: string): Relationship[]
  relationshipsTo(ref: string): Relationship[]
  /** Entities that hold the words, best first within each list; every kind under its plural. */
  search(
    question: string,
    limit?: number,
  ): {
    principles: Known<'principle'>[]
    patterns: Known<'pattern'>[]
    decisions: Known<'decision'>[]
    files: Known<'file'>[]
    [plural: string]: { [field: string]: unknown }[]
  }
  asOf(moment: string | number | Date): Knowledge
}

type More<N extends KindName, Own extends string> = Omit<
  RecordArgs<KindOf<N>>,
  Own | 'ref' | 'anew' | 'expectedVersion'
>

/** What a scope has recorded. */
export type Recorded = { id: string; name: string }

/** A goal, activity or task that was started through the library. */
type Scope = { readonly id: string; complete(result?: string): void }

/** What is recorded through it carries the task in its provenance. */
export interface TaskScope extends Scope {
  recordAction(text: string, more?: More<'action-note', 'text'>): Recorded
  /** The name is derived from the first words unless given, and returned; it is never one that means another decision. */
  recordDecision(text: string, more?: More<'decision', 'name' | 'description'> & { name?: string }): Recorded
  recordLearning(text: string, more?: More<'learning', 'title' | 'body'>): Recorded
  recordResult(text: string, more?: More<'result', 'text'>): Recorded
}

export interface ActivityScope extends Scope {
  /** Starts a task in this activity. */
  task(description: string, more?: Omit<ArgsOf<'add-task'>, 'description' | 'activity' | 'goal'>): TaskScope
}

export interface GoalScope extends Scope {
  /** Starts an area of work within this goal. */
  activity(description: string, more?: Omit<ArgsOf<'start-activity'>, 'description' | 'goal'>): ActivityScope
}

/** One project's memory, as a library. */
export interface ProjectMemory {
  readonly project: Project
  readonly read: Knowledge
  /**
   * Writes a batch, entirely or not at all; returns when it is on disk.
   * @throws UserError `refused` with every problem in `details.problems`; nothing was written.
   */
  act(batch: Batch | readonly TypedAction[], options?: ActOptions): ActResult
  /** The same for a batch that comes from outside, or uses kinds of the project's own: checked when it is planned. */
  actAny(batch: unknown, options?: ActOptions): ActResult
  /** Starts a goal, or goes on with the one that was asked for in these words; activities and tasks are started in it. */
  goal(originalAsk: string, more?: Omit<ArgsOf<'start-goal'>, 'originalAsk'>): GoalScope
  /** Evaluates Scheme; one printed value per form, errors are values. */
  discover(program: string, options?: { session?: string; asOf?: string }): string[]
  /**
   * What answers a question, best first: by its words, by its meaning, by where the work stands, by age and weight.
   * @throws UserError for an empty question, and for options that are not accepted, with every problem.
   */
  recall(question: string, options?: RecallOptions): Promise<RecallResult>
  /** The same as a section of a prompt, in Markdown under `## Relevant Historical Context`; empty where nothing is found. */
  buildContext(question: string, options?: RecallOptions & { maxItems?: number; maxTokens?: number }): Promise<string>
  /** Makes the vectors that texts still lack; recall works without waiting for it. */
  index(progress?: (left: number) => void): Promise<{ vectors: number; left: number }>
  /** Values that all sessions share under keys: any JSON, merged where two write at once. */
  readonly share: SharedStore
  /** What happened, in order: after a cursor (the `seq` of an event), else the latest. */
  events(options?: EventsOptions): StreamEvent[]
  /**
   * Calls back with everything committed after `since`, by whatever process: batches, and what happened with sessions
   * and claims. What `session` did itself is left out. What `onNews` throws stops neither the write nor other subscribers:
   * `onError` is told, else the log of `env`. Returns the way to stop.
   */
  subscribe(
    onNews: (news: News) => void,
    options?: { since?: number; session?: string; onError?: (error: unknown) => void },
  ): () => void
  /** Who is at work on this machine: starts and ends sessions, keeps them alive, lists them. */
  readonly sessions: Sessions
  /** What live sessions have claimed; the verbs `claim`, `release`, `hand-over` and `assign-task` change it. */
  claims(): Claim[]
  /** What the others did since a session was last told, one line each; `sessions.caughtUp` says that it was told. */
  inbox(session: string, options?: { max?: number; since?: number }): Inbox
  /** What a new session would be told. */
  brief(options?: BriefOptions): Briefing
  /** What a replica that has seen up to `cursor` lacks, for its `applyUpdates`. */
  updatesSince(cursor?: string): { bytes: Uint8Array; cursor: string }
  applyUpdates(bytes: Uint8Array): Ingested
  /**
   * A Yjs document, or the given one, that says what the memory says: what is committed appears in it, and what peers change
   * in it is written as an agent's batch would be, unverified. What is refused is put back, and told.
   * @throws UserError `other-project` for a document of another one.
   */
  yjs(doc?: Doc, options?: YjsOptions): Promise<LiveDocument>
  close(): void
}

export type { Batch, TypedAction } from '../project/verbs/actions.ts'

export interface OpenMemoryOptions extends Omit<OpenOptions, 'projectPath'> {
  /** A directory in the project; the working directory unless given. */
  projectPath?: string
  projectName?: string
  /** Make the directory a project if it is none. */
  create?: boolean
  /** Settings of recall over those of the project. */
  recall?: RecallSettings
}

const relationship = ({ id, fields: { from, to, type, description, confidence } }: Entity): Relationship => ({
  id,
  from: String(from),
  to: String(to),
  type: String(type),
  ...(typeof description === 'string' ? { description } : {}),
  ...(typeof confidence === 'number' ? { confidence } : {}),
})

function knowledge(memory: Memory, project: Project, reader: () => Reader): Knowledge {
  const list = (kind: string, options?: ListOptions) => reader().list(kind, options).map(saidJson) as never[]
  const by = (kind: string, field: string) =>
    new Map(list(kind).map((e) => [e[field] as string, e])) as Map<string, never>
  const links = (end: 'from' | 'to', ref: string): Relationship[] =>
    reader()
      .find(ref)
      .flatMap((e) => reader().links(end, e.id))
      .map((l) => relationship(l.entity))
  return {
    projectName: project.name,
    projectPath: project.root,
    get principles() {
      return list('principle')
    },
    get patterns() {
      return list('pattern')
    },
    get decisions() {
      return list('decision')
    },
    get files() {
      return list('file')
    },
    get relationships() {
      const all = reader().list('relationship').map(relationship)
      const ends = reader().entities([...new Set(all.flatMap((r) => [r.from, r.to]))])
      const live = new Set(ends.flatMap((e) => (e.live ? [e.id] : [])))
      return all.filter((r) => live.has(r.from) && live.has(r.to))
    },
    get principleByName() {
      return by('principle', 'name')
    },
    get patternByName() {
      return by('pattern', 'name')
    },
    get decisionByName() {
      return by('decision', 'name')
    },
    get fileByPath() {
      return by('file', 'path')
    },
    list,
    get(ref) {
      const found = reader().find(ref)
      return found.length === 1 ? (saidJson(found[0]!) as never) : undefined
    },
    relationshipsFrom: (ref) => links('from', ref),
    relationshipsTo: (ref) => links('to', ref),
    search(question, limit = 50) {
      const out: Record<string, object[]> = { principles: [], patterns: [], decisions: [], files: [] }
      for (const e of reader().search(question, limit))
        (out[reader().registry().kind(e.kind)?.plural ?? e.kind] ??= []).push(saidJson(e))
      return out as ReturnType<Knowledge['search']>
    },
    asOf(moment) {
      const then = memory.asOf(moment)
      return knowledge(memory, project, () => then)
    },
  }
}

/** A title that stands on one line. */
const TITLE_MAX = 120
const NAME_WORDS = 6
const NAME_MAX = 60

/** A decision's name from the first words of what was decided. */
function nameFrom(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['decision']
  return [...words.slice(0, NAME_WORDS).join('-')].slice(0, NAME_MAX).join('')
}

/** Writes, with the files under `.tidemark/` read before and brought up to date after. */
const writing =
  (memory: Memory, project: Project, written: () => void) =>
  (batch: unknown, options?: ActOptions): ActResult => {
    const edits = readEdits(memory, project)
    sessionsOf(memory).keepAlive(options?.session)
    const before = memory.cursor
    const done = memory.act(batch, options)
    const due = synthesizeIfDue(memory, project, before)
    const notes = [...edits, ...due, ...absentFiles(memory, project, before), ...refreshViews(memory, project)]
    written()
    return notes.length === 0 ? done : { ...done, notes: [...done.notes, ...notes] }
  }

function scopes(memory: Memory, act: ReturnType<typeof writing>): ProjectMemory['goal'] {
  const one = (verb: string, args: object, options?: ActOptions): Recorded => {
    const [r] = act([[verb, args]], options).results
    return { id: r!.id, name: String(r!.name) }
  }
  const scope = (id: string): Scope => ({
    id,
    complete: (result) => void one('complete', { ref: id, ...(result !== undefined && { result }) }),
  })
  /** Under a name that no other decision has, also when somebody else records one at the same moment. */
  const decide = (text: string, more: { [field: string]: unknown }, options: ActOptions): Recorded => {
    if (more.name !== undefined) return one('record-decision', { description: text, ...more }, options)
    const base = nameFrom(text)
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}-${n}`
      const there = memory.reader.find(`decision:${name}`, true).filter((e) => e.kind === 'decision')
      if (there.some((e) => !e.live || e.fields.description !== text)) continue
      try {
        const expectedVersion = there[0]?.version ?? 0
        return one('record-decision', { name, description: text, ...more, expectedVersion }, options)
      } catch (error) {
        // somebody has just taken the name: look again
        if (!isRefusedFor(error, 'stale')) throw error
        n--
      }
    }
  }
  const task = (id: string): TaskScope => {
    const here: ActOptions = { task: id }
    return {
      ...scope(id),
      recordAction: (text, more = {}) => one('record-action-note', { text, ...more }, here),
      recordDecision: (text, more = {}) => decide(text, { ...more }, here),
      recordLearning(text, more = {}) {
        const whole = text.length <= TITLE_MAX && !text.includes('\n')
        const said = whole ? { title: text } : { title: `${text.split('\n')[0]!.slice(0, TITLE_MAX)}…`, body: text }
        return one('record-learning', { ...said, ...more }, here)
      },
      recordResult: (text, more = {}) => one('record-result', { text, ...more }, here),
    }
  }
  const activity = (id: string): ActivityScope => ({
    ...scope(id),
    task: (description, more = {}) => task(one('start-task', { description, activity: id, ...more }).id),
  })
  return (originalAsk, more = {}) => {
    const { id } = one('start-goal', { originalAsk, ...more })
    return {
      ...scope(id),
      activity: (description, said = {}) => activity(one('start-activity', { description, goal: id, ...said }).id),
    }
  }
}

/** The library's view of an open memory. */
export function asProjectMemory(
  memory: Memory,
  project: Project,
  options: { recall?: RecallSettings; written?: () => void } = {},
): ProjectMemory {
  const act = writing(memory, project, options.written ?? (() => {}))
  const documents: LiveDocument[] = []
  let opened: Recaller | undefined
  const recaller = (): Recaller => (opened ??= new Recaller(memory, project, options.recall))
  return {
    project,
    read: knowledge(memory, project, () => memory.reader),
    act,
    actAny: act,
    goal: scopes(memory, act),
    discover(program, o = {}) {
      if (program.includes('recall')) recaller().prepareNow()
      return discover(memory, program, {
        ...o,
        project,
        functions: (source) => ({
          ...recallFunctions(source, recaller(), o.session),
          ...whatIfFunctions(memory, source),
        }),
      })
    },
    recall: (question, o) => recaller().ask(question, o),
    async buildContext(question, { maxItems, maxTokens, ...o } = {}) {
      const { results } = await recaller().ask(question, { ...(maxItems ? { limit: maxItems } : {}), ...o })
      const { reader } = memory
      const told = results.map((r) => ({ ...r, recorded: reader.entity(r.id)?.created ?? memory.env.now() }))
      const nameOf = (id: string) => reader.entity(id)?.name
      return contextOf(told, question, { registry: memory.registry(), nameOf, maxItems, maxTokens })
    },
    index: (progress) => recaller().index(progress),
    share: sharedStore(memory),
    events: (options) => eventsSince(memory, options),
    subscribe(onNews, { session, ...options } = {}) {
      if (session === undefined) return memory.subscribe(onNews, options)
      const own = sameSession(memory, session)
      return memory.subscribe((news) => void (own(news.author.session ?? '') || onNews(news)), options)
    },
    sessions: sessionsOf(memory),
    claims: () => claimsOf(memory).held(),
    inbox: (session, options) => inbox(memory, session, options),
    brief: (options) => brief(memory, project, options),
    updatesSince: (cursor) => memory.updatesSince(cursor),
    applyUpdates: (bytes) => memory.applyUpdates(bytes),
    async yjs(doc, options) {
      const live = await liveYjs(memory, act, doc, options)
      documents.push(live)
      return live
    },
    close() {
      for (const live of documents.splice(0)) live.close()
      opened?.close()
      memory.close()
    },
  }
}

/** How often a program that writes on and on has the daily snapshot looked after. */
const UPKEEP_MS = 3_600_000

/** The daily snapshot, behind a write: what goes wrong there is a line in the log. */
function upkeep(memory: Memory): () => void {
  let next = Number.NEGATIVE_INFINITY
  return () => {
    const now = memory.env.now()
    if (now < next) return
    next = now + UPKEEP_MS
    for (const wrong of memory.maintain()) memory.env.log(`tidemark: ${wrong}`)
  }
}

/** Opens the memory of the project around a directory. @throws UserError `no-project` without one, unless `create`. */
export function openMemory(options: OpenMemoryOptions = {}): ProjectMemory {
  const { create, projectName, projectPath = process.cwd(), persistencePath, recall, ...rest } = options
  if (create) createProject(projectPath, { name: projectName, persistencePath })
  const project = findProject(projectPath, persistencePath)
  const memory = openProject(project, rest)
  receiveChanges(memory, project.root)
  return asProjectMemory(memory, project, { recall, written: upkeep(memory) })
}
