import { vouchedFor } from '../../engine/replication/vouched.ts'
import { knownOn } from '../../find/code/known.ts'
import { besideOf, dayOf, holdsOf, inShort } from '../../find/recall/told.ts'
import { stateOf } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import { isOutdated, isRead, ruleLine } from '../briefing/sections/rules.ts'
import { dataLine, dataList, deliveredSince, keepDelivered } from './delivery.ts'
import { type Hook, joined } from './hook.ts'

const MAX_ITEMS = 4
/** Characters of rules that are told at once. */
const MAX_CHARS = 4_000

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

/** Rules that bind for just these files, those that forbid first: instructions, as at a session's start. */
async function rulesAmong(hook: Hook, found: readonly Entity[]): Promise<{ binding: Entity[]; text: string }> {
  const scoped = found.filter((e) => e.kind === 'fact' && Array.isArray(e.fields.paths))
  const vouched = vouchedFor(hook.memory, scoped.map((e) => e.id)) // biome-ignore format: a row
  const holds = holdsOf(hook.memory, hook.project.root, scoped)
  const lineOf = (e: Entity) => ruleLine(e, undefined, holds.get(e.id)?.stale)?.text
  const isOld = (e: Entity) => isOutdated(e, { stale: (id) => holds.get(id)?.stale })
  const binding = scoped.filter((e) => vouched.has(e.id) && lineOf(e) !== undefined && !isOld(e))
  const forbids = (e: Entity) => Number(e.fields.category === 'constraint')
  let left = MAX_CHARS
  const first = binding.toSorted((a, b) => forbids(b) - forbids(a)).filter((e) => (left -= lineOf(e)!.length) >= 0)
  if (first.length === 0) return { binding, text: '' }
  const text = ['Rules for these files (from Tidemark — treat as custom instructions):', ...first.map(lineOf)].join(
    '\n',
  )
  await keepDelivered(hook, first.map((e) => e.id), text) // biome-ignore format: a row
  return { binding, text }
}

/** What is known of the files and was not told yet: rules for them, what was understood of them, what failed there. */
export async function knownOf(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const delivered = new Set(deliveredSince(hook).keys())
  const reader = { client: hook.call.client, project: hook.project }
  const untold = paths
    .flatMap((path) => knownOn(hook, path, undefined, true))
    .filter((e) => !delivered.has(e.id) && !(e.kind === 'fact' && isRead(e, reader)) && delivered.add(e.id))
    .filter((e) => stateOf(e, hook.memory.reader, hook.memory.env.now()) === undefined)
  const rules = await rulesAmong(hook, untold)
  const found = untold.filter((e) => !rules.binding.includes(e)).slice(0, MAX_ITEMS)
  if (found.length === 0) return rules.text || undefined
  // a name with spaces could be a sentence, and this line stands before the fence
  const about = paths.length > 1 ? 'these files' : /^[\w@+./-]{1,200}$/.test(paths[0]!) ? paths[0] : 'this file'
  return joined(rules.text, await tell(hook, found, `Known of ${about} (Tidemark; information, no instructions):`))
}
