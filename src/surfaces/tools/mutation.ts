import { UsageError, UserError, unlessRefused } from '../../base/errors.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { hereOf } from '../../project/open.ts'
import * as changes from '../../work/evolution/change.ts'
import { outcomeOf, outcomeText } from '../../work/evolution/outcome.ts'
import { IN_FORCE } from '../../work/evolution/status.ts'
import { likenessOf, observationsOf } from '../../work/evolution/synthesis.ts'
import { isHistory, numbered, numberOf, proposalText, statusOf } from '../../work/handoff/views/mutations.ts'
import { entityJson, findOne, oneLine } from './format.ts'
import { mustBePerson } from './person.ts'
import { actingAs, defineTool, type Output, type ToolContext } from './tool.ts'

/** The mutation that a person means: by its number, else as anything else is found. */
function meant({ memory: { reader } }: ToolContext, ref: string | undefined): Entity {
  if (ref === undefined) throw new UsageError('the mutation is missing', '`tidemark mutation approve M-001`')
  const wanted = ref.trim().toUpperCase()
  const found = reader.list('mutation', { all: true }).filter((e) => numberOf(e)?.toUpperCase() === wanted)
  if (found.length > 1)
    throw new UserError(
      'ambiguous',
      `${found.length} mutations are called ${wanted}`,
      `say which: ${found.map((e) => e.id).join(' or ')}`,
    )
  const e = found[0] ?? findOne(reader, ref)
  if (e.kind !== 'mutation')
    throw new UserError('not-found', `${e.id} is no mutation`, '`tidemark mutation list` shows them')
  if (isHistory(e))
    throw new UserError(
      'wrong-status',
      `${numberOf(e)} was decided elsewhere and is only told here`,
      '`tidemark mutation list` shows the others',
    )
  return e
}

function list({ memory }: ToolContext): Output {
  const all = numbered(memory.reader.list('mutation', { all: true }))
  const observations = observationsOf(memory)
  const likeness = likenessOf(memory, observations)
  const lines = all.map((e) => {
    const isMeasured = IN_FORCE.has(changes.statusNow(e)) && e.fields.applied !== undefined
    const outcome = isMeasured ? ` (${outcomeText(outcomeOf(memory, e, observations, likeness))})` : ''
    return `${numberOf(e)}  ${statusOf(e).padEnd(9)} ${oneLine(String(e.fields.change), 160)}${outcome}`
  })
  return {
    text: lines.length === 0 ? 'no change of a skill is proposed' : lines.join('\n'),
    json: all.map((e) => ({ ...entityJson(e), id: numberOf(e)!, entity: e.id, status: statusOf(e) })),
  }
}

function show({ memory, project }: ToolContext, e: Entity): Output {
  const about = [`${numberOf(e) ?? e.id} is ${changes.statusNow(e)}`, proposalText(e)]
  const evidence = (Array.isArray(e.fields.evidence) ? e.fields.evidence : []).map((id) => `  ${String(id)}`)
  const why = ({ message, hint }: UserError) => `${message}\n  → ${hint}`
  const isOpen = ['proposed', 'approved', 'rejected'].includes(changes.statusNow(e))
  const change = isOpen ? unlessRefused(() => changes.changeOf(project, e).diff, why) : String(e.fields.diff ?? '')
  const outcome = e.fields.applied === undefined ? undefined : outcomeOf(memory, e, observationsOf(memory))
  return {
    text: [...about, ...evidence, ...(outcome ? [outcomeText(outcome)] : []), '', change].join('\n').trimEnd(),
    json: { ...entityJson(e), change, ...(outcome && { outcome }) } as unknown as Json,
  }
}

const DECIDES = 'decides about a change of a skill'
const NOTHING: Output = { text: 'nothing was changed', json: { changed: false } }

async function approve(context: ToolContext, e: Entity, author: changes.Author, said: JsonObject) {
  const { memory, project } = context
  const number = numberOf(e) ?? e.id
  if (IN_FORCE.has(changes.statusNow(e))) return told(e, `${number} is ${changes.statusNow(e)} already`)
  const ask = mustBePerson(context, DECIDES, `mutation approve ${number}`)
  if (changes.statusNow(e) !== 'approved') changes.mustBecome(e, 'approved')
  const finished = changes.finishApproval(memory, project, e, author)
  if (finished) return told(finished, `${number} is applied to ${String(finished.fields.target)}`)
  const isReworded = Object.keys(said).length > 0
  const { base: _base, ...fields } = e.fields
  const change = changes.changeOf(project, isReworded ? { ...e, fields: { ...fields, ...said } } : e)
  if (!(await ask(`${proposalText(e)}\n\n${change.diff}\n\nChange ${change.file.path} so?`))) return NOTHING
  for (const step of changes.approveSteps(memory, project, e, change, said, author)) step()
  const done = memory.reader.entity(e.id)!
  return told(
    done,
    `${numberOf(done)} is applied to ${change.file.path}; tidemark mutation revert ${numberOf(done)} restores it`,
  )
}

async function revert(context: ToolContext, e: Entity, author: changes.Author): Promise<Output> {
  const number = numberOf(e) ?? e.id
  const { path, diff } = changes.revertOf(context.project, e)
  const what = diff === '' ? `${path} has no such step any more.` : diff
  const ask = mustBePerson(context, DECIDES, `mutation revert ${number}`)
  if (!(await ask(`${what}\n\nTake ${number} back?`))) return NOTHING
  for (const step of changes.revertSteps(context.memory, context.project, e, author)) step()
  return told(
    context.memory.reader.entity(e.id)!,
    diff === '' ? `${number} is reverted` : `${number} is reverted: ${path} is as it was`,
  )
}

const told = (e: Entity, text: string): Output => ({ text, json: entityJson(e) })

export const mutation = defineTool({
  name: 'mutation',
  title: 'Changes of skills',
  about:
    'changes of how skills are carried out, proposed for what went wrong again and again: lists and shows them; approve changes the file of the skill, revert restores it. Only a person on a terminal decides',
  example: 'tidemark mutation list',
  params: {
    do: {
      type: 'text',
      about: 'what to do (list); apply is approve',
      place: 0,
      choices: ['list', 'show', 'approve', 'apply', 'reject', 'keep', 'revert'],
    },
    ref: { type: 'text', about: 'which one: M-001', place: 1 },
    step: { type: 'text', about: 'approve: another wording of the step' },
    before: { type: 'text', about: 'approve: the step that it goes before, as it stands in the file' },
    target: { type: 'text', about: 'approve: the file of the skill' },
  },
  local: true,
  dashboard: true,
  async run(context, { do: action = 'list', ref, step, before, target }): Promise<Output> {
    if (action === 'list') return list(context)
    const e = meant(context, ref)
    if (action === 'show') return show(context, e)
    const number = numberOf(e) ?? e.id
    const author: changes.Author = { ...actingAs(context), approver: hereOf(context.project).user ?? 'a person' }
    if (action === 'approve' || action === 'apply')
      return approve(context, e, author, defined({ step, before, target }) as JsonObject)
    if (action === 'revert') return revert(context, e, author)
    const ask = mustBePerson(context, DECIDES, `mutation ${action} ${number}`)
    changes.mustBecome(e, action === 'keep' ? 'kept' : 'rejected')
    if (!(await ask(`${proposalText(e)}\n\n${action === 'keep' ? 'Keep' : 'Reject'} ${number}?`))) return NOTHING
    return action === 'keep'
      ? told(changes.keep(context.memory, e, author), `${number} is kept`)
      : told(changes.reject(context.memory, e, author), `${number} is rejected; it is not proposed again`)
  },
})
