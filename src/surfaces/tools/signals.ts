import { unlessRefused } from '../../base/errors.ts'
import { MOST_ACROSS } from '../../find/graph/signals/across.ts'
import { lookAt, type OtherProject, signalsOf } from '../../find/graph/signals/index.ts'
import { otherProjects } from '../../find/recall/projects.ts'
import { isAgreed } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { openProject } from '../../project/open.ts'
import { AS_OF, at } from './moment.ts'
import { defineTool, type ToolContext } from './tool.ts'

const LIMIT = 20

export const signals = defineTool({
  name: 'signals',
  title: 'Patterns noticed',
  about:
    'tells the patterns noticed in what is recorded, the most severe first, each with a command: rules with exceptions, repeated failures, corrected topics, stale decisions, broken rules, decisions that evolved',
  example: 'tidemark signals',
  params: { limit: { type: 'number', least: 1, about: `so many at most (${LIMIT})` }, 'as-of': AS_OF },
  readOnly: true,
  async run(context, { limit = LIMIT, ...args }) {
    const { memory, project } = context
    const { reader, now, past } = await at(context, args)
    const found = signalsOf(
      lookAt(memory, project, past ? { reader, now } : { others: () => decisionsElsewhere(context) }),
    )
    const shown = found.slice(0, limit)
    const omitted = found.length - shown.length
    const more = omitted > 0 ? [`… ${omitted} more: give a larger --limit`] : []
    return {
      text:
        found.length === 0
          ? 'no patterns noticed'
          : ['## Patterns Noticed', '', ...shown.flatMap((s) => [s.line, `   ${s.next}`]), ...more].join('\n'),
      json: shown as unknown as Json,
    }
  },
})

/** What the user's other projects have decided; one that cannot be opened is passed over. */
const decisionsElsewhere = ({ project, served }: ToolContext): OtherProject[] =>
  otherProjects(project, 'all', served).flatMap((other) => {
    const decisions = unlessRefused(() => {
      using memory = openProject(other, { unlisted: true })
      return memory.reader.list('decision', { limit: MOST_ACROSS }).filter(isAgreed)
    })
    return decisions ? [{ id: other.id, name: other.name, decisions }] : []
  })
