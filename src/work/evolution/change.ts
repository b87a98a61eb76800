import { refuse } from '../../base/errors.ts'
import { readInside, writeInside } from '../../base/files.ts'
import type { ActOptions, Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { SETTLES } from '../../engine/write/settled-mutations.ts'
import { digest } from '../../model/digest.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { onPage } from '../handoff/page.ts'
import { nextNumber, numberOf } from '../handoff/views/mutations.ts'
import { operationOf } from '../handoff/views/observations.ts'
import { backedUp, keepBackup, replaceShown } from './file-edit.ts'
import { diffOf, fileOfSkill, hasStep, readSkill, type SkillFile, withStep } from './skill.ts'
import { IN_FORCE, mayBecome, type Next, type Status, step } from './status.ts'

/** Who decides, as `act` takes it. */
export interface Author extends Pick<ActOptions, 'by' | 'session' | 'agent'> {
  /** Who says yes, by name. */
  readonly approver?: string
}

/** What applying a mutation would do to its file. */
export type Change = Readonly<{ file: SkillFile; after: string; diff: string }>

export const statusNow = (e: Entity): Status => (e.fields.status ?? 'proposed') as Status

/** @throws UserError where it may not. */
export function mustBecome(e: Entity, to: Status): void {
  const now = statusNow(e)
  if (mayBecome(now, to)) return
  const message = `${numberOf(e) ?? e.id} is ${now}, and does not become ${to}`
  refuse('wrong-status', message, '`tidemark mutation list` shows where each stands')
}

/** Writes what became of a mutation. The step stands in the table of states, or it does not compile. */
function settle<S extends Status>(
  memory: Memory,
  e: Entity,
  { to }: { from: S; to: Next<S> },
  fields: { [field: string]: Json },
  { approver: _who, ...author }: Author,
): Entity {
  mustBecome(e, to)
  const action = ['record-mutation', { ref: e.id, status: to, expectedVersion: e.version, ...fields }]
  memory.act([action], { ...author, by: 'person', [SETTLES]: true })
  return memory.reader.entity(e.id)!
}

/** The change of the skill file. @throws UserError without a file or a step, or if the file has changed since. */
export function changeOf({ root }: Project, e: Entity): Change {
  const number = numberOf(e) ?? e.id
  const { step: line, skill, before, base } = e.fields
  const path = typeof e.fields.target === 'string' ? e.fields.target : fileOfSkill(root, operationOf(skill))
  if (typeof line !== 'string' || line.trim() === '') {
    const hint = `say it: \`tidemark mutation approve ${number} --step "…"\``
    return refuse('no-step', `${number} says no step that a skill could take`, hint)
  }
  if (path === undefined) {
    const message = `there is no file for the skill "${String(skill ?? '')}" in this project`
    const hint = `say which one: \`tidemark mutation approve ${number} --target .claude/skills/NAME/SKILL.md\``
    return refuse('no-skill-file', message, hint)
  }
  const file = readSkill(root, path)
  if (typeof base === 'string' && base !== file.hash) {
    const hint = `\`tidemark retro\` proposes it anew for the file as it is now`
    return refuse('target-changed', `${path} was changed since ${number} was proposed`, hint)
  }
  const said = onPage(line) // as it is shown, so that nothing goes unseen
  if (hasStep(file.text, said))
    return refuse('has-step', `${path} has this step already`, `\`tidemark mutation reject ${number}\` puts it away`)
  const after = withStep(file.text, said, typeof before === 'string' ? before : undefined)
  if (!hasStep(after, said)) {
    const message = `${path} has no place for a step: a block of code in it has no end`
    return refuse('no-place', message, 'mend the file by hand')
  }
  return { file, after, diff: diffOf(path, file.text, after) }
}

/** What is done one after another; a process that is killed between two leaves the old file or the new one, and goes on later. */
export type Steps = readonly (() => void)[]

/** Approves a mutation and changes its file. A person has seen the change, with what they `said` of it, and said yes. */
export function approveSteps(
  memory: Memory,
  { root }: Project,
  e: Entity,
  change: Change,
  said: { [field: string]: Json },
  author: Author,
): Steps {
  const { file, after, diff } = change
  const [base, result] = [file.hash, digest(after)]
  let e1 = e
  return [
    () => keepBackup(root, file.text),
    () => {
      if (statusNow(e) === 'approved') return
      const number = numberOf(e) ?? nextNumber(memory.reader.list('mutation', { all: true }))
      const shown = diff.slice(0, 8_000).toWellFormed()
      const fields = { ...said, number, base, result, diff: shown, target: file.path, ...decision(memory, author) }
      const way = statusNow(e) === 'rejected' ? step('rejected', 'approved') : step('proposed', 'approved')
      e1 = settle(memory, e, way, fields, author)
    },
    () => replaceShown(root, file.path, base, after),
    () => void settle(memory, e1, step('approved', 'applied'), { applied: nowIn(memory) }, author),
  ]
}

/** A change that a killed process has made, but not told of: its file is as it was to be. */
export function finishApproval(memory: Memory, { root }: Project, e: Entity, author: Author): Entity | undefined {
  if (statusNow(e) !== 'approved' || typeof e.fields.target !== 'string') return undefined
  if (digest(readInside(root, e.fields.target) ?? '') !== e.fields.result) return undefined
  return settle(memory, e, step('approved', 'applied'), { applied: nowIn(memory) }, author)
}

export const reject = (memory: Memory, e: Entity, author: Author): Entity => {
  const to = statusNow(e) === 'approved' ? step('approved', 'rejected') : step('proposed', 'rejected')
  return settle(memory, e, to, decision(memory, author), author)
}

export const keep = (memory: Memory, e: Entity, author: Author): Entity =>
  settle(memory, e, step(statusNow(e) as 'applied', 'kept'), decision(memory, author), author)

export const measured = (memory: Memory, e: Entity, to: 'improved' | 'unchanged' | 'worse', outcome: string): Entity =>
  settle(memory, e, step(statusNow(e) as 'applied', to), { outcome }, { agent: 'tidemark' })

const nowIn = ({ env }: Memory): string => new Date(env.now()).toISOString()

const decision = (memory: Memory, { approver = 'a person' }: Author): { [field: string]: Json } => ({
  approver,
  decided: nowIn(memory),
})

/** What a revert would do: the bytes to write, or none where the file is as it was, or lost the step by hand. */
export function revertOf({ root }: Project, e: Entity): { path: string; bytes?: Buffer; diff: string } {
  const number = numberOf(e) ?? e.id
  const { target, base, result, step: line } = e.fields
  if (!IN_FORCE.has(statusNow(e)) || typeof target !== 'string' || typeof base !== 'string') {
    const message = `${number} is ${statusNow(e)}: it has changed no file`
    return refuse('wrong-status', message, '`tidemark mutation list` shows where each stands')
  }
  const now = readInside(root, target)
  const hash = now === undefined ? '' : digest(now)
  if (hash === base || now === undefined || !hasStep(now.toString('utf8'), onPage(String(line))))
    return { path: target, diff: '' }
  if (hash !== result) {
    const hint = `take the step out by hand ("${String(line).slice(0, 80)}"); the same command then records it`
    return refuse('target-changed', `${target} was changed since ${number} was applied`, hint)
  }
  const bytes = backedUp(root, base)
  if (bytes === undefined) {
    const message = `the copy of ${target} from before ${number} is not on this machine`
    return refuse('no-backup', message, 'restore the file with git; the same command then records it')
  }
  return { path: target, bytes, diff: diffOf(target, now.toString('utf8'), bytes.toString('utf8')) }
}

export function revertSteps(memory: Memory, project: Project, e: Entity, author: Author): Steps {
  const { path, bytes } = revertOf(project, e)
  return [
    () => void (bytes && writeInside(project.root, path, bytes, { sync: true })),
    () => void settle(memory, e, step(statusNow(e) as 'applied', 'reverted'), decision(memory, author), author),
  ]
}
