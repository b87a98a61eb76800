import { hereOf } from '../../project/open.ts'
import { defineTool } from './tool.ts'

export const back = defineTool({
  name: 'back',
  title: 'Back again',
  about:
    'tells whoever comes back where things stand: the handoff, who works on what, decisions and whatever else changed since they left',
  example: 'tidemark back',
  readOnly: true,
  async run({ memory, project, session, local }) {
    const { back: tell } = await import('../../session/briefing/back.ts')
    const { readEdits } = await import('../../work/handoff/views/refresh.ts')
    readEdits(memory, project)
    return tell(memory, project, { ...hereOf(project), session, local })
  },
})
