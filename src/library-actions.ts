import type { Json } from './model/field.ts'
import type { RecordArgs } from './model/kind.ts'
import type { KINDS } from './model/kinds/index.ts'

export type CoreKind = (typeof KINDS)[number]
export type KindName = CoreKind['name']
export type KindOf<N extends KindName> = Extract<CoreKind, { name: N }>

/** What area of the work something is of: decisions and learnings that share it count for it in recall. */
export interface Labels {
  topics?: readonly string[]
  tags?: readonly string[]
}

export interface NewTask extends Labels {
  description: string
  activity?: string
  goal?: string
  blockedBy?: readonly string[]
  discoveredFrom?: string
}

type RecordAction = { [N in KindName]: readonly [verb: `record-${N}`, args: RecordArgs<KindOf<N>>] }[KindName]
type OtherAction =
  | readonly [verb: 'record-file-understanding', args: RecordArgs<KindOf<'file'>>]
  | readonly [
      verb: 'link-entities' | 'unlink-entities',
      args: { from: string; to: string; type: string; description?: string; confidence?: number },
    ]
  | readonly [verb: 'update-confidence', args: ({ ref: string } | { name: string }) & { confidence: number }]
  | readonly [verb: 'add-evidence', args: ({ ref: string } | { name: string }) & { evidence: string | string[] }]
  | readonly [verb: 'supersede', args: { old: string; new: string; reason?: string }]
  | readonly [verb: 'answer-question', args: { ref: string; answer: string }]
  | readonly [verb: 'retire' | 'restore' | 'purge', args: { ref?: string; secret?: string; reason?: string }]
  | readonly [
      verb: 'start-goal',
      args: { originalAsk: string; plan?: string; topics?: readonly string[]; tags?: readonly string[] },
    ]
  | readonly [
      verb: 'start-activity',
      args: {
        description: string
        goal?: string
        mode?: string
        component?: string
        topics?: readonly string[]
        tags?: readonly string[]
      },
    ]
  | readonly [verb: 'start-task', args: NewTask | { ref: string }]
  | readonly [verb: 'add-task', args: NewTask]
  | readonly [verb: 'complete', args: { ref?: string; result?: string; force?: boolean }]
  | readonly [verb: 'abandon', args: { ref: string; reason: string }]
  | readonly [
      verb: 'write-handoff',
      args: {
        title?: string
        task?: string
        inProgress?: readonly string[]
        decisionsMade?: readonly string[]
        blockers?: readonly string[]
        nextSteps?: readonly string[]
        contextUsed?: number | string
        body?: string
        complete?: boolean
      },
    ]
  | readonly [verb: 'lift', args: { ref: string; to?: string }]
  | readonly [verb: 'rename', args: { ref: string; name: string }]
  | readonly [verb: 'curate' | 'confirm', args: { ref: string }]
  | readonly [verb: 'reject', args: { ref: string; reason?: string }]
  | readonly [verb: 'propose', args: { action: readonly [string, { [name: string]: Json }]; evidence?: string }]
  | readonly [verb: 'undo', args: { batch?: string; allOf?: string; force?: boolean }]
  | readonly [
      verb: 'share-set' | 'share-append' | 'share-merge',
      args: { key: string; value: Json; expectedVersion?: number },
    ]
  | readonly [
      verb: 'share-delete',
      args: { key: string; item?: Json; path?: string | readonly string[]; expectedVersion?: number },
    ]
  | readonly [
      verb: 'claim',
      args: {
        paths?: readonly string[]
        task?: string
        ttl?: number
        note?: string
        role?: string
        dependsOn?: readonly string[]
      },
    ]
  | readonly [
      verb: 'release',
      args: {
        paths?: readonly string[]
        task?: string
        role?: string
        status?: 'active' | 'complete' | 'blocked' | 'abandoned'
        result?: string
        handoff?: string
      },
    ]
  | readonly [
      verb: 'hand-over',
      args: { to: string; paths?: readonly string[]; task?: string; role?: string; note?: string },
    ]
  | readonly [verb: 'assign-task', args: { task: string; role?: string; to?: string; note?: string }]
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
