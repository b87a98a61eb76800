import { type WorkNode, withBelow, workTree } from '../../engine/read/work-tree.ts'
import { findInTree } from '../../find/recall/scope.ts'
import { Entity, list, type Value } from '../../scheme/values.ts'
import type { Functions, Source } from './knowledge.ts'
import { options, takesNone } from './options.ts'
import { referenceTo, toScheme } from './values.ts'

const CELLS_PER_NODE = 20

/** What of an entity stands in the tree; the rest answers when asked. */
const SHOWN = ['id', 'originalAsk', 'description', 'state', 'result', 'abandonReason']

/** One of the tree as a program sees it: with its state, what it waits for, and what is below it. */
function toTree(node: WorkNode, source: Source, shown: (n: WorkNode) => boolean): Entity {
  const { reader } = source
  const e = toScheme(node.entity, reader.registry())
  const fields = new Map<string, Value>([...e.fields].filter(([name]) => SHOWN.includes(name)))
  fields.set('state', node.state)
  if (node.blockedBy.length > 0) fields.set('blockedBy', list(node.blockedBy.map((b) => referenceTo(reader, b.id))))
  for (const [name, kind] of Object.entries({ activities: 'activity', tasks: 'task' })) {
    const below = node.children.filter((c) => c.kind === kind && shown(c))
    if (below.length > 0) fields.set(name, list(below.map((c) => toTree(c, source, shown))))
  }
  return new Entity(e.kind, fields, new Map([...e.hidden, ...e.fields]))
}

export const treeFunctions = (source: Source): Functions => ({
  '(tree option …) | the work tree, oldest first: goals with their activities and tasks, each with its state and what blocks it; options :goal (a reference) and :open (only what is open) | (tree :open #t)':
    (args, ctx) => {
      const { plain, text, flag } = options(args, ['goal', 'open'])
      takesNone(plain, '(tree :goal "…" :open #t)')
      const goal = text('goal')
      const only = goal === undefined ? undefined : findInTree(source.reader, 'goal', goal).id
      const isOpen = (root: WorkNode) => (n: WorkNode) => n.state === 'open' && (n.kind === 'task' || n === root)
      const shown = (n: WorkNode) => !flag('open') || withBelow(n).some(isOpen(n))
      const roots = workTree(source.reader).filter((n) => (only === undefined || n.entity.id === only) && shown(n))
      const count = roots.reduce((n, root) => n + withBelow(root).length, 0)
      ctx.charge(count)
      ctx.alloc(count * CELLS_PER_NODE)
      return list(roots.map((n) => toTree(n, source, shown)))
    },
})
