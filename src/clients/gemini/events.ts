import { END, START, TOOL, TURN } from '../common/hook-seconds.ts'
import type { ClientEvents } from '../common/types.ts'

const WRITES = 'write_file|replace|edit|run_shell_command'
const TOOLS = `^(${WRITES}|mcp_tidemark_.*)$`

export const EVENTS: ClientEvents = {
  client: 'gemini',
  events: [
    { event: 'SessionStart', seconds: START },
    { event: 'BeforeAgent', seconds: TURN },
    { event: 'BeforeTool', matcher: TOOLS, seconds: TOOL },
    {
      event: 'AfterTool',
      matcher: `^(${WRITES}|read_file|mcp_tidemark_.*)$`,
      seconds: TOOL,
      former: { matcher: TOOLS },
    },
    { event: 'AfterAgent', seconds: START },
    // it asks before every turn whether to compress: only a person's wish is worth a process
    { event: 'PreCompress', matcher: 'manual', seconds: START },
    { event: 'SessionEnd', seconds: END },
  ],
}
