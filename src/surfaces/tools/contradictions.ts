import { bindingRules, contrary, vocabularyOf } from '../../find/recall/contradictions.ts'
import { type Entity, isAgreed, madeAt } from '../../model/entity.ts'
import { oneLine } from './format.ts'
import { actingAs, type ToolContext } from './tool.ts'

/** Each of these with a rule that binds and that it contradicts, where nobody has decided about the two. */
export function contraryRules({ memory, project }: ToolContext, entities: readonly Entity[]): [Entity, Entity][] {
  if (entities.length === 0) return []
  const own = new Set(entities.map((e) => e.id))
  const rules = bindingRules(memory)
  const binds = new Set(rules.map((e) => e.id))
  const others = rules.filter((e) => !own.has(e.id))
  const pairs = contrary(memory, [...others, ...entities], memory.reader, vocabularyOf(project), others.length)
  return pairs.flatMap(([newer, older]): [e: Entity, rule: Entity][] => {
    // what does not bind yet would take the place of what does
    if (own.has(newer.id) && binds.has(older.id)) return [[newer, older]]
    return own.has(older.id) && binds.has(newer.id) ? [[older, newer]] : []
  })
}

/** The rules that bind and contradict each other, the newer first. */
export const contraryAmong = (context: ToolContext): [newer: Entity, older: Entity][] =>
  contrary(context.memory, bindingRules(context.memory), context.memory.reader, vocabularyOf(context.project))

/** Of many decisions the newest are held against the rules. */
const DECISIONS = 200

/** Decisions that hold and contradict a rule that binds: it may be outdated. */
export const contraryDecisions = (context: ToolContext): [decision: Entity, rule: Entity][] =>
  contraryRules(context, context.memory.reader.list('decision', { current: true, limit: DECISIONS }).filter(isAgreed))

export const saidContrary = ([e, rule]: [Entity, Entity]): string =>
  `"${oneLine(e.name, 100)}" contradicts the rule "${oneLine(rule.name, 100)}" (${rule.id}), which binds`

/** What to do about it: nothing is decided here. A rule gives way to another rule; a decision that breaks one is changed first. */
export function howSettled([e, rule]: [Entity, Entity], { by }: Pick<ToolContext, 'by'>): string {
  if (e.kind !== rule.kind) {
    const isNewer = madeAt(e) > madeAt(rule)
    const exception = `["record-exception", {"ruleBroken": "${rule.id}", "justification": "…", "scope": "${e.id}"}]`
    return by === 'person'
      ? `tidemark edit ${e.id} changes it, tidemark retire ${e.id} takes it back; an exception: ${exception}${isNewer ? `; where the rule is outdated: tidemark retire ${rule.id}` : ''}`
      : `change it, or ["retire", {"ref": "${e.id}"}]; if the user makes an exception: ${exception}${isNewer ? `; if the user says that the rule is outdated: ["retire", {"ref": "${rule.id}"}]` : ''}`
  }
  return by === 'person'
    ? `tidemark supersede ${rule.id} ${e.id} puts it in its place`
    : `ask the user which holds; if it takes its place: ["supersede", {"old": "${rule.id}", "new": "${e.id}"}]`
}

/** Takes the older one out for the newer one, or keeps that both stand, so that nobody is asked again. */
export function settle(context: ToolContext, [e, rule]: [Entity, Entity], replaces: boolean): string[] {
  const { memory } = context
  const link = { from: e.id, to: rule.id, type: 'supersedes', standing: 'proposed' }
  const [made] = memory.act([['link-entities', link]], actingAs(context)).results
  const done = memory.act([[replaces ? 'confirm' : 'reject', { ref: made!.id }]], actingAs(context))
  return done.batch === null ? [] : [done.batch]
}

/** After something was agreed to: asks the person at a terminal whether it replaces what it contradicts; elsewhere says how. */
export async function settled(context: ToolContext, pairs: readonly [Entity, Entity][]): Promise<string[]> {
  const lines: string[] = []
  for (const pair of pairs) {
    const [e, rule] = pair
    if (context.ask === undefined || e.kind !== rule.kind)
      lines.push(`note: ${saidContrary(pair)}: ${howSettled(pair, context)}`)
    else {
      const yes = await context.ask(`${saidContrary(pair)}. Should it take the place of that rule?`)
      settle(context, pair, yes)
      lines.push(yes ? `"${oneLine(e.name, 80)}" takes the place of "${oneLine(rule.name, 80)}"` : 'both stand')
    }
  }
  return lines
}
