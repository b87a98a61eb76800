import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

export const EVENTS: ClientEvents = {
  client: 'cursor',
  events: [
    { event: 'sessionStart', seconds: START },
    { event: 'beforeSubmitPrompt', seconds: TURN },
    { event: 'preToolUse', seconds: TOOL },
    { event: 'postToolUse', seconds: TOOL },
    { event: 'postToolUseFailure', seconds: TOOL },
    { event: 'afterFileEdit', seconds: TOOL },
    { event: 'subagentStart', seconds: TURN },
    { event: 'subagentStop', seconds: TURN },
    { event: 'preCompact', seconds: START },
    { event: 'stop', seconds: START },
    { event: 'sessionEnd', seconds: END },
  ],
}
