import { claimsOf } from '../coordination/claims.ts'
import { sessionsOf } from '../coordination/sessions.ts'
import type { Memory } from '../memory.ts'
import type { Json } from '../model/field.ts'
import { fromData } from '../scheme/convert.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { list, SchemeError } from '../scheme/values.ts'

const CELLS_PER_VALUE = 30

const known = (o: { [key: string]: Json | undefined }): { [key: string]: Json } =>
  Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined)) as { [key: string]: Json }

const time = (ms: number): string => new Date(ms).toISOString()

/** `(sessions)` and `(claims)`: who is at work now, and what they hold. Neither has a past: as-of does not reach them. */
export function presenceFunctions(memory: Memory): HostFunction[] {
  const made = (name: string, about: string, rows: () => { [key: string]: Json }[]): HostFunction => ({
    name,
    min: 0,
    max: 0,
    about,
    example: `(${name})`,
    run(args, ctx) {
      if (args.length > 0) throw new SchemeError(`${name} takes nothing`, `(${name})`)
      const all = rows()
      ctx.charge(all.length)
      ctx.alloc(all.length * CELLS_PER_VALUE)
      return list(all.map((row) => fromData(row)))
    },
  })
  return [
    made('sessions', 'the sessions that live now, with their state, task and files in hand', () =>
      sessionsOf(memory)
        .list()
        .map(({ id, state, client, agent, role, parent, branch, task, files, started, seen }) =>
          known({
            id,
            state,
            client,
            agent,
            role,
            parent,
            branch,
            task,
            files,
            started: time(started),
            seen: time(seen),
          }),
        ),
    ),
    made('claims', 'what live sessions have claimed, oldest first', () =>
      claimsOf(memory)
        .held()
        .map(({ n, session, what, on, note, role, task, since, until }) =>
          known({ n, session, what, on, note, role, task, since: time(since), until: time(until) }),
        ),
    ),
  ]
}
