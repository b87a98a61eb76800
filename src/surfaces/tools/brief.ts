import { lookAgain } from '../../find/code/look.ts'
import type { Json } from '../../model/field.ts'
import { hereOf } from '../../project/open.ts'
import { CLIENT_NAMES } from '../../work/coordination/clients.ts'
import { AS_OF, at } from './moment.ts'
import { defineTool } from './tool.ts'

export const brief = defineTool({
  name: 'brief',
  title: 'Briefing',
  about:
    'What a session should know when it starts: binding rules, where the work was left, who else is at work, decisions, what failed before.',
  example: 'tidemark brief --budget 1200',
  params: {
    budget: { type: 'number', least: 1, about: 'tokens (2000)' },
    client: { type: 'text', about: 'what is told to this one at a start', choices: CLIENT_NAMES, rare: true },
    'as-of': { ...AS_OF, rare: true },
  },
  readOnly: true,
  fences: true,
  async run(context, { budget, client = context.agent, ...args }) {
    await lookAgain(context.memory, context.project)
    const { memory, project, session, local, served } = context
    const { readEdits } = await import('../../work/handoff/views/refresh.ts')
    const { brief: make, wasBriefed } = await import('../../session/briefing/brief.ts')
    const options = { ...hereOf(project), session, client, local, ...(budget !== undefined && { budget }) }
    const { reader, now, past } = await at(context, args)
    if (past) {
      const told = make(memory, project, { ...options, past: reader, moment: now })
      return { text: told.text || 'nothing was recorded then that a briefing tells', json: told as unknown as Json }
    }
    readEdits(memory, project)
    const cursor = memory.cursor
    const { statementsFor } = await import('../../project/tiers/wider.ts')
    const told = make(memory, project, { ...options, wider: served ? [] : await statementsFor() })
    // somebody who only looks at what a session would be told has not been told
    if (session !== undefined) wasBriefed(memory, options, told, 'brief', cursor)
    return { text: told.text === '' ? told.line : told.text, json: told as unknown as Json }
  },
})
