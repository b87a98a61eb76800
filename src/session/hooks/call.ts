import type { Lines } from '../../work/coordination/sessions.ts'

/** What happens in a client, in one word for all clients. `other` is a sign of life and nothing more. */
export const HOOK_EVENTS = [
  'session-start', 'prompt', 'before-edit', 'before-tool', 'after-edit', 'after-tool', 'tool-failed', 'stop', 'subagent-start', 'subagent-stop', 'pre-compact', 'post-compact', 'session-end', 'status-line', 'other',
] as const // biome-ignore format: a list
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** A text in the place of another one of a file, once or everywhere; without that, the file's whole text. */
export type Edit = Readonly<{ path: string; old?: string; text: string; all?: boolean }>

export interface HookTool {
  readonly name: string
  readonly id?: string
  /** Files that it writes, as the client says them; empty for a tool that only reads. */
  readonly paths: readonly string[]
  readonly reads?: readonly string[]
  /** What it will write, as far as its input tells; before the call. */
  readonly edits?: readonly Edit[]
  /** Lines that it added and took out, by file as the client says it; after the call. */
  readonly lines?: ReadonlyMap<string, Lines>
  readonly command?: string
  /** What came of a command, cut. */
  readonly response?: string
  readonly failed?: boolean
  readonly ms?: number
}

/** One hook call, with nothing left of the client's dialect. */
export interface HookCall {
  /** A key of `DIALECTS` in `session/clients/index.ts`. */
  readonly client: string
  readonly event: HookEvent
  /** The client's id of the session; of the child session where a subagent acts. Empty if the client says none. */
  readonly session: string
  readonly parent?: string
  readonly agent?: string
  readonly source?: string
  readonly trigger?: string
  readonly reason?: string
  readonly cwd?: string
  readonly prompt?: string
  /** The client shows the person nothing of an answer to this event. */
  readonly silent?: boolean
  readonly tool?: HookTool
  readonly transcript?: string
  readonly contextUsed?: number
  readonly contextWindow?: number
  readonly said?: string
  readonly pid?: number
  /** One process of the client may hold several sessions: a new one there does not end the one before. */
  readonly shared?: boolean
}

/** What is to be said; each client's dialect carries as much of it as it can. */
export interface HookReply {
  readonly context?: string
  /** `deny` refuses the tool, `ask` leaves it to the person, `warn` lets it pass and says why not. */
  readonly decision?: 'deny' | 'ask' | 'warn'
  readonly reason?: string
  readonly visible?: string
  /** What the client prints as it is: a status line. */
  readonly line?: string
}

export const NOTHING: HookReply = Object.freeze({})
