import { abandon, complete, startActivity } from '../../project/verbs/work.ts'
import { workTool } from './work.ts'

export const activity = workTool({
  kind: 'activity',
  about: 'starts, completes, abandons or lists activities: areas of work within a goal',
  example: 'tidemark activity start token handling --goal "Add OAuth login" --component auth',
  verbs: { start: startActivity, complete, abandon },
})
