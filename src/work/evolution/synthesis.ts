import type { Memory } from '../../engine/memory.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import type { Project } from '../../engine/store/project.ts'
import { MAX_ACTIONS } from '../../engine/write/batch.ts'
import { SETTLES } from '../../engine/write/settled-mutations.ts'
import { type Entity, kindOf } from '../../model/entity.ts'
import { AGENT_RETRO } from '../../model/kinds/observation.ts'
import { defined } from '../../model/object.ts'
import { cut } from '../../model/text.ts'
import { nextNumber, numberOf, proposalText, waitingIn } from '../handoff/views/mutations.ts'
import { operationOf } from '../handoff/views/observations.ts'
import { addAmounts, amountsText, noAmounts } from './amounts.ts'
import { isArchived } from './archive.ts'
import { retroOfGoals } from './micro-retro.ts'
import { Likeness, patternsIn, type Seen, seen } from './pattern.ts'
import { remedyFor } from './remedy.ts'
import { fileOfSkill, findSkill, placeFor, stepTexts } from './skill.ts'

/** After so many observations that no synthesis has looked at, the next one looks (P2). */
const DUE = 10
/** The newest observations are compared. */
const MOST = 1_000
/** The last observation that a synthesis has looked at; ids of observations grow with time. */
const LOOKED_AT = 'synthesis'
const MOST_NAMED = 4

export const AUTHOR = { agent: 'tidemark', by: 'agent', [SETTLES]: true } as const

/** Every observation of the project that counts, the newest last; archived ones count where rates are compared. */
export const observationsOf = ({ reader }: Memory, { archived = false, most = MOST } = {}): Seen[] =>
  reader
    .list('observation', { limit: most, all: archived })
    .filter((e) => isArchived(e) || (e.fields.retired === undefined && e.fields.standing !== 'rejected'))
    .map(seen)
    .sort((a, b) => a.at - b.at)

/** A link of this sort between two observations says that they are the same trouble. */
export const SAME = 'similar-to'

/** How alike these are, by their words and by what somebody said. */
export function likenessOf({ reader }: Memory, all: readonly Seen[]): Likeness {
  const ids = all.map((s) => s.entity.id)
  return new Likeness(
    all,
    reader.edges('from', ids, [SAME]).map(({ from, to }) => [from, to]),
  )
}

/** `3 of 5 deploy observations, cost 4 h: 2026-02-14 "skipped smoke test", …` */
function evidenceText(group: readonly Seen[], all: readonly Seen[]): string {
  const { operation } = group[0]!
  const of = all.filter((s) => s.operation === operation).length
  const cost = amountsText(group.reduce((sum, s) => addAmounts(sum, String(s.entity.fields.cost ?? '')), noAmounts()))
  const named = group.slice(-MOST_NAMED).map((s) => `${new Date(s.at).toISOString().slice(0, 10)} "${cut(s.what, 80)}"`)
  const more = group.length > MOST_NAMED ? ', …' : ''
  return `${group.length} of ${of} ${operation || 'unnamed'} observations${cost === '' ? '' : `, cost ${cost}`}: ${named.join(', ')}${more}`
}

/** Whether a mutation was proposed for this trouble already, whatever became of it. */
const isAbout = (group: readonly Seen[], mutation: Entity, byId: ReadonlyMap<string, Seen>, likeness: Likeness) => {
  if (operationOf(mutation.fields.skill) !== group[0]!.operation) return false
  const { evidence } = mutation.fields
  const known = Array.isArray(evidence) ? evidence.flatMap((id) => byId.get(String(id)) ?? []) : []
  return group.some((s) => likeness.recurs(s, known))
}

/** Looks for what recurs in what was observed, and proposes a change for each. It changes no file. */
export const synthesize = (memory: Memory, project: Project): Entity[] =>
  memory.db.write(() => {
    const all = observationsOf(memory)
    const last = all.map((s) => s.entity.id).reduce((a, b) => (a > b ? a : b), '')
    const byId = new Map(all.map((s) => [s.entity.id, s]))
    const made: string[] = []
    const likeness = likenessOf(memory, all)
    const open = all.filter((s) => s.operation !== '' && s.entity.fields.synthesized === undefined)
    for (const group of patternsIn(open, likeness)) {
      const mutations = memory.reader.list('mutation', { all: true })
      if (mutations.some((m) => isAbout(group, m, byId, likeness))) continue
      const id = propose(memory, project, group, all, mutations)
      if (id !== undefined) made.push(id)
    }
    numberOthers(memory)
    for (const e of waitingIn(memory.reader)) renew(memory, project, e)
    setMeta(memory.db, LOOKED_AT, last)
    return memory.reader.entities(made)
  })

