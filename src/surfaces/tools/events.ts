import { UsageError } from '../../base/errors.ts'
import type { StreamEvent } from '../../engine/feed/feed.ts'
import { PRESENCE_TYPES } from '../../engine/store/presence.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { kindOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { sameSession } from '../../work/coordination/session-ids.ts'
import { type EventsOptions, eventsSince, followEvents } from '../../work/coordination/shared-context.ts'
import { inWords, moment, oneLine } from './format.ts'
import { defineTool, type ToolContext } from './tool.ts'

/** What an event of sessions and claims says beyond its key. */
const SAID = new Set(['client', 'agent', 'role', 'note', 'task', 'status', 'result', 'handoff', 'from', 'to', 'reason', 'by']) // biome-ignore format: a list

/** What happened, without the value from before. */
function happened({ event_type, key, value, previous_value }: StreamEvent): string {
  if (event_type === 'erased') return `erased something of kind ${kindOf(key)}`
  const said = (PRESENCE_TYPES as readonly string[]).includes(event_type)
    ? Object.fromEntries(Object.entries(value ?? {}).filter(([k, v]) => SAID.has(k) && v !== key))
    : value
  const { from, type, to } = (value ?? {}) as { [key: string]: Json }
  if (event_type === 'linked' && type !== undefined) return `linked ${from} ${type} ${to}`
  const text = said === null && event_type !== 'update' ? '' : inWords(said, 100)
  return `${event_type} ${oneLine(key, 80)}${text && ` ${event_type === 'merge' && previous_value === null ? '+ ' : ''}${text}`}`
}

export function eventLine(e: StreamEvent, local: boolean | undefined): string {
  const who = e.session_id === null ? '' : `  [${oneLine(e.session_id, 40)}]`
  const before = e.previous_value === null ? '' : ` (was ${inWords(e.previous_value, 60)})`
  const said = e.said === undefined ? '' : ` (said: ${inWords(e.said, 60)})`
  return `${e.seq}  ${moment(Date.parse(e.timestamp), local)}  ${happened(e)}${before}${said}${who}`
}

function optionsOf(context: ToolContext, args: Readonly<Record<string, unknown>>): EventsOptions {
  const since = sinceOf(context, args.since)
  const { limit, before } = args as { limit?: number; before?: number }
  const types = typeof args.type === 'string' ? args.type.split(',').map((t) => t.trim()) : undefined
  return {
    ...defined({ since, before, limit, types, key: args.key as string | undefined }),
    ...(args.follow === true && args.own !== true && context.session !== undefined
      ? { notOf: sameSession(context.memory, context.session) }
      : {}),
  }
}

/** The seq after which events are asked for; of a moment, the one before the first event at or after it. */
function sinceOf({ memory }: ToolContext, given: unknown): number | undefined {
  if (given === undefined) return undefined
  const n = Number(given)
  if (Number.isInteger(n) && n >= 0 && given !== '') return n
  if (typeof given !== 'string' || !Number.isNaN(n))
    throw new UsageError('--since is not a whole number', 'take it from the seq of an event')
  const from = momentSaid(given, memory.env.now(), 'since')
  const first = eventsSince(memory, { since: 0 }).find((e) => Date.parse(e.timestamp) >= from)
  return first === undefined ? memory.cursor : first.seq - 1
}

export const events = defineTool({
  name: 'events',
  title: 'The event stream',
  about:
    'tells what happens, one event a line: values shared, knowledge recorded and changed, sessions and their claims; on a terminal to be read, elsewhere and with --json as JSON',
  example: 'tidemark events --since 0 --type share',
  params: {
    follow: { type: 'flag', about: 'go on as things happen; with --session its own are left out' },
    since: {
      type: 'any',
      about:
        'only what came after the event with this seq, or since a time such as "1 hour ago" (default: the latest 50)',
    },
    before: { type: 'number', least: 0, about: 'only what came before the event with this seq' },
    type: {
      type: 'text',
      about: 'of these types, with commas: update, merge, claimed …, or share, knowledge, presence',
    },
    key: { type: 'text', about: 'of this key of the shared context, entity id, or path' },
    limit: { type: 'number', least: 1, about: 'so many at most; the last batch is told whole' },
    own: { type: 'flag', about: 'follow: also what the acting session does' },
  },
  readOnly: true,
  run(context, args) {
    if (args.follow === true)
      throw new UsageError('follow streams, and this answers once', 'over HTTP, GET /api/events streams')
    const found = eventsSince(context.memory, optionsOf(context, args))
    return {
      text: found.map((e) => eventLine(e, context.local)).join('\n') || 'nothing has happened yet',
      json: {
        events: found as unknown as Json,
        cursor: found.at(-1)?.seq ?? sinceOf(context, args.since) ?? context.memory.cursor,
      },
      lines: found as unknown as Json[],
    }
  },
  follow: (context, args, emit) =>
    followEvents(
      context.memory,
      (several) => emit(several.map((e) => ({ text: eventLine(e, context.local), json: e as unknown as Json }))),
      optionsOf(context, args),
    ),
})
