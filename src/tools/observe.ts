import { UsageError } from '../errors.ts'
import { onOneLine } from '../handoff/page.ts'
import { AGENT_RETRO, observationLine } from '../handoff/views/observations.ts'
import { entityJson } from './format.ts'
import { actingAs, defineTool, written } from './tool.ts'

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
    'agent-retro': { type: 'flag', about: 'found in the work of another agent' },
  },
  readOnly: false,
  run(context, { operation, what, cost, benefit, ok, failed, 'agent-retro': retro }) {
    if (cost !== undefined && benefit !== undefined)
      throw new UsageError('--cost and --benefit exclude each other', 'record two observations')
    if (ok && failed) throw new UsageError('--ok and --failed exclude each other', 'give one of the two')
    const { memory } = context
    const said =
      cost !== undefined
        ? `cost: ${onOneLine(cost)}`
        : benefit !== undefined
          ? `saved: ${onOneLine(benefit)}`
          : undefined
    const action = {
      operation: onOneLine(operation),
      what: onOneLine(what),
      ...(said === undefined ? {} : { cost: said }),
      ...(ok || failed ? { succeeded: ok === true } : {}),
      ...(retro ? { tags: [AGENT_RETRO] } : {}),
    }
    const done = memory.act([['record-observation', action]], actingAs(context))
    const e = memory.reader.entity(done.results[0]!.id)!
    return written(done, [observationLine(e)], { ...done, observation: entityJson(e) })
  },
})