/** Whose step it is: of the agent that each reviewer names first (`implementer skipped …`), else of the operation. */
function skillOf(root: string, group: readonly Seen[]): string {
  const named = new Set(
    group.map(({ entity: { fields }, what }) =>
      Array.isArray(fields.tags) && fields.tags.includes(AGENT_RETRO) ? operationOf(what.split(' ', 1)[0]) : '',
    ),
  )
  const [agent = ''] = named
  return named.size === 1 && fileOfSkill(root, agent) !== undefined ? agent : group[0]!.operation
}

function propose(
  memory: Memory,
  { root }: Project,
  group: readonly Seen[],
  all: readonly Seen[],
  mutations: readonly Entity[],
): string | undefined {
  const { does, step, from } = remedyFor(group.map((s) => s.what))
  const skill = skillOf(root, group)
  const file = findSkill(root, fileOfSkill(root, skill))
  const before = file && placeFor(file.text, from)
  const change = `${skill} now ${does} before ${before === undefined ? 'it ends' : `"${cut(before, 80)}"`}`
  if (mutations.some((m) => m.fields.change === change)) return undefined
  const ids = group.map((s) => s.entity.id)
  const number = nextNumber(mutations)
  const said = { change, skill: group[0]!.operation, step, trigger: evidenceText(group, all), evidence: ids, number }
  const fields = defined({ ...said, status: 'proposed', target: file?.path, base: file?.hash, before })
  const marks = ids.slice(-(MAX_ACTIONS - 1)).map((ref) => ['record-observation', { ref, synthesized: number }])
  return String(memory.act([['record-mutation', fields], ...marks], AUTHOR).results[0]!.id)
}

/** A proposal whose file has changed meanwhile is made for the file as it is now. */
function renew(memory: Memory, { root }: Project, e: Entity): void {
  const target = typeof e.fields.target === 'string' ? e.fields.target : fileOfSkill(root, operationOf(e.fields.skill))
  const file = findSkill(root, target)
  if (file === undefined || file.hash === e.fields.base) return
  const { text, hash } = file
  const { before: was } = e.fields
  const isThere = typeof was === 'string' && stepTexts(text).includes(was)
  const before = isThere ? was : placeFor(text, String(e.fields.step ?? ''))
  memory.act([['record-mutation', { ref: e.id, target: file.path, base: hash, before: before ?? null }]], AUTHOR)
}

/** Gives numbers to what agents have recorded as mutations themselves; returns them. */
function numberOthers(memory: Memory): string[] {
  const without = memory.reader.list('mutation').filter((e) => numberOf(e) === undefined)
  return without.toReversed().map(({ id }) => {
    const number = nextNumber(memory.reader.list('mutation', { all: true }))
    memory.act([['record-mutation', { ref: id, number }]], AUTHOR)
    return number
  })
}

/** After a write: an insight where the last task of a goal was completed, and a synthesis where ten observations came since the last one. Returns what is to be told. */
export function synthesizeIfDue(memory: Memory, project: Project, since: number): string[] {
  if (memory.db.readOnly || memory.cursor === since) return []
  retroOfGoals(memory, since)
  const told = (e: Entity) => `${proposalText(e)} \`tidemark mutation show ${numberOf(e)}\` shows what would change`
  if (memory.newsSince(since).some((n) => n.events.some((x) => kindOf(x.event.entity) === 'mutation'))) {
    const numbers = numberOthers(memory)
    for (const e of waitingIn(memory.reader)) renew(memory, project, e)
    return waitingIn(memory.reader)
      .filter((e) => numbers.includes(numberOf(e)!))
      .map(told)
  }
  const last = getMeta(memory.db, LOOKED_AT) ?? ''
  if (memory.reader.ids('observation').filter((id) => id > last).length < DUE) return []
  return synthesize(memory, project).map(told)
}
