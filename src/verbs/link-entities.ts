import { LINK_KIND } from '../model/entity.ts'
import { nearest } from '../model/names.ts'
import { type Change, textArg } from '../model/validate.ts'
import { linkIdNow } from '../write/record.ts'
import type { Verb } from '../write/verb.ts'
import { relationOf, settleSupersession } from './common.ts'

export const linkEntities: Verb = {
  verb: 'link-entities',
  about: 'makes a typed link between two entities, or updates the one that is there',
  args: {
    from: 'reference',
    to: 'reference',
    type: 'relation, see (relations)',
    description: 'text?',
    confidence: 'number 0–1?',
    standing: 'proposed or confirmed?',
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
  plan(p, args, report) {
    const type = textArg(args, 'type', report)
    const relation = type === undefined ? undefined : relationOf(p.registry(), type)
    if (type !== undefined && !relation) {
      const names = p
        .registry()
        .relations()
        .map((r) => r.name)
      const near = nearest(type, names)
      report({
        field: 'type',
        message: `no relation "${type.slice(0, 80)}"`,
        received: type.slice(0, 80),
        accepted: near.length > 0 ? `did you mean ${near.join(' or ')}?` : names.join(', '),
        hint: 'define-relation adds one of your own',
      })
    }
    const from = p.resolve(args.from, 'from', report)
    const to = p.resolve(args.to, 'to', report)
    const description = textArg(args, 'description', report, false)
    const { confidence, standing } = args
    if (confidence !== undefined && (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1))) {
      report({
        field: 'confidence',
        message: 'out of range',
        received: String(confidence).slice(0, 40),
        accepted: 'a number from 0 to 1',
      })
      return undefined
    }
    if (standing !== undefined && standing !== 'proposed' && standing !== 'confirmed') {
      report({ field: 'standing', message: 'not one of the choices', accepted: 'proposed or confirmed' })
      return undefined
    }
    if (!relation || !from || !to) return undefined
    if (from.id === to.id) {
      report({ field: 'to', message: 'an entity is not linked to itself', received: to.id })
      return undefined
    }
    const [src, dst] = relation.symmetric && to.id < from.id ? [to, from] : [from, to]
    if (relation.acyclic) {
      const path = pathBetween(dst.id, src.id, (id) =>
        p
          .links('src', id)
          .filter((l) => l.rel === relation.name)
          .map((l) => l.dst),
      )
      if (path) {
        report({
          field: 'type',
          message: `closes a cycle of ${relation.name}`,
          received: `${src.id} → ${dst.id}`,
          accepted: 'a link that closes no cycle',
          hint: `there is ${path.join(' → ')}`,
        })
        return undefined
      }
    }
    const id = linkIdNow(p, src.id, relation.name, dst.id)
    const before = p.entity(id)
    const fresh = !before?.live
    if (before && !before.live) p.wipe(id)
    if (fresh) p.create(id)
    const changes: Change[] = [
      { field: 'from', op: 'set', value: src.id },
      { field: 'to', op: 'set', value: dst.id },
      { field: 'type', op: 'set', value: relation.name },
    ]
    if (description !== undefined) changes.push({ field: 'description', op: 'set', value: description })
    if (typeof confidence === 'number') changes.push({ field: 'confidence', op: 'set', value: confidence })
    if (typeof standing === 'string') changes.push({ field: 'standing', op: 'set', value: standing })
    if (p.apply(id, changes) || fresh) p.sign(id)
    settleSupersession(p, id)
    if (p.entity(id)!.fields.standing === 'rejected')
      p.note(`this link was rejected and stays hidden; ["confirm", {"ref": "${id}"}] takes that back`)
    return { id, kind: LINK_KIND, from: src.id, to: dst.id, type: relation.name, created: fresh }
  },
}

/** A path along `next` from one id to another, both included; cycles that a merge has made are walked once. */
export function pathBetween(from: string, to: string, next: (id: string) => string[]): string[] | undefined {
  const came = new Map<string, string | undefined>([[from, undefined]])
  const queue = [from]
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    if (id === to) {
      const path: string[] = []
      for (let at: string | undefined = id; at !== undefined; at = came.get(at)) path.unshift(at)
      return path
    }
    for (const n of next(id)) {
      if (came.has(n)) continue
      came.set(n, id)
      queue.push(n)
    }
  }
  return undefined
}
