import { join } from 'node:path'
import { type JsonFile, jsonTarget, NAME, serverPart } from './json-parts.ts'
import type { Target } from './target.ts'
import type { ClientContext } from './types.ts'

/** The same words for everybody in the team, and in Claude Code the tools are there without being searched for. */
const SHARED = { type: 'stdio', command: NAME, args: ['mcp'], alwaysLoad: true }

/** The file of the project that Claude Code and Copilot CLI read their servers from. */
export const mcpJson = (ctx: ClientContext, client: string): JsonFile => ({
  client,
  file: join(ctx.root, '.mcp.json'),
  scope: 'committed',
})

/** Our server in it. */
export function mcpJsonTarget(ctx: ClientContext, client: string): Target {
  const f = mcpJson(ctx, client)
  return jsonTarget(f, [serverPart(f, ['mcpServers'], SHARED, () => false)])
}
