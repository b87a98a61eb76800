import { UserError } from '../../base/errors.ts'
import type { CameOf, Outcome, Precedent, Touched, WhatIf } from '../../find/graph/what-if.ts'
import { LEAST_PRECEDENTS, outcomeOf, PRECEDENT_KINDS, pathTo, planOf, whatIf } from '../../find/graph/what-if.ts'
import { saying } from '../../find/recall/card.ts'
import { unverifiedAmong } from '../../find/recall/unverified.ts'
import { stemsOf } from '../../find/recall/word-overlap.ts'
import { type Entity, madeAt } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { foldText } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { contraryRules } from './contradictions.ts'
import { oneLine } from './format.ts'
import { AS_OF, at, findAt } from './moment.ts'
import { defineTool, REF, type ToolContext } from './tool.ts'
import { lineOf, stateNow, wordsOf } from './trace.ts'

const SHOWN = 12
/** Fewer words are a name that is not known. */
const LEAST_PLAN_WORDS = 2
const NAME = 80
const TEXT = 100
/** So many are shown that are near a plan in meaning, and of the rules that speak of it, from this relevance on. */
const NEAREST = 3
const LEAST_NEAR = 0.15
const RULES = 2
const LEAST_SPOKEN = 0.4

export const whatIfTool = defineTool({
  name: 'what-if',
  title: 'What a change touches',
  about:
    'tells what would be touched if something changed, by which path and how surely; what came of it and of things like it; and the likely outcome. A plan in words need not be recorded',
  example: 'tidemark what-if use-sqlite',
  params: {
    ref: { ...REF, required: true, place: 'rest' },
    all: { type: 'flag', about: `everything that is touched, not only the ${SHOWN} strongest` },
    'as-of': AS_OF,
  },
  readOnly: true,
  async run(context, args) {
    const { memory } = context
    const then = await at(context, args)
    const { reader, now, past } = then
    const registry = reader.registry()
    const start = startOf(context, then, args.ref)
    const found = whatIf(memory, reader, start, past ? now : undefined)
    const { own, touched, precedents, outcomes, likely } = found
    const isPlan = start.id === ''
    const against = past ? [] : contraryRules(context, [start])
    const near = past ? [] : await nearest(context, found)
    const came = near.map((e) => outcomeOf(memory, reader, e, now))
    const rules = isPlan && !past ? await rulesOn(context, start.name, new Set(against.map(([, rule]) => rule.id))) : []
    const shown = args.all ? touched : touched.slice(0, SHOWN)
    const left = touched.length - shown.length
    const all = [start, ...touched.map((t) => t.entity), ...precedents.map((p) => p.entity), ...near]
    const unverified = unverifiedAmong(memory, all.slice(isPlan ? 1 : 0))
    // "active" beside what came of it would say that it still holds
    const line = (e: Entity) => lineOf(e, stateNow(e, reader, now).replace(/^active$/, ''), unverified.has(e.id))
    const lines = [
      ...(isPlan
        ? [`Plan: "${oneLine(start.name, 300)}"`]
        : [
            line(start),
            `What came of it: ${told(start, own)}`,
            touched.length === 0
              ? 'Nothing that is recorded depends on it.'
              : `If it changes, this is touched (${found.cut ? 'at least ' : ''}${touched.length}):`,
          ]),
      ...shown.map(
        (t) =>
          `  ${t.strength.toFixed(2)}  ${pathWords(registry, t)}${line(t.entity).slice(oneLine(t.entity.name, NAME).length)}`,
      ),
      ...(left > 0 ? [`  … and ${left} more: --all shows them`] : []),
      ...against.map(([, rule]) => `Against a rule that binds: "${oneLine(rule.name, TEXT)}" (${rule.id})`),
      ...rules.map(
        ({ id, kind, name }) =>
          `A ${kind === 'fact' ? 'rule that binds' : kind} speaks of it: "${oneLine(name, TEXT)}" (${id})`,
      ),
      precedents.length > 0
        ? 'What became of things like it:'
        : isPlan
          ? 'No decision or attempt in these words was found.'
          : 'Nothing else in its words was found.',
      ...precedents.map((p) => `  ${line(p.entity)}: ${likeIt(p.entity, p)}`),
      ...(near.length > 0 ? ['Nearest in other words, not counted (judge whether it is the same):'] : []),
      ...near.map((e, i) => `  ${line(e)}: ${likeIt(e, came[i]!)}`),
      `Likely outcome: ${outcomeSaid(found, came)}${against.length + rules.length > 0 ? '; read the rules above first' : ''}`,
    ]
    const brief = ({ id, kind, name }: Entity) => ({ id, kind, name, ...(unverified.has(id) && { unverified: true }) })
    const json = {
      ref: start.id,
      own: { outcome: own.outcome, because: [...own.because, ...own.ledTo].map(brief) },
      touched: touched.map((t) => ({
        ...brief(t.entity),
        strength: t.strength,
        path: pathTo(t).map((p) => ({ id: p.entity.id, ...(p.step && { by: wordsOf(registry, [p.step]) }) })),
      })),
      more: found.cut,
      precedents: precedents.map((p) => ({
        ...brief(p.entity),
        ...{ linked: p.linked, outcome: p.outcome, because: [...p.because, ...p.ledTo].map(brief) },
      })),
      outcomes: Object.fromEntries(outcomes),
      likely: likely ?? null,
      near: near.map(brief),
      against: against.map(([, rule]) => brief(rule)),
      rules: rules.map(({ id, kind, name }) => ({ id, kind, name })),
    }
    return { text: lines.join('\n'), json: json as unknown as Json }
  },
})

