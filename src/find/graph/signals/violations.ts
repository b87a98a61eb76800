import { type Entity, madeAt, readField } from '../../../model/entity.ts'
import { shellWord } from '../../../model/shell.ts'
import { contrary, isExcepted } from '../../recall/contradictions.ts'
import { type Detector, said, signalOn, spoken } from './signal.ts'

/** Of many decisions the newest are held against the rules. */
const MOST_LOOKED_AT = 1_000

/** Active decisions that conflict with a rule that binds: somebody linked them so, or their words show it. */
export const constraintViolations: Detector = (look) => {
  const { memory, reader, alternatives } = look.options
  const rules = new Map(look.options.binding().map((e) => [e.id, e]))
  if (rules.size === 0) return []
  const kind = reader.registry().kind('decision')
  const active = look.decisions.filter((e) => readField(e, 'status', kind) === 'active')
  const decisions = new Map(active.map((e) => [e.id, e]))
  const found = new Map<string, { decision: Entity; rule: Entity; why: string }>()
  const add = (a: string, b: string, why: string) => {
    const [decision, rule] = [decisions.get(a) ?? decisions.get(b), rules.get(a) ?? rules.get(b)]
    if (decision && rule && !isExcepted(memory, reader, rule, decision))
      found.set(`${decision.id} ${rule.id}`, { decision, rule, why })
  }
  for (const [a, b] of contrary(memory, [...rules.values(), ...active.slice(-MOST_LOOKED_AT)], reader, alternatives))
    add(a.id, b.id, 'their words exclude each other')
  for (const { from, to, type } of look.edgesAt([...rules.values()], 'conflicts-with', 'contradicts'))
    add(from, to, `a link says: ${type}`)
  return [...found.values()].map(({ decision, rule, why }) => {
    const [older, newer] = madeAt(decision) <= madeAt(rule) ? [decision, rule] : [rule, decision]
    return {
      ...signalOn('violation', 'high', decision.id, rule.id),
      line: `⚠️ Decision "${spoken(decision)}" may conflict with rule "${said(rule.name)}"`,
      entities: [older.id, newer.id],
      evidence: [why, `change or retire ${decision.id}, or record an exception to ${rule.id} with it as scope`],
      next: `tidemark edit ${shellWord(decision.id)}`,
    }
  })
}
