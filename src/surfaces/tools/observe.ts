import { UsageError, UserError } from '../../base/errors.ts'
import { AGENT_RETRO } from '../../model/kinds/observation.ts'
import { oneLine } from '../../model/text.ts'
import { askWhetherSame } from '../../work/evolution/same-trouble.ts'
import { SAME } from '../../work/evolution/synthesis.ts'
import { observationLine } from '../../work/handoff/views/observations.ts'
import { entityJson, findOne } from './format.ts'
import { actingAs, defineTool, written } from './tool.ts'

/** With its label once: it may be said with it, as it stands in the file. */
const labelled = (label: string, text: string): string => (text.startsWith(label) ? text : label + text)

export const observe = defineTool({
  name: 'observe',
  title: 'Observe',
  about:
    'records in one line how an operation went: what happened, and what it cost or saved. What recurs is proposed as a change of the skill',
  example: 'tidemark observe deploy "skipped the smoke test" --cost "2 h of debugging"',
  params: {
    operation: { type: 'text', about: 'what was being done: deploy, verify …', required: true, place: 0 },
    what: { type: 'text', about: 'what happened', required: true, place: 'rest', stdin: true },
    cost: { type: 'text', about: 'what it cost: time, money, tokens, or in words' },
    benefit: { type: 'text', about: 'what it saved' },
    ok: { type: 'flag', about: 'the operation did what it was to do' },
    failed: { type: 'flag', about: 'it did not' },
    'same-as': { type: 'text', about: 'an earlier observation of the same trouble, told in other words' },
    'agent-retro': { type: 'flag', about: 'found in the work of another agent' },
  },
  run(context, { operation, what, cost, benefit, ok, failed, 'same-as': same, 'agent-retro': retro }) {
    if (cost !== undefined && benefit !== undefined)
      throw new UsageError('--cost and --benefit exclude each other', 'record two observations')
    if (ok && failed) throw new UsageError('--ok and --failed exclude each other', 'give one of the two')
    const { memory } = context
    const earlier = same === undefined ? undefined : findOne(memory.reader, same)
    if (earlier && earlier.kind !== 'observation')
      throw new UserError('not-found', `${earlier.id} is no observation`, '`tidemark list observation` shows them')
    const saved = benefit === undefined ? undefined : labelled('saved: ', oneLine(benefit))
    const action = {
      operation: oneLine(operation),
      what: oneLine(what),
      cost: cost === undefined ? saved : labelled('cost: ', oneLine(cost)),
      succeeded: ok || failed ? ok === true : undefined,
      tags: retro ? [AGENT_RETRO] : undefined,
    }
    const done = memory.act([['record-observation', action]], actingAs(context))
    const e = memory.reader.entity(done.results[0]!.id)!
    if (earlier) memory.act([['link-entities', { from: e.id, to: earlier.id, type: SAME }]], actingAs(context))
    const asked = askWhetherSame(memory, e.id)
    if (asked !== undefined) done.notes.push(asked)
    return written(done, [observationLine(e)], { ...done, observation: entityJson(e) })
  },
})
