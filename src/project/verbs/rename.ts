import { keepsName } from '../../engine/write/record.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { placePaths } from '../../model/entity.ts'
import { text } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { REF } from './common.ts'

export const rename = defineVerb({
  name: 'rename',
  about: 'calls an entity something else; its id, history and links stay, and the old name still finds it',
  args: { ref: REF, name: text('its new name', { required: true }) },
  example: { ref: 'use-json-files', name: 'use-jsonl-files' },
  plan(p, { ref: target, name }, report) {
    const kind = p.registry().kind(target.kind)
    if (!kind || kind.internal)
      return report({ field: 'ref', message: `a ${target.kind} cannot be renamed`, received: target.id })
    const told: Report = (problem) => report({ ...problem, field: 'name' })
    const field = kind.key[0]
    const changes = placePaths(p.registry(), kind, [{ field, op: 'set', value: name }], told)
    if (!keepsName(p, kind, target, changes, told)) return undefined
    if (p.apply(target.id, changes)) p.sign(target.id)
    return { id: target.id, kind: target.kind, name: p.entity(target.id)!.name, was: target.name }
  },
})
