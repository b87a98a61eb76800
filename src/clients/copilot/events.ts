import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

export const EVENTS: ClientEvents = {
  client: 'copilot',
  events: [
    { event: 'sessionStart', seconds: START },
    { event: 'userPromptSubmitted', seconds: TURN },
    { event: 'preToolUse', seconds: TOOL },
    { event: 'postToolUse', seconds: TOOL },
    { event: 'agentStop', seconds: START },
    { event: 'sessionEnd', seconds: END },
  ],
}
