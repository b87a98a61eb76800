import { UserError } from '../errors.ts'
import type { Memory } from '../memory.ts'
import type { Wider, WideStatement } from '../recall/overridden.ts'
import { stateOf } from '../recall/validity.ts'
import { vouchedFor } from '../replication/trust.ts'
import type { Project } from '../store/project.ts'
import { type OpenPackage, openRead, packagesNamed } from './community.ts'
import { hasLibrary, openLibrary } from './library.ts'

export interface Tier {
  readonly tier: Wider
  /** As it is told: `your library`, `package NAME`. */
  readonly where: string
  readonly memory: Memory
}

/** Whether a project has any wider tier: one look, and nothing is opened. */
export const hasWider = (project: Project): boolean => hasLibrary() || packagesNamed(project).length > 0

/** The wider tiers of a project, opened; whoever asks closes them. What cannot be read is told. */
export async function openWider(
  project: Project,
  open: OpenPackage = openRead,
): Promise<{ tiers: Tier[]; notes: string[] }> {
  const tiers: Tier[] = []
  const notes: string[] = []
  const attempt = async (made: () => Promise<Tier | undefined> | Tier): Promise<void> => {
    try {
      const tier = await made()
      if (tier) tiers.push(tier)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      notes.push(`${error.message}; ${error.hint}`)
    }
  }
  if (hasLibrary()) await attempt(() => ({ tier: 'user', where: 'your library', memory: openLibrary().memory }))
  for (const name of packagesNamed(project))
    await attempt(async () => {
      const memory = await open(project, name)
      return memory && { tier: 'community', where: `package ${name}`, memory }
    })
  return { tiers, notes }
}

/** What a session is told of, of each kind at most so many, the newest. */
const TOLD = { fact: 40, principle: 3, decision: 3, learning: 3, 'failed-approach': 3 }

/** What wider tiers have to say to a session as it begins. */
export async function statementsFor(project: Project, open?: OpenPackage): Promise<WideStatement[]> {
  const { tiers } = await openWider(project, open)
  return tiers.flatMap(({ tier, where, memory }) => {
    try {
      const { reader, env } = memory
      const all = Object.entries(TOLD).flatMap(([kind, limit]) => reader.list(kind, { limit }))
      const counting = all.filter((e) => stateOf(e, reader, env.now()) === undefined)
      const vouched = vouchedFor(
        memory,
        counting.map((e) => e.id),
      )
      return counting.map((entity) => ({ tier, where, entity, isOwnWord: tier === 'user' && vouched.has(entity.id) }))
    } finally {
      memory.close()
    }
  })
}
