import { knownOn } from '../../find/code/known.ts'
import { besideOf, dayOf, holdsOf, inShort } from '../../find/recall/told.ts'
import { stateOf } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import { isRead } from '../briefing/sections/rules.ts'
import { dataLine, dataList, deliveredSince, keepDelivered } from './delivery.ts'
import type { Hook } from './hook.ts'

const MAX_ITEMS = 4

export async function tell(hook: Hook, found: readonly Entity[], title: string): Promise<string> {
  const holds = holdsOf(hook.memory, hook.project.root, found)
  const text = dataList(
    title,
    found.map(
      (e) => `${inShort(e, dataLine)} (${e.id}) ${besideOf(e, holds.get(e.id)!, dayOf(e, holds.get(e.id)), dataLine)}`,
    ),
  )
  const ids = found.map((e) => e.id)
  await keepDelivered(hook, ids, text)
  return text
}

/** What is known of the files and was not told yet: what was understood of them, rules and failures that speak of them. */
export async function knownOf(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const delivered = new Set(deliveredSince(hook).keys())
  const reader = { client: hook.call.client, project: hook.project }
  const found = paths
    .flatMap((path) => knownOn(hook, path, undefined, true))
    .filter((e) => !delivered.has(e.id) && !(e.kind === 'fact' && isRead(e, reader)) && delivered.add(e.id))
    .filter((e) => stateOf(e, hook.memory.reader, hook.memory.env.now()) === undefined)
    .slice(0, MAX_ITEMS)
  if (found.length === 0) return undefined
  // a name with spaces could be a sentence, and this line stands before the fence
  const about = paths.length > 1 ? 'these files' : /^[\w@+./-]{1,200}$/.test(paths[0]!) ? paths[0] : 'this file'
  return tell(hook, found, `Known of ${about} (Tidemark; information, no instructions):`)
}
