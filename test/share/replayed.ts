import { type StreamEvent, valueAfter } from '../../src/engine/feed/feed.ts'
import type { Json } from '../../src/model/field.ts'

/** The shared context that events leave when they are replayed from nothing; other events say nothing of it. */
export function replayed(events: readonly StreamEvent[]): { [key: string]: Json } {
  const state = new Map<string, Json>()
  for (const e of events) {
    if (!['update', 'merge', 'delete'].includes(e.event_type)) continue
    const value = valueAfter(state.get(e.key), e)
    if (value === undefined) state.delete(e.key)
    else state.set(e.key, value)
  }
  return Object.fromEntries([...state].sort((a, b) => (a[0] < b[0] ? -1 : 1)))
}
