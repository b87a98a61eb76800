import type { ClientName } from '../../../work/coordination/clients.ts'
import type { Check } from '../../hooks/doctor-line.ts'

/** What wiring needs to know about this machine; passed in, so that tests move it. */
export interface ClientContext {
  root: string
  home: string
  /** How tidemark can be started here: `onPath` for the bare command, else this node with this script. */
  launcher: { onPath: boolean; node: string; script: string }
  /** Where `PATH`, `CODEX_HOME` and `CLAUDE_CONFIG_DIR` are read; the process's own unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** Where a client is started, as `doctor` judges it; the root unless given. */
  from?: string
  /** Nothing that the team shares is touched. */
  personal?: boolean
  /** The tools that clients are to run without asking; what is allowed already stays so. */
  allow?: readonly string[]
}

/** Our tools that only read. A test holds them against those of the server. */
export const READ_TOOLS: readonly string[] = ['brief', 'recall', 'discover', 'open_questions']

/** What an edit must remember so that it can be taken back after the user went on editing around it. */
export interface Undo {
  /** How many containers on the way to our entry were there before; deeper ones are ours and go with it. */
  kept: number
  /** The white space inside the deepest of them, if it was empty. */
  interior: string | null
}

export type Splice = { at: number; removed: string; inserted: string }

export interface Step {
  /** The name of the entry; empty: the first that its file has. */
  part: string
  undo: Undo
  splice: Splice
}

/** Why a file is left as it is that has all of our entries. */
export const ALREADY_THERE = 'already there'

/** One file and what is to happen to it. `before` is checked again when it is applied. */
export interface WiringChange {
  client: string
  file: string
  /** `committed`: shared by the team through git; `local`: this machine only. */
  scope: 'committed' | 'local'
  action: 'create' | 'edit' | 'delete' | 'none'
  before: string | null
  after: string | null
  /** One clause for the human: which file and why this one. */
  why: string
  failed?: true
  /** For the journal: the hash of the text without us (null: no file), and how our entries are taken back. */
  undo?: { original: string | null; steps: Step[] }
}

/** One event of a client that is listened to. `matcher` as the client reads it; `seconds` is how long it may wait for us. */
export interface WiredEvent {
  event: string
  matcher?: string
  seconds: number
  /** What earlier versions wrote instead. */
  former?: { matcher: string | undefined }
}

export interface Client {
  name: ClientName
  /** Those that are listened to, under its own names: `init` and the plugin wire them, `doctor` expects them. */
  events: readonly WiredEvent[]
  detect(ctx: ClientContext): { found: boolean; why: string }
  files(ctx: ClientContext): string[]
  wire(ctx: ClientContext): WiringChange[]
  unwire(ctx: ClientContext): WiringChange[]
  check(ctx: ClientContext): Check[]
}
