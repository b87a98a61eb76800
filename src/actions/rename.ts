import { nameKey } from '../memory/entity.ts'
import type { Verb } from '../memory/verb.ts'
import { textArg } from '../schema/validate.ts'

export const rename: Verb = {
  verb: 'rename',
  about: 'calls an entity something else; its id, history and links stay, and the old name still finds it',
  args: { ref: 'reference', name: 'text' },
  example: { ref: 'use-json-files', name: 'use-jsonl-files' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report)
    const name = textArg(args, 'name', report)
    if (!target || name === undefined) return undefined
    const kind = p.registry().kind(target.kind)
    if (!kind || kind.internal) {
      report({ field: 'ref', message: `a ${target.kind} cannot be renamed`, received: target.id })
      return undefined
    }
    const taken = p.view.byName(nameKey(name)).find((e) => e.kind === target.kind && e.live && e.id !== target.id)
    if (taken) {
      report({
        field: 'name',
        message: `"${name}" is taken by ${taken.id}`,
        received: name,
        accepted: 'a name that is free',
        hint: 'supersede puts one in the place of the other',
      })
      return undefined
    }
    if (p.set(target.id, kind.key[0], name)) p.sign(target.id)
    return { id: target.id, kind: target.kind, name, was: target.name }
  },
}
