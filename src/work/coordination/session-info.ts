import { type ProcessRef, processRef } from '../../base/env.ts'
import type { SessionState } from '../../engine/claims/lease.ts'
import type { SessionRow } from '../../engine/store/presence.ts'

/** What a caller knows of a session. */
export interface Said {
  parent?: string | undefined
  client?: string | undefined
  agent?: string | undefined
  role?: string | undefined
  user?: string | undefined
  /** The work tree it works in. */
  root?: string | undefined
  /** The folder of that in which it began; nothing for the whole. */
  folder?: string | undefined
  branch?: string | undefined
  /** The client's process. */
  pid?: number | undefined
  process?: ProcessRef | undefined
}

/** A session as others see it. */
export interface SessionInfo extends Omit<SessionRow, 'crashed'> {
  state: SessionState
  pid?: number
  /** Its current task, by id. */
  task?: string
  /** Files it has edited, newest last, relative to its work tree. */
  files: string[]
  /** How full its context is, 0 to 100. */
  contextUsed?: number
}

/** What a session was asked and answered, last and before that as it edited files last, in order. */
export function exchangesOf({ data: { worked, workedSaid, request, said } }: SessionInfo): [string, string][] {
  const before = worked === request ? [] : [worked, workedSaid]
  const texts = [...before, request, said].entries()
  return [...texts].flatMap(([i, text]) => (text ? [[i % 2 === 0 ? 'Asked' : 'Answered', String(text)]] : []))
}

type Known = { [K in Exclude<keyof Said, 'pid'>]?: NonNullable<Said[K]> }

/** What was said, without what was not. */
export function knownOf({ pid, ...given }: Said): Known {
  const all = Object.entries({ ...given, process: given.process ?? (pid === undefined ? undefined : processRef(pid)) })
  return Object.fromEntries(all.filter(([, v]) => v !== undefined && v !== '')) as Known
}
