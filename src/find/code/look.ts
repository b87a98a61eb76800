import { sinceStart } from '../../base/env.ts'
import { messageOf } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { lookAtAnchored } from '../../engine/read/stale.ts'
import { cursorKey, isAnyAnchored, keepFile } from '../../engine/store/code-anchors.ts'
import { getMeta } from '../../engine/store/meta.ts'
import type { Project } from '../../engine/store/project.ts'
import { noteLocations } from './locations.ts'

/** So many files at once; what the others hold is told as not looked at. */
const MOST = 50
const MOST_MS = 2_000
/** Files are looked at for so long: the rest is, the next time. */
const LOOK_MS = 200
/** A file this young may change again within the same tick of its clock. */
const YOUNG_MS = 2_000
/** Asked again so soon, the files are not looked at again. */
const AGAIN_MS = 500
const looked = new WeakMap<Memory, number>()

/** Judges what is anchored in files that changed since they were seen, before somebody is told of it. */
export async function lookAgain(memory: Memory, project: Project, when?: 'at once'): Promise<void> {
  const { db } = memory
  const now = sinceStart()
  if (db.readOnly) return
  if (when === undefined && now - (looked.get(memory) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
  try {
    const isFirst = getMeta(db, cursorKey(project.root)) === undefined && isAnyAnchored(db)
    const added = isFirst ? noteLocations(memory, project.root) : undefined
    const { changed, touched } = lookAtAnchored(db, project.root, () => sinceStart() - now > LOOK_MS)
    const settled = touched.filter((file) => memory.env.now() - file.mtime > YOUNG_MS)
    if (settled.length > 0) db.write(() => settled.forEach((file) => void keepFile(db, project.root, file)))
    if (changed.length > 0) {
      const { scan } = await import('./scan.ts')
      const isOver = () => sinceStart() - now > MOST_MS
      await scan(memory, project, { only: changed.slice(0, MOST), ...(added && { added }), isOver })
    }
    looked.set(memory, sinceStart())
  } catch (error) {
    memory.env.log(`tidemark: the code is to be scanned again: ${messageOf(error)}`)
  }
}
