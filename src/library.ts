import { discover } from './discover/discover.ts'
import type { KINDS } from './kinds/index.ts'
import type { Entity } from './memory/entity.ts'
import type { Ingested } from './memory/ingest.ts'
import type { ActOptions, ActResult, Memory, News } from './memory/memory.ts'
import type { ListOptions, Reader } from './memory/read.ts'
import { type OpenOptions, openProject } from './open.ts'
import type { Field, Json } from './schema/field.ts'
import type { COMMON, RecordArgs } from './schema/kind.ts'
import { createProject, findProject, type Project } from './store/project.ts'

type CoreKind = (typeof KINDS)[number]
type KindName = CoreKind['name']
type KindOf<N extends KindName> = Extract<CoreKind, { name: N }>

/** What a field reads as. */
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

/** An entity of a core kind as the library gives it; what nobody said is not there. */
export type Known<N extends KindName = KindName> = Fields<KindOf<N>['fields']> &
  Fields<Omit<typeof COMMON, 'provenance'>> & {
    id: string
    kind: N
    recorded: string
    updated: string
    version: number
    provenance?: {
      at: string
      session?: string
      agent?: string
      user?: string
      branch?: string
      commit?: string
      task?: string
      source?: string
    }[]
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

type RecordAction = { [N in KindName]: readonly [verb: `record-${N}`, args: RecordArgs<KindOf<N>>] }[KindName]
type OtherAction =
  | readonly [verb: 'record-file-understanding', args: RecordArgs<KindOf<'file'>>]
  | readonly [
      verb: 'link-entities' | 'unlink-entities',
      args: { from: string; to: string; type: string; description?: string; confidence?: number },
    ]
  | readonly [verb: 'update-confidence', args: { ref: string; confidence: number }]
  | readonly [verb: 'add-evidence', args: { ref: string; evidence: string }]
  | readonly [verb: 'supersede', args: { old: string; new: string; reason?: string }]
  | readonly [verb: 'answer-question', args: { ref: string; answer: string }]
  | readonly [verb: 'retire' | 'restore' | 'purge', args: { ref?: string; secret?: string; reason?: string }]
  | readonly [verb: 'rename', args: { ref: string; name: string }]
  | readonly [verb: 'curate' | 'confirm', args: { ref: string }]
  | readonly [verb: 'reject', args: { ref: string; reason?: string }]
  | readonly [verb: 'propose', args: { action: readonly [string, { [name: string]: Json }]; evidence?: string }]
  | readonly [verb: 'undo', args: { batch?: string; session?: string; force?: boolean }]
  | readonly [verb: 'define-kind' | 'define-relation', args: { name: string } & { [key: string]: Json }]

type DeleteAction = readonly [
  verb: `delete-${KindName}`,
  args: { ref?: string; reason?: string } & { [key: string]: Json },
]

/** An action on core kinds, checked by the compiler; verbs of run-time kinds go through `actAny`. */
export type TypedAction = RecordAction | DeleteAction | OtherAction

export interface Batch {
  intent?: string
  projectId?: string
  actions: readonly TypedAction[]
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
  /** Evaluates Scheme; one printed value per form, errors are values. */
  discover(program: string, options?: { session?: string; asOf?: string }): string[]
  /** Calls back with every batch committed after `since`, by whatever process. Returns the way to stop. */
  subscribe(onNews: (news: News) => void, options?: { since?: number }): () => void
  /** What a replica that has seen up to `cursor` lacks, for its `applyUpdates`. */
  updatesSince(cursor?: string): { bytes: Uint8Array; cursor: string }
  applyUpdates(bytes: Uint8Array): Ingested
  close(): void
}

export interface OpenMemoryOptions extends Omit<OpenOptions, 'projectPath'> {
  /** A directory in the project; the working directory unless given. */
  projectPath?: string
  projectName?: string
  /** Make the directory a project if it is none. */
  create?: boolean
}

const plain = (e: Entity): { [field: string]: Json } => ({
  id: e.id,
  kind: e.kind,
  ...e.fields,
  recorded: new Date(e.created).toISOString(),
  updated: new Date(e.updated).toISOString(),
  version: e.version,
})

function knowledge(memory: Memory, project: Project, reader: () => Reader): Knowledge {
  const list = (kind: string, options?: ListOptions) => reader().list(kind, options).map(plain) as never[]
  const by = (kind: string, field: string) =>
    new Map(list(kind).map((e) => [e[field] as string, e])) as Map<string, never>
  const links = (end: 'from' | 'to', ref: string): Relationship[] =>
    reader()
      .find(ref)
      .flatMap((e) => reader().links(end, e.id))
      .map((l) => ({
        id: l.id,
        from: l.from,
        to: l.to,
        type: l.type,
        ...(typeof l.entity.fields.description === 'string' ? { description: l.entity.fields.description } : {}),
        ...(typeof l.entity.fields.confidence === 'number' ? { confidence: l.entity.fields.confidence } : {}),
      }))
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
      return reader()
        .list('relationship')
        .map((e) => ({ id: e.id, from: String(e.fields.from), to: String(e.fields.to), type: String(e.fields.type) }))
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
      return found.length === 1 ? (plain(found[0]!) as never) : undefined
    },
    relationshipsFrom: (ref) => links('from', ref),
    relationshipsTo: (ref) => links('to', ref),
    search(question, limit = 50) {
      const out: { [plural: string]: { [field: string]: Json }[] } = {
        principles: [],
        patterns: [],
        decisions: [],
        files: [],
      }
      for (const e of reader().search(question, limit))
        (out[reader().registry().kind(e.kind)?.plural ?? e.kind] ??= []).push(plain(e))
      return out as ReturnType<Knowledge['search']>
    },
    asOf(moment) {
      const then = memory.asOf(moment)
      return knowledge(memory, project, () => then)
    },
  }
}

/** The library's view of an open memory. */
export function asProjectMemory(memory: Memory, project: Project): ProjectMemory {
  return {
    project,
    read: knowledge(memory, project, () => memory.reader),
    act: (batch, options) => memory.act(batch, options),
    actAny: (batch, options) => memory.act(batch, options),
    discover: (program, options) => discover(memory, program, options),
    subscribe: (onNews, options) => memory.subscribe(onNews, options),
    updatesSince: (cursor) => memory.updatesSince(cursor),
    applyUpdates: (bytes) => memory.applyUpdates(bytes),
    close: () => memory.close(),
  }
}

/**
 * Opens the memory of the project around a directory.
 * @throws UserError `no-project` where there is none and `create` is not given.
 */
export function openMemory(options: OpenMemoryOptions = {}): ProjectMemory {
  const { create, projectName, projectPath = process.cwd(), persistencePath, ...rest } = options
  if (create)
    createProject(projectPath, {
      ...(projectName !== undefined ? { name: projectName } : {}),
      ...(persistencePath !== undefined ? { persistencePath } : {}),
    })
  const project = findProject(projectPath, persistencePath)
  return asProjectMemory(openProject(project, rest), project)
}
