import { OURS } from '../common/hook-command.ts'
import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

const TOOLS = `^(apply_patch|Edit|Write|Bash|${OURS})$`

export const EVENTS: ClientEvents = {
  client: 'codex',
  events: [
    { event: 'SessionStart', seconds: START },
    { event: 'UserPromptSubmit', seconds: TURN },
    { event: 'PreToolUse', matcher: TOOLS, seconds: TOOL },
    { event: 'PostToolUse', matcher: TOOLS, seconds: TOOL },
    { event: 'PreCompact', seconds: START },
    { event: 'Stop', seconds: START },
    { event: 'SubagentStart', seconds: TURN },
    { event: 'SubagentStop', seconds: TURN },
    { event: 'SessionEnd', seconds: END },
  ],
}
