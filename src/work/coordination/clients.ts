/** Facts about each client, in one place. How a client is wired and called stands in `session/clients/`. */
export interface ClientFacts {
  readonly title: string
  /** For the names of sessions. */
  readonly label: string
  /** How it names itself over MCP; undefined where that only contains its key. */
  readonly mcpName: string | undefined
  /** The environment variable that names its session to what it starts. */
  readonly sessionVariable: string | undefined
  /** Further variables in the environment of the programs that its agent runs. */
  readonly agentVariables: readonly string[]
  /** Those of its variables that its own hooks have too. */
  readonly hookVariables: readonly string[]
  /** Variables of its session, which a client that is started within it must not inherit. */
  readonly innerVariables: readonly string[]
  /** The command that goes on with a session. */
  readonly resume: ((session: string) => string) | undefined
  /** The usual context window, in tokens. */
  readonly contextTokens: number | undefined
  /** A variable that names a file which its agent's shell reads before each command. */
  readonly shellFileVariable: string | undefined
  /** A variable that says at how many tokens it compacts. */
  readonly compactVariable: string | undefined
  /** Instruction files that it reads by itself; `instead` is read where the first of them is missing. */
  readonly instructions: readonly string[]
  readonly instead: string | undefined
  /** Whether an instruction file may import others with `@path`. */
  readonly importsFiles: boolean
  /** Its folder of rules, and whether all are read at the start. */
  readonly rules: { folder: string; extension: string; areRead: boolean } | undefined
  /** Folders that hold skills, commands and agents. */
  readonly skills: readonly string[]
  readonly commands: readonly string[]
  readonly agents: readonly string[]
  /** Whether its hooks are told of an edit only afterwards. */
  readonly tellsEditsLate: boolean
}

/** What holds of a client unless its facts say something else. */
const UNSAID = {
  mcpName: undefined,
  sessionVariable: undefined,
  hookVariables: [],
  innerVariables: [],
  resume: undefined,
  contextTokens: undefined,
  shellFileVariable: undefined,
  compactVariable: undefined,
  instructions: ['AGENTS.md'],
  instead: undefined,
  importsFiles: false,
  rules: undefined,
  commands: [],
  agents: [],
  tellsEditsLate: false,
} as const

export const CLIENT_FACTS = {
  claude: {
    ...UNSAID,
    title: 'Claude Code',
    label: 'Claude',
    mcpName: 'claude-code',
    sessionVariable: 'CLAUDE_CODE_SESSION_ID',
    agentVariables: ['CLAUDECODE'],
    hookVariables: ['CLAUDE_CODE_SESSION_ID', 'CLAUDECODE', 'AI_AGENT'], // seen in 2.1.330, against its documentation
    innerVariables: ['CLAUDECODE', 'CLAUDE_PID', 'CLAUDE_PROJECT_DIR', 'CLAUDE_ENV_FILE', 'CLAUDE_CODE_ENTRYPOINT'],
    resume: (session) => `claude --resume ${session}`,
    contextTokens: 200_000,
    shellFileVariable: 'CLAUDE_ENV_FILE',
    compactVariable: 'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
    instructions: ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'],
    instead: 'AGENTS.md',
    importsFiles: true,
    rules: { folder: '.claude/rules', extension: '.md', areRead: true },
    skills: ['.claude/skills'],
    commands: ['.claude/commands'],
    agents: ['.claude/agents'],
  },
  codex: {
    ...UNSAID,
    title: 'Codex',
    label: 'Codex',
    mcpName: 'codex-mcp-client',
    sessionVariable: 'CODEX_THREAD_ID',
    agentVariables: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED'],
    hookVariables: ['CODEX_THREAD_ID'],
    resume: (session) => `codex resume ${session}`,
    contextTokens: 272_000,
    skills: ['.agents/skills', '.codex/skills'],
  },
  gemini: {
    ...UNSAID,
    title: 'Gemini CLI',
    label: 'Gemini',
    mcpName: 'gemini-cli-mcp-client',
    sessionVariable: 'GEMINI_SESSION_ID',
    agentVariables: ['GEMINI_CLI'],
    hookVariables: ['GEMINI_SESSION_ID'],
    innerVariables: ['GEMINI_PROJECT_DIR', 'GEMINI_CWD'],
    resume: (session) => `gemini --resume ${session}`,
    contextTokens: 1_048_576,
    instructions: ['GEMINI.md'],
    importsFiles: true,
    skills: ['.gemini/skills'],
  },
  copilot: {
    ...UNSAID,
    title: 'Copilot CLI',
    label: 'Copilot',
    agentVariables: ['COPILOT_CLI'],
    hookVariables: ['COPILOT_CLI'],
    resume: (session) => `copilot --resume ${session}`,
    instructions: ['AGENTS.md', '.github/copilot-instructions.md'],
    rules: { folder: '.github/instructions', extension: '.instructions.md', areRead: false },
    skills: ['.github/skills'],
    agents: ['.github/agents'],
  },
  cursor: {
    ...UNSAID,
    title: 'Cursor',
    label: 'Cursor',
    agentVariables: ['CURSOR_AGENT'],
    rules: { folder: '.cursor/rules', extension: '.mdc', areRead: false },
    skills: ['.cursor/skills'],
    commands: ['.cursor/commands'],
    tellsEditsLate: true,
  },
  opencode: {
    ...UNSAID,
    title: 'opencode',
    label: 'opencode',
    agentVariables: ['OPENCODE'],
    hookVariables: ['OPENCODE', 'AGENT', 'AI_AGENT'],
    resume: (session) => `opencode --session ${session}`,
    skills: ['.opencode/skills'],
    commands: ['.opencode/commands'],
  },
} as const satisfies Readonly<Record<string, ClientFacts>>

export type ClientName = keyof typeof CLIENT_FACTS
export const CLIENT_NAMES = Object.keys(CLIENT_FACTS) as readonly ClientName[]
export const ALL_FACTS: readonly ClientFacts[] = Object.values(CLIENT_FACTS)

/** The facts about a client, also under a longer name: `claude-code`. */
export function factsOf(client: string | undefined): ClientFacts | undefined {
  const name = client?.split(/[^a-z]/i)[0]?.toLowerCase() ?? ''
  return Object.hasOwn(CLIENT_FACTS, name) ? CLIENT_FACTS[name as ClientName] : undefined
}
