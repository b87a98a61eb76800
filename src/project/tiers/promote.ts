import { UserError } from '../../base/errors.ts'
import { screen } from '../../base/secrets/screen.ts'
import type { Memory } from '../../engine/memory.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { stored } from '../../engine/store/db.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import type { Project } from '../../engine/store/project.ts'
import { type Entity, provenanceOf, standingOf } from '../../model/entity.ts'
import type { JsonObject } from '../../model/object.ts'
import { runImport } from '../../travel/formats/import/run.ts'

/** Kinds that say something of one project alone. */
const OF_PROJECT = new Set(['goal', 'activity', 'task', 'file', 'chunk', 'turn', 'action-note', 'result', 'mutation'])
/** What it says of the project it stands in. */
const LEFT_BEHIND = ['provenance', 'retired', 'standing', 'locations']

/** What is proposed for the library, on this machine. */
const PROPOSED = 'tiers-proposed'
export type Proposed = { readonly id: string; readonly by: string; readonly at: number }

export const proposedIn = ({ db }: Memory): Proposed[] => stored<Proposed[]>(getMeta(db, PROPOSED) ?? '[]')

export function keepProposed(memory: Memory, proposed: readonly Proposed[]): void {
  memory.db.write(() => setMeta(memory.db, PROPOSED, JSON.stringify(proposed)))
}

/** What of an entity goes up, who said it, and whether somebody here stands by it. */
export interface Promotion {
  readonly entity: Entity
  readonly args: JsonObject
  /** `promoted from shop (id), said by ana on 2026-11-23`: kept in the provenance. */
  readonly source: string
  readonly verified: boolean
}

/** @throws UserError for what is of this project alone, or holds what looks like a secret. */
export function promotionOf(memory: Memory, project: Project, entity: Entity): Promotion {
  const kind = memory.registry().kind(entity.kind)
  const { id, fields } = entity
  const refuse = (why: string, hint: string) => new UserError('not-promoted', `${id} is not promoted: ${why}`, hint)
  if (!kind || kind.internal || kind.travels === 'machine' || OF_PROJECT.has(kind.name))
    throw refuse(`a ${entity.kind} is of one project`, 'promote what holds elsewhere: a fact, a decision, a learning')
  if (!entity.live || fields.retired !== undefined)
    throw refuse('it holds no more', 'restore it first, or promote what took its place')
  const ofProject = (field: string) => {
    const { refs, paths } = kind.fields[field] ?? {}
    return LEFT_BEHIND.includes(field) || refs === true || paths === true
  }
  const args = Object.fromEntries(Object.entries(fields).filter(([field]) => !ofProject(field)))
  const [secret] = screen(args, false).secrets
  if (secret)
    throw refuse(`${secret.path} looks like a secret (${secret.category})`, '`tidemark forget --erase` removes it')
  const [{ user, agent, at } = {} as JsonObject] = provenanceOf(entity)
  const day = new Date(typeof at === 'number' ? at : entity.created).toISOString().slice(0, 10)
  return {
    entity,
    args,
    source: `promoted from ${project.name} (${project.id}), said by ${String(user ?? agent ?? 'somebody')} on ${day}`,
    verified: standingOf(fields) === 'confirmed' && vouchedFor(memory, [id]).has(id),
  }
}

/** Records it in the library: what nobody stands by in its project waits for a yes there as well. */
export function promote(library: Memory, { id: project }: Project, { entity, args, source, verified }: Promotion) {
  const { id, kind } = entity
  const item = { verb: `record-${kind}`, args, where: id, as: id, origin: `${project}/${id}` }
  const reading = { items: [item], unplaced: [], counts: {}, partial: true }
  return runImport(library, reading, {
    source,
    by: verified ? 'person' : 'agent',
    standing: verified ? 'confirmed' : 'proposed',
  })
}
