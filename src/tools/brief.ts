import { UsageError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { hereOf } from '../open.ts'
import type { Tool } from './tool.ts'

export const brief: Tool = {
  name: 'brief',
  title: 'Briefing',
  about:
    'What a session should know when it starts: binding rules, where the work was left, who else is at work, decisions, what failed before. Call it first unless you were briefed.',
  example: 'tidemark brief --budget 1200',
  params: { budget: { type: 'number', about: 'tokens at most (2000)' } },
  mcp: true,
  readOnly: true,
  fences: true,
  async run({ memory, project, session, agent, local }, { budget }) {
    if (budget !== undefined && !(typeof budget === 'number' && Number.isInteger(budget) && budget > 0))
      throw new UsageError('budget is not a number of tokens', 'give a whole number, such as 2000')
    const { countTokens } = await import('../recall/tokens.ts')
    const { readEdits } = await import('../handoff/views/index.ts')
    const { brief: make, wasBriefed } = await import('../briefing/brief.ts')
    const options = {
      ...hereOf(project),
      session,
      client: agent,
      local,
      ...(typeof budget === 'number' ? { budget } : {}),
      counter: countTokens,
    }
    readEdits(memory, project)
    const cursor = memory.cursor
    const told = make(memory, project, options)
    // somebody who only looks at what a session would be told has not been told
    if (session !== undefined) wasBriefed(memory, options, told, 'brief', cursor)
    return { text: told.text === '' ? told.line : told.text, json: told as unknown as Json }
  },
}
