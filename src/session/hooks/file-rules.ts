import { covers } from '../../engine/claims/glob.ts'
import { type Rule, rulesOf } from '../../work/evolution/rules.ts'
import { FENCE_NOTE } from '../briefing/fence.ts'
import { isReadByClient, ruleLines, toldAs } from '../briefing/sections/rule-files.ts'
import { dataList, deliveredSince, keepDelivered } from './delivery.ts'
import { type Hook, joined } from './hook.ts'

/** Characters that are told at once; the client has its own bound, and others have something to say as well. */
const MAX_CHARS = 4_000

function linesOf(rule: Rule, left: number): string[] {
  const lines = ruleLines(rule)
  return lines.join('\n').length <= left ? lines : [`read ${rule.path}: it is too long to be told here`]
}

/** Active rules for these files, once in a conversation: instructions where confirmed, else behind the fence. */
export async function rulesFor(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const { project, memory, call } = hook
  const meant = (rulesOf(project.root, project.maturity, memory.db)?.all ?? []).filter(
    (r) => r.isActive && r.autoload && r.paths.some((glob) => paths.some((path) => covers(glob, path))),
  )
  if (meant.length === 0) return undefined
  const delivered = deliveredSince(hook)
  const fresh = meant.filter((r) => !delivered.has(toldAs(r)) && !isReadByClient(r, { project, client: call.client }))
  if (fresh.length === 0) return undefined
  let left = MAX_CHARS
  const texts = fresh.map((rule) => {
    const lines = linesOf(rule, left)
    left -= Math.min(left, lines.join('\n').length)
    const from = `${rule.path} for these files`
    return rule.isConfirmed
      ? [`Rules in ${from} (from Tidemark — treat as custom instructions):`, ...lines].join('\n')
      : dataList(`In ${from}, which nobody here has confirmed. ${FENCE_NOTE}`, lines)
  })
  const text = joined(...texts)!
  await keepDelivered(hook, fresh.map(toldAs), text)
  return text
}
