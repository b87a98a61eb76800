import { basename } from 'node:path'
import { type UserError, unlessRefused } from '../../../base/errors.ts'
import { adopt as adoptStore, readForeign } from '../../../engine/replication/adopt.ts'
import { checkFiles, isMarked } from '../../../engine/store/owner.ts'
import { findProject, type Project } from '../../../engine/store/project.ts'
import { rememberProject } from '../../../engine/store/project-list.ts'
import { trustRoot } from '../../../engine/store/user-state.ts'
import type { Json } from '../../../model/field.ts'
import { localMinute } from '../../../model/times.ts'
import { openProject } from '../../../project/open.ts'
import { many } from '../../../session/briefing/format.ts'
import { countedKinds } from '../../tools/format.ts'
import { agreed } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'

/** The project; where its directory belongs to another user, after its own user has said that this is right. */
async function projectFor(call: CommandCall): Promise<Project | undefined> {
  const ofOthers = async ({ message, details }: UserError) => {
    const { id, root } = details as { id: string; root: string }
    call.out(`${message}; what they write there, its settings and the id of the project, would count as said by you`)
    if (!(await agreed(call, 'take it over?'))) return undefined
    trustRoot(id, root)
    return findProject(call.directory)
  }
  return unlessRefused(() => findProject(call.directory), ofOthers, 'project-foreign')
}

export const adopt: Command = {
  name: 'adopt',
  about:
    'takes over a store that somebody else made, or that you made on another machine: as knowledge that nobody here has confirmed',
  example: 'tidemark adopt',
  flags: { yes: { type: 'flag', about: 'do not ask' } },
  async run(call): Promise<{ json: Json; code?: number }> {
    const project = await projectFor(call)
    if (!project) return { json: { adopted: false }, code: 1 }
    const { id, name, root, storePath, chosen } = project
    if (isMarked(storePath, id)) {
      checkFiles(storePath, chosen === undefined)
      call.out(`${storePath} is yours already`)
      return { json: { adopted: false } }
    }
    const found = readForeign(storePath, chosen === undefined)
    const by = [found.last?.author.user, found.last?.author.agent].filter(Boolean).join(' with ')
    call.out(
      `${storePath}, of project ${name}${found.project === id ? '' : ` (it says: of project ${found.project})`}:`,
    )
    call.out(`  ${countedKinds(found.kinds) || 'no knowledge'}`)
    if (found.last) call.out(`  last written ${localMinute(found.last.at)}${by ? ` by ${by}` : ''}`)
    call.out(
      'all of it will be unconfirmed: it binds nobody until you confirm it. Sessions, claims and definitions stay behind',
    )
    if (!(await agreed(call, 'take it over?'))) return { json: { adopted: false }, code: 1 }
    const { taken, kept } = adoptStore(storePath, found, Date.now(), (path) =>
      openProject({ ...project, storePath: path }, { unlisted: true }),
    )
    rememberProject({ root, storePath })
    call.out(`took over ${many(taken.applied, 'batch', 'batches')}; \`tidemark confirm\` lists what waits for you`)
    for (const { line, why } of taken.refused) call.out(`left out ${line}: ${why}`)
    call.out(`the old files are kept: ${kept.map((f) => basename(f)).join(', ')}`)
    return { json: { adopted: true, taken: taken as unknown as Json, kept } }
  },
}
