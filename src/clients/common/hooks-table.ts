import type { HookClient } from '../../hooks/call.ts'
import { shellWord } from '../../model/shell.ts'
import type { ClientContext } from './types.ts'

/** One event of a client that is listened to. `matcher` as the client reads it; `seconds` is how long it may wait for us. */
export interface HookEvent {
  event: string
  matcher?: string
  seconds: number
  /** What earlier versions wrote instead. */
  former?: { matcher: string | undefined }
}

const OURS = 'mcp__(plugin_tidemark_)?tidemark__.*'
const CLAUDE_WRITES = 'Edit|Write|MultiEdit|NotebookEdit|Bash'
const CLAUDE_TOOLS = `^(${CLAUDE_WRITES}|${OURS})$`
const CODEX_TOOLS = `^(apply_patch|Edit|Write|Bash|${OURS})$`
const GEMINI_WRITES = 'write_file|replace|edit|run_shell_command'
const GEMINI_TOOLS = `^(${GEMINI_WRITES}|mcp_tidemark_.*)$`

// The hook answers in some tens of milliseconds; what is allowed here is for a disk that stalls. Ending is cut short by
// the clients themselves (Claude Code 1.5 s, Codex 3 s).
const START = 10
const TURN = 5
const TOOL = 5
const END = 3

/**
 * Every event that is listened to, for each client under its own name for it: what `init` wires, what the plugin brings, and what
 * `doctor` expects to see. A test holds the three against each other.
 */
export const HOOKS: Readonly<Record<HookClient, readonly HookEvent[]>> = {
  claude: [
    { event: 'SessionStart', seconds: START },
    { event: 'UserPromptSubmit', seconds: TURN },
    { event: 'PreToolUse', matcher: CLAUDE_TOOLS, seconds: TOOL },
    // what was understood of a file is told when it is read
    {
      event: 'PostToolUse',
      matcher: `^(${CLAUDE_WRITES}|Read|${OURS})$`,
      seconds: TOOL,
      former: { matcher: CLAUDE_TOOLS },
    },
    { event: 'PostToolUseFailure', matcher: CLAUDE_TOOLS, seconds: TOOL },
    // at `/compact` the command would be printed before the person; the start after it does the same
    { event: 'PreCompact', matcher: 'auto', seconds: START, former: { matcher: undefined } },
    { event: 'Stop', seconds: START },
    { event: 'SubagentStart', seconds: TURN },
    { event: 'SubagentStop', seconds: TURN },
    { event: 'SessionEnd', seconds: END },
  ],
  codex: [
    { event: 'SessionStart', seconds: START },
    { event: 'UserPromptSubmit', seconds: TURN },
    { event: 'PreToolUse', matcher: CODEX_TOOLS, seconds: TOOL },
    { event: 'PostToolUse', matcher: CODEX_TOOLS, seconds: TOOL },
    { event: 'PreCompact', seconds: START },
    { event: 'Stop', seconds: START },
    { event: 'SubagentStart', seconds: TURN },
    { event: 'SubagentStop', seconds: TURN },
    { event: 'SessionEnd', seconds: END },
  ],
  gemini: [
    { event: 'SessionStart', seconds: START },
    { event: 'BeforeAgent', seconds: TURN },
    { event: 'BeforeTool', matcher: GEMINI_TOOLS, seconds: TOOL },
    {
      event: 'AfterTool',
      matcher: `^(${GEMINI_WRITES}|read_file|mcp_tidemark_.*)$`,
      seconds: TOOL,
      former: { matcher: GEMINI_TOOLS },
    },
    { event: 'AfterAgent', seconds: START },
    // it asks before every turn whether to compress: only a person's wish is worth a process
    { event: 'PreCompress', matcher: 'manual', seconds: START },
    { event: 'SessionEnd', seconds: END },
  ],
  copilot: [
    { event: 'sessionStart', seconds: START },
    { event: 'userPromptSubmitted', seconds: TURN },
    { event: 'preToolUse', seconds: TOOL },
    { event: 'postToolUse', seconds: TOOL },
    { event: 'agentStop', seconds: START },
    { event: 'sessionEnd', seconds: END },
  ],
  cursor: [
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
  opencode: [
    { event: 'session.created', seconds: START },
    { event: 'chat.message', seconds: TURN },
    { event: 'tool.execute.before', seconds: TOOL },
    { event: 'tool.execute.after', seconds: TOOL },
    { event: 'experimental.session.compacting', seconds: START },
    { event: 'session.idle', seconds: START },
    { event: 'session.deleted', seconds: END },
  ],
}

/**
 * Copilot CLI 1.0.102 runs the hooks in Claude Code's settings as well (seen in a run), beside its own: there Claude Code's stay
 * silent, or everything would be told twice.
 */
const IN_COPILOT = '"$COPILOT_CLI"'
const FOREIGN = `[ -n ${IN_COPILOT} ] || `

/**
 * The shell words of a hook that everybody in the team can run: where tidemark is not on the PATH, nothing happens and the client
 * is told of no failure.
 */
export const sharedHook = (client: HookClient, event: string) =>
  `if ${client === 'claude' ? `[ -z ${IN_COPILOT} ] && ` : ''}command -v tidemark >/dev/null; then exec tidemark hook ${client} ${event}; fi`

/** The shell words of a hook on this machine alone, with full paths. */
export const localHook = (ctx: ClientContext, client: HookClient, event: string) =>
  `${client === 'claude' ? FOREIGN : ''}${shellWord(ctx.launcher.node)} ${shellWord(ctx.launcher.script)} hook ${client} ${event}`

/** What a shell command starts of ours, in whatever words; undefined if nothing. */
export function hookIn(command: unknown): { client: string; event: string } | undefined {
  const found = typeof command === 'string' && /tidemark(?:\.m?js)?['"]?\s+hook\s+([\w-]+)\s+([\w.-]+)/.exec(command)
  return found ? { client: found[1]!, event: found[2]! } : undefined
}

const LOCAL = /^('[^']+'|\/\S+|[A-Za-z]:\S+) ('[^']*tidemark(\.m?js)?'|\S*tidemark(\.m?js)?) hook \S+ \S+$/
const ownWords = (command: string) => (command.startsWith(FOREIGN) ? command.slice(FOREIGN.length) : command)

/** Whether a command is the one of some machine, as we write it there. */
export const isLocalHook = (command: string): boolean => LOCAL.test(ownWords(command))

/** The paths in such a command: of Node and of the script. */
export const pathsOfLocalHook = (command: string): string[] =>
  ownWords(command)
    .match(/'[^']*'|\S+/g)!
    .slice(0, 2)
    .map((path) => path.replace(/^'|'$/g, ''))
