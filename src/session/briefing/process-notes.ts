import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { aboutOf, type BriefOptions } from './brief.ts'
import { plain } from './fence.ts'
import { byline, field, refOf } from './format.ts'

const KINDS = ['observation', 'failed-approach', 'correction', 'result']
const OF_EACH = 12

export function processOf(memory: Memory, project: Project, options: BriefOptions): string[] {
  return memory.db.read(() => {
    const about = aboutOf(memory, project, options)
    return KINDS.flatMap((kind) =>
      about.reader
        .list(kind, { limit: OF_EACH })
        .filter((e) => about.counts(e))
        .map((e) => {
          const [operation, cost] = [field(e, 'operation', 60), field(e, 'cost', 120)]
          const what = [operation, plain(e.name, 240), cost].filter((text) => text !== '').join(' | ')
          return `- ${e.kind}: ${what} (${refOf(e)}) ${byline(e, about)}`
        }),
    )
  })
}
