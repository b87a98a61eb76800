import { type WorkNode, withBelow, workTree } from '../../engine/read/work-tree.ts'
import type { Json } from '../../model/field.ts'
import { asBranches, findWork, refsTo } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { type Block, defineTool } from './tool.ts'
import { placeOf, workJson, workLine } from './work.ts'

export const tree = defineTool({
  name: 'tree',
  title: 'The work tree',
  about:
    'draws the work tree: goals, their activities and tasks; ✓ complete, ○ open, ✗ abandoned, what blocks a task, and the current task of the session',
  example: 'tidemark tree "Add OAuth login" --session s1',
  params: {
    goal: { type: 'text', about: 'one goal; all that are open unless given', place: 'rest' },
    'as-of': AS_OF,
    all: { type: 'flag', about: 'also goals that are complete or abandoned' },
  },
  readOnly: true,
  needsSession: () => true,
  async run(context, args) {
    const { reader, past } = await at(context, args)
    const place = past ? {} : placeOf(context)
    const roots = workTree(reader)
    const named = args.goal === undefined ? undefined : findWork(reader, 'goal', args.goal)
    const shown = roots.filter((n) => (named ? n.entity.id === named.id : args.all || n.state === 'open' || hasOpen(n)))
    const lines = shown.flatMap((n) => drawn(n, (x) => workLine(x, place)))
    const left = named ? 0 : roots.length - shown.length
    if (roots.length === 0) lines.push('no work is recorded yet: `tidemark goal start "…"` starts a goal')
    else if (shown.length === 0) lines.push('no work is open')
    if (left > 0) lines.push(`… ${left} closed: --all shows ${left === 1 ? 'it' : 'them'}`)
    const json = (n: WorkNode): Json => ({ ...workJson(n, place), children: n.children.map(json) })
    const page = (): Block[] => {
      const nodes = shown.flatMap(withBelow).map((n) => n.entity)
      const refs = refsTo(reader, nodes)
      return lines.map((line, i) => ({ line: nodes[i] ? [line, '  ', ['ref', refs.get(nodes[i].id)!]] : [line] }))
    }
    return { text: lines.join('\n'), json: shown.map(json), page }
  },
})

/** A closed goal stays in sight while a task below it is open. */
const hasOpen = (n: WorkNode): boolean => withBelow(n).some((c) => c.kind === 'task' && c.state === 'open')

const drawn = (node: WorkNode, line: (n: WorkNode) => string): string[] => [
  line(node),
  ...asBranches(node.children.map((child) => drawn(child, line))),
]
