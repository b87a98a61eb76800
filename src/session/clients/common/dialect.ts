import { firstWhere } from '../../../base/lookup.ts'
import { closed } from '../../briefing/fence.ts'
import type { HookCall, HookEvent, HookReply } from '../../hooks/call.ts'
import type { Payload } from './payload.ts'

export interface Dialect {
  readonly client: string
  readonly events: Readonly<Record<string, HookEvent>>
  /** What a call says. `event` is the client's spelling. Never throws, whatever the payload holds. */
  read(event: string, payload: Payload): HookCall
  print(event: string, reply: HookReply, payload: Payload): string
  /** Whether an answer to this event reaches the agent; what is to be told at another one waits for the next of these. */
  tells(event: string, payload: Payload): boolean
}

/** The events that Claude Code, Codex and Copilot CLI spell alike. */
export const SHARED_EVENTS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  Stop: 'stop',
  SubagentStart: 'subagent-start',
  SubagentStop: 'subagent-stop',
  PreCompact: 'pre-compact',
  SessionEnd: 'session-end',
} as const satisfies Readonly<Record<string, HookEvent>>

/** Ours may be finer than what a client calls: `before-edit` arrives as its call before any tool. */
const WITHIN: Readonly<Record<string, HookEvent>> = {
  'before-edit': 'before-tool',
  'after-edit': 'after-tool',
  'tool-failed': 'after-tool',
}

/** The client's spelling of an event that may be given in it or in ours; undefined for one it does not have. */
export function spelling(dialect: Dialect, event: string): string | undefined {
  if (Object.hasOwn(dialect.events, event)) return event
  const names = Object.keys(dialect.events)
  return names.find((n) => dialect.events[n] === event) ?? names.find((n) => dialect.events[n] === WITHIN[event])
}

export function cutTo(text: string, most: number, size: (t: string) => number = (t) => t.length): string {
  const whole = text.toWellFormed()
  if (size(whole) <= most) return whole
  const mark = '\n(cut: `tidemark brief` has the rest)'
  const fits = (length: number) => size(closed(whole.slice(0, length))) + size(mark) <= most
  const cut = whole.slice(
    0,
    firstWhere(whole.length, (i) => !fits(i + 1)),
  )
  const line = cut.lastIndexOf('\n')
  return closed((line > cut.length / 2 ? cut.slice(0, line) : cut).toWellFormed()) + mark
}

export const bytes = (text: string): number => Buffer.byteLength(text)

/** A hook's context is replaced by a preview above 10,000 characters (Claude Code) or 2,500 tokens (Codex). */
const CONTEXT_CHARS = 9_000
const VISIBLE_CHARS = 500
const REASON_CHARS = 2_000

const onOneLine = (text: string) => cutTo(text.replace(/(?<!\s)\s*\n\s*/g, ' '), VISIBLE_CHARS)

/** The reply with everything in it cut to what clients take. */
export function bounded(reply: HookReply, context = (text: string) => cutTo(text, CONTEXT_CHARS)): HookReply {
  const cut = (text: string | undefined, by: (t: string) => string) => (text ? by(text) : undefined)
  return {
    ...reply,
    context: cut(reply.context, context),
    reason: cut(reply.reason, (text) => cutTo(text, REASON_CHARS)),
    visible: cut(reply.visible, onOneLine),
    line: cut(reply.line, onOneLine),
  }
}

export const refusal = ({ decision, reason = 'Tidemark' }: HookReply) =>
  decision === 'deny' || decision === 'ask' ? { decision, reason } : undefined

/** What Claude Code, Codex and Copilot CLI take from a hook: leave for a tool, and context where the event has a place for it. */
export function specific(means: HookEvent | undefined, reply: HookReply, tells: boolean): object | undefined {
  const before = means === 'before-tool'
  const { decision, reason } = (before && refusal(reply)) || {}
  const warning = before && reply.decision === 'warn' ? reply.reason : undefined
  const additionalContext = tells ? [warning, reply.context].filter((t) => t).join('\n') || undefined : undefined
  if (decision === undefined && additionalContext === undefined) return undefined
  return { permissionDecision: decision, permissionDecisionReason: reason, additionalContext }
}

export const answer = (value: object): string => JSON.stringify(value)
/** Nothing for an object without fields. */
export const answerIfAny = (value: object): string => answer(value).replace(/^\{\}$/, '')
