import { join } from 'node:path'
import { importFrom } from '../formats/import/index.ts'
import { sha256 } from '../model/digest.ts'
import { openProject } from '../open.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import { type OpenPackage, packageAt, storeOf } from './community.ts'
import { projectInState } from './library.ts'

const READ = 'community-read'

/**
 * A package as a store that is only read: what it says is data, whoever wrote it. Read anew when the file has changed.
 * Nothing is fetched. Apart from `community.ts`, so that no hook loads the importers.
 */
export const openPackage: OpenPackage = async (project, name) => {
  const { root } = project
  const { file, bytes } = packageAt(root, name)
  const memory = openProject(projectInState(storeOf(project, name), name), { unlisted: true })
  const digest = sha256(bytes.toString('latin1'))
  if (getMeta(memory.db, READ) === digest) return memory
  try {
    const format = file.endsWith('.json') ? 'json' : 'claude-md'
    await importFrom(memory, format, join(root, file), {
      root,
      source: `community ${name}`,
      standing: 'confirmed',
      by: 'person',
    })
    memory.db.write(() => setMeta(memory.db, READ, digest))
    return memory
  } catch (error) {
    memory.close()
    throw error
  }
}
