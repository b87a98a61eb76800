import type { SHARED } from './command.ts'

/** The file of a project that Claude Code and Copilot CLI read their servers from. */
export const MCP_JSON = '.mcp.json'

/** Our server in it. In Claude Code the tools are there without being searched for. */
export const mcpJsonEntry = (command: typeof SHARED) => ({ type: 'stdio', ...command, alwaysLoad: true })
