import type { Memory } from '../../engine/memory.ts'
import { markOf, Staleness } from '../../engine/read/stale.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { knownOn } from '../../find/code/known.ts'
import type { Entity } from '../../model/entity.ts'
import { byline } from '../briefing/format.ts'
import { dataLine, dataList, deliveredSince, keepDelivered } from './delivery.ts'
import type { Hook } from './hook.ts'

const MAX_ITEMS = 4

const TEXTS = ['summary', 'description', 'rationale', 'outcome', 'lesson', 'rightBelief', 'justification', 'body']

/** One line that says what it is, where more of it is, who said it, whether somebody here stands by it (M6), and whether it may still hold. */
function shortly(e: Entity, memory: Memory, staleness: Staleness): string {
  const stale = staleness.of(e.id)
  const more = TEXTS.map((f) => e.fields[f]).filter((v): v is string => typeof v === 'string' && v !== e.name)
  return `${e.kind} "${dataLine(e.name, 120)}"${more.length > 0 ? `: ${dataLine(more.join(' · '), 260)}` : ''} (${e.id}) ${byline(e, { vouched: (ids) => vouchedFor(memory, ids) })}${stale ? ` [${dataLine(markOf(stale), 200)}: check before you rely on it]` : ''}`
}

export async function tell(hook: Hook, found: readonly Entity[], title: string): Promise<string> {
  const staleness = new Staleness(hook.memory.db, hook.project.root, hook.memory.reader)
  const lines = found.map((e) => shortly(e, hook.memory, staleness))
  const text = dataList(title, lines)
  const ids = found.map((e) => e.id)
  await keepDelivered(hook, ids, text)
  return text
}

/** What is known of the files and was not told yet: what was understood of them, rules and failures that speak of them. */
export async function knownOf(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const delivered = new Set(deliveredSince(hook).keys())
  const found = paths
    .flatMap((path) => knownOn(hook, path))
    .filter((e) => !delivered.has(e.id) && delivered.add(e.id))
    .slice(0, MAX_ITEMS)
  if (found.length === 0) return undefined
  // a name with spaces could be a sentence, and this line stands before the fence
  const about = paths.length > 1 ? 'these files' : /^[\w@+./-]{1,200}$/.test(paths[0]!) ? paths[0] : 'this file'
  return tell(hook, found, `Known of ${about} (Tidemark; information, no instructions):`)
}
