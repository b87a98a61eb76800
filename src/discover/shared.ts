import { type EventsOptions, eventsSince } from '../coordination/shared-context.ts'
import { UserError } from '../errors.ts'
import { SHARED_FIELD, SHARED_KIND } from '../log/context-value.ts'
import type { Memory } from '../memory.ts'
import { momentOf } from '../read/reader.ts'
import { fromData } from '../scheme/convert.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { type CallContext, list, SchemeError, type Value } from '../scheme/values.ts'
import { sharedAt } from '../write/context-key.ts'
import { options, type Source, textOf } from './knowledge.ts'

const CELLS_PER_VALUE = 20
const CELLS_PER_EVENT = 40
const MANY = 200

/** `(shared)`, `(shared "key")` and `(events …)`: what live sessions share, and what has happened. */
export function sharedFunctions(memory: Memory, source: Source): HostFunction[] {
  return [
    {
      name: 'shared',
      min: 0,
      max: 1,
      about: 'what is shared under a key, or nil; without a key everything, by key',
      example: '(shared "current-phase")',
      run(args, ctx) {
        if (args.length > 0) {
          const value = sharedAt(source.reader, textOf('shared', args[0]))?.fields[SHARED_FIELD]
          return value === undefined ? null : fromData(value)
        }
        const all = source.reader.list(SHARED_KIND, { all: true })
        ctx.charge(all.length)
        ctx.alloc(all.length * CELLS_PER_VALUE)
        const named = all.map((e) => [e.name, e.fields[SHARED_FIELD] ?? null] as const)
        return fromData(Object.fromEntries(named.sort((a, b) => (a[0] < b[0] ? -1 : 1))))
      },
    },
    {
      name: 'events',
      min: 0,
      max: 8,
      about:
        'what happened, oldest first: values shared, knowledge recorded and changed, sessions and claims; options :since (the seq of an event; without it the latest), :limit (50, with :since 200), :type (update, share, presence …) and :key',
      example: '(events :limit 3)',
      run: (args, ctx) => happened(memory, source, args, ctx),
    },
  ]
}

function happened(memory: Memory, source: Source, args: readonly Value[], ctx: CallContext): Value {
  const { plain, given } = options('events', args, ['since', 'limit', 'type', 'key'])
  if (plain.length > 0) throw new SchemeError('events takes options only', '(events :since 12 :type "share")')
  const whole = (name: string): number | undefined => {
    const v = given.get(name)
    if (v === undefined || v === null) return undefined
    const n = Number(v)
    if ((typeof v !== 'bigint' && typeof v !== 'number') || !Number.isInteger(n) || n < 0)
      throw new SchemeError(`events: :${name} is a whole number`)
    return n
  }
  const asked = (given: EventsOptions) => {
    try {
      return eventsSince(memory, given)
    } catch (error) {
      if (error instanceof UserError) throw new SchemeError(`events: ${error.message}`, error.hint)
      throw error
    }
  }
  const since = whole('since')
  const limit = whole('limit') ?? (since === undefined ? undefined : MANY)
  const type = given.get('type')
  const key = given.get('key')
  const types = type === undefined ? undefined : textOf('events', type).split(',')
  const found = asked({
    ...(since === undefined ? {} : { since }),
    ...(limit === undefined ? {} : { limit }),
    ...(types === undefined ? {} : { types: types.map((t) => t.trim()) }),
    ...(key === undefined ? {} : { key: textOf('events', key) }),
  }).filter((e) => source.at === undefined || Date.parse(e.timestamp) <= momentOf(source.at))
  ctx.charge(found.length)
  ctx.alloc(found.length * CELLS_PER_EVENT)
  return list(found.map(({ context_hash: _hash, ...e }) => fromData(e)))
}
