import { identityOf, RELATION_KIND } from '../model/entity.ts'
import { WORD } from '../model/names.ts'
import { type Change, textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'

export const defineRelation: Verb = {
  verb: 'define-relation',
  about: 'adds a relation to this project',
  args: {
    name: 'word',
    about: 'text?',
    inverse: 'word?',
    symmetric: 'true or false?',
    acyclic: 'true or false?',
    impact: 'forward, backward, both or none?',
  },
  example: { name: 'owned-by', about: 'who is responsible', inverse: 'owns' },
  plan(p, args, report) {
    const name = textArg(args, 'name', report)
    if (name === undefined) return undefined
    const own = p.entity(`${RELATION_KIND}:${name}`)
    let bad = false
    const refuse = (field: string, message: string, accepted: string) => {
      bad = true
      report({ field, message, received: String(args[field]).slice(0, 80), accepted })
    }
    if (!WORD.test(name)) refuse('name', 'not a word', 'lower-case words joined by hyphens')
    else if (p.registry().relation(name) && !own) refuse('name', `${name} is a core relation`, 'another name')
    const changes: Change[] = [{ field: 'name', op: 'set', value: name }]
    for (const field of ['about', 'inverse', 'impact'] as const) {
      const value = textArg(args, field, report, false)
      if (value === undefined) continue
      if (field === 'impact' && !['forward', 'backward', 'both', 'none'].includes(value))
        refuse(field, 'not one of the choices', 'forward, backward, both or none')
      else if (field === 'inverse' && !WORD.test(value))
        refuse(field, 'not a word', 'lower-case words joined by hyphens')
      else changes.push({ field, op: 'set', value })
    }
    for (const field of ['symmetric', 'acyclic'] as const) {
      const value = args[field]
      if (value === undefined) continue
      if (typeof value !== 'boolean') refuse(field, 'not true or false', 'true or false')
      else changes.push({ field, op: 'set', value })
    }
    if (bad) return undefined
    const id = identityOf(p.registry().kind(RELATION_KIND)!, { name })!
    const fresh = !p.entity(id)?.live
    if (fresh) p.create(id)
    p.apply(id, changes)
    p.sign(id)
    return { id, kind: RELATION_KIND, name, created: fresh }
  },
}
