import { OURS } from '../common/hook-command.ts'
import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

const WRITES = 'Edit|Write|MultiEdit|NotebookEdit|Bash'
const TOOLS = `^(${WRITES}|${OURS})$`

export const EVENTS: ClientEvents = {
  client: 'claude',
  events: [
    { event: 'SessionStart', seconds: START },
    { event: 'UserPromptSubmit', seconds: TURN },
    { event: 'PreToolUse', matcher: TOOLS, seconds: TOOL },
    // what was understood of a file is told when it is read
    {
      event: 'PostToolUse',
      matcher: `^(${WRITES}|Read|${OURS})$`,
      seconds: TOOL,
      former: { matcher: TOOLS },
    },
    { event: 'PostToolUseFailure', matcher: TOOLS, seconds: TOOL },
    // at `/compact` the command would be printed before the person; the start after it does the same
    { event: 'PreCompact', matcher: 'auto', seconds: START, former: { matcher: undefined } },
    { event: 'Stop', seconds: START },
    { event: 'SubagentStart', seconds: TURN },
    { event: 'SubagentStop', seconds: TURN },
    { event: 'SessionEnd', seconds: END },
  ],
}
