import { UserError } from '../errors.ts'
import { type WorkNode, withBelow, workTree } from '../read/work-tree.ts'
import { findInTree } from '../recall/scope.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { Entity, isTrue, list, SchemeError, type Value } from '../scheme/values.ts'
import { options, type Source, textOf } from './knowledge.ts'
import { referenceTo, toScheme } from './values.ts'

/** Cells that one of the tree costs when it is made for a program. */
const CELLS_PER_NODE = 20

/** What of an entity stands in the tree; the rest answers when asked. */
const SHOWN = ['id', 'originalAsk', 'description', 'state', 'result', 'abandonReason']

const isOpenBelow = (node: WorkNode): boolean =>
  withBelow(node).some((n) => n.state === 'open' && (n.kind === 'task' || n === node))

/** One of the tree as a program sees it: with its state, what it waits for, and what is below it. */
function toTree(node: WorkNode, source: Source, shown: (n: WorkNode) => boolean): Entity {
  const { reader } = source
  const e = toScheme(node.entity, reader.registry())
  const fields = new Map<string, Value>()
  for (const [name, value] of e.fields) if (SHOWN.includes(name)) fields.set(name, value)
  fields.set('state', node.state)
  if (node.blockedBy.length > 0) fields.set('blockedBy', list(node.blockedBy.map((b) => referenceTo(reader, b.id))))
  const below = (kind: WorkNode['kind']) => node.children.filter((c) => c.kind === kind && shown(c))
  for (const [name, children] of [
    ['activities', below('activity')],
    ['tasks', below('task')],
  ] as const)
    if (children.length > 0) fields.set(name, list(children.map((c) => toTree(c, source, shown))))
  return new Entity(e.kind, fields, new Map([...e.hidden, ...e.fields]))
}

export const treeFunction = (source: Source): HostFunction => ({
  name: 'tree',
  min: 0,
  max: 4,
  about:
    'the work tree, oldest first: goals with their activities and tasks, each with its state and what blocks it; options :goal (a reference) and :open (only what is open)',
  example: '(tree :open #t)',
  run(args, ctx) {
    const { plain, given } = options('tree', args, ['goal', 'open'])
    if (plain.length > 0) throw new SchemeError('tree takes options only', '(tree :goal "…" :open #t)')
    const goal = given.get('goal')
    const open = isTrue(given.get('open') ?? false)
    const only = goal === undefined || goal === null ? undefined : goalNamed(source, textOf('tree', goal))
    const shown = (n: WorkNode) => !open || isOpenBelow(n)
    const roots = workTree(source.reader).filter((n) => (only === undefined || n.entity.id === only) && shown(n))
    const count = roots.reduce((n, root) => n + withBelow(root).length, 0)
    ctx.charge(count)
    ctx.alloc(count * CELLS_PER_NODE)
    return list(roots.map((n) => toTree(n, source, shown)))
  },
})

function goalNamed(source: Source, ref: string): string {
  try {
    return findInTree(source.reader, 'goal', ref).id
  } catch (error) {
    if (error instanceof UserError) throw new SchemeError(error.message, error.hint)
    throw error
  }
}
