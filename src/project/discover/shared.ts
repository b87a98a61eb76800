import { SHARED_FIELD, SHARED_KIND } from '../../engine/log/context-value.ts'
import type { Memory } from '../../engine/memory.ts'
import { momentOf } from '../../engine/read/reader.ts'
import { sharedAt } from '../../engine/write/context-key.ts'
import { fromData } from '../../scheme/data.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { type EventsOptions, eventsSince } from '../../work/coordination/shared-context.ts'
import { currentEntities } from '../../work/handoff/current.ts'
import type { Functions, Source } from './knowledge.ts'
import { CELLS_PER_ENTITY, made, options, takesNone, textOf } from './options.ts'
import { toScheme } from './values.ts'

const CELLS_PER_VALUE = 30
const CELLS_PER_EVENT = 40
const MANY = 200

const time = (ms: number): string => new Date(ms).toISOString()

/** What live sessions share, who they are, what has happened and where the work stands. */
export function sharedFunctions(memory: Memory, source: Source): Functions {
  // biome-ignore format: a table, one entry a line where it can be
  return {
    '(shared [key]) | what is shared under a key, or nil; without a key everything, by key | (shared "current-phase")': ([key], ctx) => {
      if (key !== undefined) return fromData(sharedAt(source.reader, textOf(key))?.fields[SHARED_FIELD])
      const all = source.reader.list(SHARED_KIND, { all: true })
      ctx.charge(all.length)
      ctx.alloc(all.length * CELLS_PER_VALUE)
      const named = all.map((e) => [e.name, e.fields[SHARED_FIELD] ?? null] as const)
      return fromData(new Map(named.sort((a, b) => (a[0] < b[0] ? -1 : 1))))
    },
    '(events option …) | what happened, oldest first: values shared, knowledge recorded and changed, sessions and claims; options :since (the seq of an event; without it the latest), :limit (50, with :since 200), :type (update, share, presence …) and :key | (events :limit 3)': (args, ctx) => {
      const { plain, text, whole } = options(args, ['since', 'limit', 'type', 'key'])
      takesNone(plain, '(events :since 12 :type "share")')
      const since = whole('since')
      const types = text('type')
        ?.split(',')
        .map((type) => type.trim())
      const limit = whole('limit') ?? (since === undefined ? undefined : MANY)
      const asked = Object.entries({ since, limit, types, key: text('key') }).filter(([, v]) => v !== undefined)
      const found = eventsSince(memory, Object.fromEntries(asked) as EventsOptions).filter(
        (e) => source.at === undefined || Date.parse(e.timestamp) <= momentOf(source.at),
      )
      return made(found, CELLS_PER_EVENT, ctx, ({ context_hash: _hash, ...e }) => fromData(e))
    },
    // sessions and claims have no past: as-of does not reach them
    '(sessions) | the sessions that live now, with their state, task and files in hand | (sessions)': (_, ctx) =>
      made(
        sessionsOf(memory).list(),
        CELLS_PER_VALUE,
        ctx,
        ({ id, state, client, agent, role, parent, branch, task, files, started, seen }) =>
          fromData({
            ...{ id, state, client, agent, role, parent, branch, task, files },
            started: time(started),
            seen: time(seen),
          }),
      ),
    '(claims) | what live sessions have claimed, oldest first | (claims)': (_, ctx) =>
      made(claimsOf(memory).held(), CELLS_PER_VALUE, ctx, ({ n, session, what, on, note, role, task, since, until }) =>
        fromData({ n, session, what, on, note, role, task, since: time(since), until: time(until) }),
      ),
    '(handoff) | where the work stands as sessions have left it, newest first: one per task, else per session | (handoff)': (_, ctx) =>
      made(currentEntities(source.reader), 5 * CELLS_PER_ENTITY, ctx, (e) => toScheme(e, source.reader.registry())),
  }
}
