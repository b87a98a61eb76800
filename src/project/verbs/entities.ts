import { keepsName } from '../../engine/write/record.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { ref, texts } from '../../model/args.ts'
import { placePaths } from '../../model/entity.ts'
import { number, text } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { brief, listChange, needsField, REASON, REF, REF_OR_NAME } from './common.ts'

export const retire = defineVerb({
  name: 'retire',
  about: 'takes something out of lists and recall because it no longer holds; restore brings it back',
  args: { ref: REF, reason: { ...REASON, required: true } },
  example: { ref: 'use-json-files', reason: 'nothing uses it any more' },
  plan(p, { ref: target, reason }) {
    if (p.set(target.id, 'retired', reason)) p.sign(target.id, { ends: true })
    return brief(target)
  },
})

export const rename = defineVerb({
  name: 'rename',
  about: 'calls an entity something else; its id, history and links stay, and its first name still finds it',
  args: { ref: REF, name: text('its new name', { required: true }) },
  example: { ref: 'use-json-files', name: 'use-jsonl-files' },
  plan(p, { ref: target, name }, report) {
    const kind = p.registry().kind(target.kind)
    if (!kind || kind.internal)
      return report({ field: 'ref', message: `a ${target.kind} cannot be renamed`, received: target.id })
    const told: Report = (problem) => report({ ...problem, field: 'name' })
    const changes = placePaths(p.registry(), kind, [{ field: kind.key[0], op: 'set', value: name }], told)
    if (!keepsName(p, kind, target, changes, told)) return undefined
    if (p.apply(target.id, changes)) p.sign(target.id)
    return { id: target.id, kind: target.kind, name: p.entity(target.id)!.name, was: target.name }
  },
})

export const curate = defineVerb({
  name: 'curate',
  about: 'makes a developmental decision a curated one',
  args: { ref: REF },
  example: { ref: 'use-sqlite' },
  plan(p, { ref: target }, report) {
    if (!needsField(p, target, 'visibility', report)) return undefined
    if (p.set(target.id, 'visibility', 'curated')) p.sign(target.id)
    return brief(target)
  },
})

/** `writeBatch` then forgets what its locations stood for; the next look at the code finds it anew. */
export const reAnchor = defineVerb({
  name: 're-anchor',
  about: 'says that something still holds although the code it speaks of changed: it is stale no longer',
  args: { ref: REF_OR_NAME },
  example: { ref: 'plan-then-apply' },
  plan(p, { ref: target }) {
    p.sign(target.id)
    return brief(target)
  },
})

export const updateConfidence = defineVerb({
  name: 'update-confidence',
  about: 'says how sure one is of something',
  args: { ref: REF_OR_NAME, confidence: number('how sure', { min: 0, max: 1, required: true }) },
  example: { ref: 'plan-then-apply', confidence: 0.95 },
  plan(p, { ref: target, confidence }, report) {
    if (!needsField(p, target, 'confidence', report)) return undefined
    if (p.set(target.id, 'confidence', confidence)) p.sign(target.id)
    return { ...brief(target), confidence }
  },
})

export const addEvidence = defineVerb({
  name: 'add-evidence',
  about: 'adds what speaks for something; the same text is kept once',
  args: { ref: REF_OR_NAME, evidence: texts('what speaks for it', { required: true }) },
  example: { ref: 'plan-then-apply', evidence: 'a throwing transaction left half a write' },
  plan(p, { ref: target, evidence }, report) {
    if (!needsField(p, target, 'evidence', report)) return undefined
    p.apply(target.id, [listChange('evidence', evidence)])
    p.sign(target.id)
    return brief(target)
  },
})

export const answerQuestion = defineVerb({
  name: 'answer-question',
  about: 'answers an open question',
  args: {
    ref: ref('the question', { required: true, kind: 'question', also: ['id'] }),
    answer: text('what is known now', { required: true }),
  },
  example: { ref: 'Does the hub need Redis?', answer: 'No: LISTEN/NOTIFY fans out.' },
  plan(p, { ref: target, answer }) {
    if (p.set(target.id, 'answer', answer)) p.sign(target.id)
    return brief(target)
  },
})
