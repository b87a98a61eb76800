import type { StreamEvent } from '../feed/feed.ts'
import type { ActOptions, Memory } from '../memory.ts'
import type { Json } from '../model/field.ts'
import { sessionsOf } from './sessions.ts'
import {
  getShared,
  listShared,
  mustBeShared,
  rollbackShared,
  type SharedContext,
  type SharedValue,
  sharedContext,
  sharedHistory,
} from './shared-context.ts'

export interface ShareOptions extends ActOptions {
  /** Write only if the key still has this version; 0: not there yet. */
  expectedVersion?: number
}

/** Values that all sessions of a project share under keys. */
export interface SharedStore {
  get(key: string): SharedValue | undefined
  /** Every key, by name. */
  list(): SharedValue[]
  /** All of it, with the sessions that live. */
  context(): SharedContext
  /**
   * Keeps the value exactly as it is given.
   * @throws UserError `refused` where it is not accepted, or `expectedVersion` is stale.
   */
  set(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Adds an item, or each of a list, to a list; what is in it already is not added again. */
  append(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Merges maps key by key, lists as unions; anything else takes the place of what was there. */
  merge(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Takes the key out, or what equals `item` out of its list, or `path` out of its map. */
  delete(key: string, options?: ShareOptions & { item?: Json; path?: readonly string[] }): SharedValue | undefined
  /** Sets a key to what it held after an event, also when it was deleted since. */
  rollback(key: string, to: number, options?: ActOptions): SharedValue
  /** What happened to a key, newest first. */
  history(key: string, limit?: number): StreamEvent[]
}

/** Sessions at work now. */
export const liveSessions = (memory: Memory): string[] =>
  sessionsOf(memory)
    .list()
    .flatMap((s) => (s.state === 'active' || s.state === 'idle' ? [s.id] : []))

/** Whether an id means the same session as another: after `/clear` an old one means the new. */
export function sameSession(memory: Memory, session: string): (id: string) => boolean {
  const sessions = sessionsOf(memory)
  const me = sessions.resolve(session)
  return (id) => id === session || sessions.resolve(id) === me
}

export function sharedStore(memory: Memory): SharedStore {
  const write = (verb: string, key: string, what: object, { expectedVersion, ...options }: ShareOptions = {}) => {
    const said = expectedVersion === undefined ? {} : { expectedVersion }
    sessionsOf(memory).beat(options.session)
    return memory.act([[verb, { key, ...what, ...said }]], options)
  }
  return {
    get: (key) => getShared(memory, key),
    list: () => listShared(memory),
    context: () => sharedContext(memory, liveSessions(memory)),
    set(key, value, options) {
      write('share-set', key, { value }, options)
      return mustBeShared(memory, key)
    },
    append(key, value, options) {
      write('share-append', key, { value }, options)
      return mustBeShared(memory, key)
    },
    merge(key, value, options) {
      write('share-merge', key, { value }, options)
      return mustBeShared(memory, key)
    },
    delete(key, { item, path, ...options } = {}) {
      write(
        'share-delete',
        key,
        { ...(item !== undefined ? { item } : {}), ...(path ? { path: [...path] } : {}) },
        options,
      )
      return getShared(memory, key)
    },
    rollback: (key, to, options) => rollbackShared(memory, key, to, options),
    history: (key, limit) => sharedHistory(memory, key, limit),
  }
}
