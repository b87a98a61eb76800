import { besidesOf, putUp } from '../../engine/store/summary.ts'
import { NEVER_PROPOSED } from '../../engine/write/authority-watch.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { linkIdNow, recordedAs } from '../../engine/write/record.ts'
import { refuseSettled } from '../../engine/write/settled-mutations.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { any } from '../../model/args.ts'
import { canonical } from '../../model/canonical.ts'
import { identityOf, nameKey } from '../../model/entity.ts'
import { type Json, text } from '../../model/field.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { foldText } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
import { type Report, shown } from '../../model/validate.ts'
import { listChange } from './common.ts'
import { relationOf } from './links.ts'
import { batchesOf } from './undo.ts'

/** Of batches, the last one first, those that were not undone among themselves. */
function standing(p: Planning, batches: readonly string[]): string[] {
  const undoes = (batch: string) => p.view.batch(batch)?.undoes ?? []
  const gone = new Set<string>()
  for (const batch of batches) if (!gone.has(batch)) for (const undone of undoes(batch)) gone.add(undone)
  const isOver = (batch: string) =>
    undoes(batch).length > 0 &&
    undoes(batch).every((b) => batches.includes(b)) &&
    besidesOf(p.view.batch(batch)!.line.events, undoes(batch), p.view.lineOf).length === 0
  return batches.filter((batch) => !gone.has(batch) && !isOver(batch))
}

type Args = Readonly<Record<string, unknown>>

/** Refuses what somebody has rejected before: the same content is not proposed again. */
function rejected(p: Planning, id: string | undefined, report: Report): boolean {
  const there = id === undefined ? undefined : p.entity(id)
  if (!there?.live || there.fields.standing !== 'rejected') return false
  report({
    field: 'action',
    message: 'the same was proposed and rejected before',
    received: there.id,
    hint: `a person takes the rejection back with \`tidemark confirm ${there.id}\``,
  })
  return true
}

const ACTION = reading(
  any('the action, as ["verb", {…}]', { required: true }),
  (_p, action: Json, field, report): readonly [verb: string, args: { [key: string]: Json }] | undefined => {
    const [verb, args = {}] = Array.isArray(action) ? action : []
    if (typeof verb === 'string' && isObject(args)) return [verb, args]
    return report({ field, message: 'not an action', received: shown(action), accepted: '["verb", {…}]' })
  },
)

export const propose = defineVerb({
  name: 'propose',
  about:
    'puts an action up for agreement: a new entity or link with standing proposed, or an edit that waits; confirm or reject it',
  args: { action: ACTION, evidence: text('what speaks for it') },
  example: {
    action: ['record-fact', { fact: 'Use pnpm for installs', category: 'tool' }],
    evidence: 'the user said so',
  },
  plan(p, { action: [verb, inner], evidence }, report, run) {
    if (NEVER_PROPOSED.has(verb))
      return report({ field: 'action', message: `${verb} cannot be proposed`, received: verb })
    const kind = p.registry().recordedBy(verb)
    if (!kind && !p.registry().deletedBy(verb) && !p.verbs.has(verb)) return run(verb, inner, report) // it says what is wrong
    const fresh = kind ? newEntity(p, kind.name, inner) : verb === 'link-entities' ? newLink(p, inner) : undefined
    if (fresh) {
      if (rejected(p, fresh.id, report)) return undefined
      const withEvidence: Record<string, Json> = { ...inner, standing: 'proposed' }
      if (evidence !== undefined && kind && Object.hasOwn(fieldsOf(kind), 'evidence'))
        withEvidence.evidence = [evidence]
      else if (evidence !== undefined && kind)
        withEvidence.attrs = { ...(inner.attrs as { [k: string]: Json } | undefined), evidence }
      else if (evidence !== undefined) withEvidence.description = inner.description ?? evidence
      const result = run(verb, withEvidence, report)
      return result && { ...result, standing: 'proposed' }
    }
    // what could never be carried out is refused now, not when somebody agrees to it
    const first = p.draft.events.length
    const tried = p.dryRun(() => {
      const result = run(verb, inner, report)
      refuseSettled(p, first, report)
      return result
    })
    if (!tried) return undefined
    // an edit of something that stands is kept until it is confirmed, then carried out
    // "last" would be another batch by then, and a session have written more
    const { allOf, ...rest } = inner
    if (verb === 'undo' && typeof allOf === 'string') rest.batches = standing(p, batchesOf(p, allOf))
    else if (verb === 'undo' && rest.batches === undefined) rest.batch = String(tried.id)
    const action = canonical([verb, verb === 'undo' ? rest : inner])
    const id = identityOf(p.registry().kind('proposal')!, { action })!
    if (rejected(p, id, report)) return undefined
    const created = !p.entity(id)?.live
    if (created) p.create(id)
    else p.note('it waits for a yes already')
    p.set(id, 'action', action)
    p.set(id, 'standing', 'proposed')
    if (evidence !== undefined) p.apply(id, [listChange('evidence', [evidence])])
    p.sign(id)
    const name = putUp(action, (of) => p.entity(of)?.name, p.view.whatDid) ?? verb
    return { id, kind: 'proposal', name, standing: 'proposed', created }
  },
})

function newEntity(p: Planning, kindName: string, inner: Args): { id: string | undefined } | undefined {
  if (inner.ref !== undefined || inner.id !== undefined) return undefined
  const kind = p.registry().kind(kindName)!
  const id = recordedAs(p, kind, inner) ?? rejectedEvent(p, kind, inner)
  const there = id === undefined ? undefined : p.entity(id)
  return there?.live && there.fields.standing !== 'rejected' && there.fields.standing !== 'proposed'
    ? undefined
    : { id }
}

/** Events have no identity: the same text that was rejected is the same proposal. */
function rejectedEvent(p: Planning, kind: Kind, inner: Args): string | undefined {
  const text = (value: unknown) => (typeof value === 'string' ? foldText(value) : '')
  const fields = new Set([...kind.key, ...kind.positional])
  return p
    .byName(nameKey(String(inner[kind.key[0]] ?? '')))
    .find(
      (e) =>
        e.kind === kind.name &&
        e.fields.standing === 'rejected' &&
        [...fields].every((f) => text(e.fields[f]) === text(inner[f])),
    )?.id
}

function newLink(p: Planning, inner: Args): { id: string | undefined } | undefined {
  const from = p.resolve(inner.from, 'from', undefined)
  const to = p.resolve(inner.to, 'to', undefined)
  const relation = typeof inner.type === 'string' ? relationOf(p.registry(), inner.type) : undefined
  if (!from || !to || !relation) return { id: undefined } // link-entities itself says what is wrong
  const [a, b] = relation.symmetric && to.id < from.id ? [to, from] : [from, to]
  const id = linkIdNow(p, a.id, relation.name, b.id)
  return p.entity(id)?.live && p.entity(id)?.fields.standing === undefined ? undefined : { id }
}
