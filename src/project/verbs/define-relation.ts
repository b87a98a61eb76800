import { defineVerb } from '../../engine/write/verb.ts'
import { identityOf, RELATION_KIND } from '../../model/entity.ts'
import { choice, flag, text } from '../../model/field.ts'
import { ERASED, wasErased, word } from './common.ts'

export const defineRelation = defineVerb({
  name: 'define-relation',
  about: 'adds a relation to this project',
  args: {
    name: word('the relation, such as owned-by', { required: true }),
    about: text('what it says'),
    inverse: word('how it reads from the other end'),
    symmetric: flag('it is the same from either end'),
    acyclic: flag('a link that closes a cycle is refused'),
    impact: choice(['forward', 'backward', 'both', 'none'], 'which end is touched when the other changes'),
  },
  example: { name: 'owned-by', about: 'who is responsible', inverse: 'owns' },
  plan(p, args, report) {
    const { name } = args
    if (p.registry().relation(name) && !p.entity(`${RELATION_KIND}:${name}`))
      return report({ field: 'name', message: `${name} is a core relation`, received: name, accepted: 'another name' })
    if (wasErased(p, `${RELATION_KIND}:${name}`))
      return report({ field: 'name', message: ERASED, received: name, accepted: 'another name' })
    const id = identityOf(p.registry().kind(RELATION_KIND)!, { name })!
    const fresh = !p.entity(id)?.live
    if (fresh) p.create(id)
    for (const [field, value] of Object.entries(args)) p.set(id, field, value)
    p.sign(id)
    return { id, kind: RELATION_KIND, name, created: fresh }
  },
})
