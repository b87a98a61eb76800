import type { Memory } from '../src/engine/memory.ts'
import type { Project } from '../src/engine/store/project.ts'
import type { RecallConfig } from '../src/find/recall/config.ts'
import { openProject } from '../src/project/open.ts'
import { asProjectMemory, type ProjectMemory } from '../src/surfaces/library.ts'
import { tempProject } from './project.ts'

export interface Open {
  readonly memory: Memory
  readonly library: ProjectMemory
  /** When every vector is there. */
  settled(): Promise<void>
  close(): void
}

/** Opens a project, a fresh one unless given, with the embedder of a name. */
export function openWith(embedder: RecallConfig['embedder']['use'], project: Project = tempProject()): Open {
  const memory = openProject(project, { unlisted: true })
  const library = asProjectMemory(memory, project, { recall: { embedder: { use: embedder } } })
  return {
    memory,
    library,
    async settled() {
      await library.index()
    },
    close: () => library.close(),
  }
}
