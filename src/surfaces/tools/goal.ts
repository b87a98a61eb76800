import { abandon, complete, startGoal } from '../../project/verbs/work.ts'
import { workTool } from './work.ts'

export const goal = workTool({
  kind: 'goal',
  about:
    "starts, completes, abandons or lists goals: what was asked for. Starting one makes it the session's current goal",
  example: 'tidemark goal start Add OAuth login --plan "provider, callback, session"',
  verbs: { start: startGoal, complete, abandon },
})
