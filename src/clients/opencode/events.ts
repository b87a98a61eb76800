import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

export const EVENTS: ClientEvents = {
  client: 'opencode',
  events: [
    { event: 'session.created', seconds: START },
    { event: 'chat.message', seconds: TURN },
    { event: 'tool.execute.before', seconds: TOOL },
    { event: 'tool.execute.after', seconds: TOOL },
    { event: 'experimental.session.compacting', seconds: START },
    { event: 'session.idle', seconds: START },
    { event: 'session.deleted', seconds: END },
  ],
}