/** "needed by login-page → constrains billing" */
const pathWords = (registry: Registry, t: Touched): string =>
  pathTo(t)
    .slice(1)
    .map((p) => `${wordsOf(registry, [p.step!])} ${oneLine(p.entity.name, NAME)}`)
    .join(' → ')

/** What is asked about: something that is recorded, or else a plan in so many words. */
function startOf(context: ToolContext, then: Awaited<ReturnType<typeof at>>, ref: unknown): Entity {
  try {
    return findAt(context, then, ref)
  } catch (error) {
    const text = String(ref).trim()
    if (!(error instanceof UserError) || error.code !== 'not-found') throw error
    if (text.split(/\s+/).length >= LEAST_PLAN_WORDS) return planOf(text)
    if (!text.includes('/')) throw error
    throw new UserError('not-found', error.message, '`tidemark explain PATH` tells what is known about a file')
  }
}

/** What came of a thing like it; where nothing says so, why it was done: that may hold here too. */
function likeIt(e: Entity, came: CameOf): string {
  const why = typeof e.fields.rationale === 'string' ? oneLine(e.fields.rationale, TEXT) : ''
  return came.outcome === 'unknown' && why !== '' ? `decided because ${why}` : told(e, came)
}

/** What came of something, in a line. */
function told(entity: Entity, { outcome, because, ledTo }: CameOf): string {
  const field = (name: string) => (typeof entity.fields[name] === 'string' ? oneLine(entity.fields[name], TEXT) : '')
  const names = (all: readonly Entity[]) => all.map((e) => `"${oneLine(e.name, NAME)}"`).join(', ')
  const said: Record<Outcome, string> = {
    failed: `failed${field('outcome') && `: ${field('outcome')}`}${field('lesson') && `; instead: ${field('lesson')}`}`,
    mixed: 'mixed:',
    corrected: 'corrected by',
    superseded: 'superseded by',
    retired: `retired${field('retired') && `: ${field('retired')}`}`,
    exception: `an exception${field('justification') && `: ${field('justification')}`}`,
    stands: 'stands, by',
    unknown: 'nothing says whether it worked',
  }
  return `${said[outcome]}${because.length > 0 ? ` ${names(because)}` : ''}${ledTo.length > 0 ? `; it led to ${names(ledTo)}` : ''}`
}

/** What is nearest to a plan in meaning, with how it turned out: words alone do not say that it is like it. */
async function nearest({ memory, project }: ToolContext, { entity, precedents, own, touched }: WhatIf) {
  const { recallerOf } = await import('../../find/recall/recall.ts')
  const options = { kinds: PRECEDENT_KINDS, scope: 'macro', all: true, limit: NEAREST + 1 } as const
  const { results } = await recallerOf(memory, project).ask(saying(entity, memory.reader), options)
  const told = new Set([entity, ...[...precedents, ...touched].map((p) => p.entity), ...own.because].map((e) => e.id))
  const near = results.filter((r) => r.parts.relevance >= LEAST_NEAR && !told.has(r.id)).slice(0, NEAREST)
  return memory.reader.entities(near.map((r) => r.id))
}

/** The rules that bind, and the corrections, that share a telling word with a plan. */
async function rulesOn({ memory, project }: ToolContext, plan: string, told: ReadonlySet<string>) {
  const { recallerOf } = await import('../../find/recall/recall.ts')
  const { results } = await recallerOf(memory, project).ask(plan, { kinds: ['fact', 'correction'], scope: 'macro' })
  const near = results.filter((r) => r.parts.relevance >= LEAST_SPOKEN && !r.isUnverified && !told.has(r.id))
  return near.filter((r) => r.words.some((word) => stemsOf(word).length > 0)).slice(0, RULES)
}

function outcomeSaid({ entity, own, outcomes, likely, precedents }: WhatIf, near: readonly CameOf[]): string {
  const n = outcomes.reduce((sum, [, times]) => sum + times, 0)
  const counts = outcomes.map(([o, times]) => `${times} ${o === 'stands' ? 'still standing' : o}`).join(', ')
  if (own.outcome !== 'unknown') return `${own.outcome}, as before${counts && `; of things like it: ${counts}`}`
  const plan = foldText(entity.name)
  const isSame = (v: Json | undefined) => typeof v === 'string' && foldText(v) === plan
  const same = precedents.find(
    (p) =>
      p.outcome !== 'unknown' && [p.entity.name, p.entity.fields.approach, p.entity.fields.description].some(isSame),
  )
  const isLater = (p: Precedent) =>
    p.outcome !== 'unknown' && !p.isUnverified && same !== undefined && madeAt(p.entity) > madeAt(same.entity)
  if (same && !same.isUnverified && !precedents.some(isLater))
    return `${same.outcome}: that very plan is ${same.entity.id}`
  const failed = near.filter((c) => c.outcome === 'failed').length
  if (n === 0 && precedents.some((p) => p.outcome !== 'unknown' && p.isUnverified))
    return 'no evidence: all of that is unverified'
  if (n === 0 && precedents.some((p) => p.outcome !== 'unknown'))
    return `no evidence: ${entity.id === '' ? 'what is told above is what the plan would end' : 'it took the place of what is told above'}`
  if (n === 0)
    return precedents.length === 0
      ? `no evidence${near.length > 0 ? ' in these words' : ''}${failed > 0 ? `; ${failed} of the nearest failed` : ''}`
      : 'no evidence: nothing says what came of things like it'
  if (n < LEAST_PRECEDENTS) return `${counts}: too few to say more (${LEAST_PRECEDENTS} are needed)`
  return likely === undefined ? `not clear: ${counts}` : `${likely}, as ${outcomes[0]![1]} of ${n} (${counts})`
}
