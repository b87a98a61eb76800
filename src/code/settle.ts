import { messageOf } from '../errors.ts'
import type { Memory } from '../memory.ts'
import * as code from '../store/code.ts'
import type { Project } from '../store/project.ts'
import { keyOf, noteLocations } from './locations.ts'

/** Finds what newly recorded locations stand for. The action that it follows is done: whatever fails here waits for a scan. */
export async function settleLocations(memory: Memory, project: Project): Promise<void> {
  const { db, env } = memory
  if (db.readOnly) return
  try {
    const { root } = project
    const added = noteLocations(memory, root)
    const due = code.dueAnchors(db, root)
    if (added.size === 0 && due.length === 0) return
    const isNew = (a: code.AnchorRow) => a.hash === '' || added.has(keyOf(a))
    const rows = added.size === 0 ? due : code.anchorsIn(db, root).filter(isNew)
    const { scan } = await import('./scan.ts')
    await scan(memory, project, { only: [...new Set(rows.map((a) => a.path))], added })
  } catch (error) {
    env.log(`tidemark: the code is to be scanned again: ${messageOf(error)}`)
  }
}
