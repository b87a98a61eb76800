import { foresee as look, type Side } from '../../find/code/foresee.ts'
import type { JsonObject } from '../../model/object.ts'
import { titleOfSession } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { oneLine } from './format.ts'
import { defineTool } from './tool.ts'

export const foresee = defineTool({
  name: 'foresee',
  title: 'What will not merge',
  about:
    'shows which branches and work trees will not merge, and where, before anybody merges them; uncommitted work counts',
  example: 'tidemark foresee',
  params: {
    branches: {
      type: 'text',
      about: 'one against all others, or several against each other',
      place: 'rest',
      list: true,
    },
  },
  readOnly: true,
  async run({ memory, project }, args) {
    const found = await look(project.root, args.branches?.split('\n') ?? [], memory.env.now())
    const live = sessionsOf(memory).list()
    const label = ({ name, root, uncommitted }: Side): string => {
      const whose = live.filter((s) => s.root !== undefined && s.root === root).slice(0, 3)
      const about = [...(uncommitted ? ['uncommitted'] : []), ...whose.map(titleOfSession)].join(', ')
      return oneLine(about === '' ? name : `${name} (${about})`, 80)
    }
    const rows = found.collide.flatMap(({ a, b, files }) =>
      files.map((f) => [label(a), label(b), oneLine(f.path, 200), f.places.join('; ') || 'see `git merge-tree`']),
    )
    const merge = found.pairs - found.collide.length
    const pairs = `${found.pairs} ${found.pairs === 1 ? 'pair' : 'pairs'}`
    const rest = [
      found.pairs + found.unseen.length === 0 && 'nothing to compare: git has no second branch or work tree here',
      merge > 0 && `${merge} of ${pairs} ${found.pairs === 1 ? 'merges' : 'merge'}`,
      found.left > 0 && `${found.left} older branches were not looked at: name one to see it`,
      ...found.unseen.map(({ what, why }) => oneLine(`not looked at: ${what} (${why})`, 300)),
    ].filter((line) => line !== false)
    return {
      text: [...rows.map(([a, b, path, at]) => `${a} and ${b} collide in ${path}: ${at}`), ...rest].join('\n'),
      json: { ...found, merge } as unknown as JsonObject,
      page: () => [
        ...(rows.length > 0
          ? [
              { line: [`${found.collide.length} of ${pairs} will not merge:`] },
              { head: ['ONE', 'OTHER', 'FILE', 'WHERE'], rows: rows.map((r) => r.map((c) => [c])), cuts: 3 },
            ]
          : []),
        ...rest.map((line) => ({ line: [line] })),
      ],
    }
  },
})
