import { join } from 'node:path'
import { type JsonFile, jsonTarget, sharedServerPart } from './json-parts.ts'
import type { Target } from './target.ts'
import type { ClientContext } from './types.ts'

/** The file of the project that Claude Code and Copilot CLI read their servers from. */
export const mcpJson = (ctx: ClientContext, client: string): JsonFile => ({
  client,
  file: join(ctx.root, '.mcp.json'),
  scope: 'committed',
})

/** Our server in it. */
export function mcpJsonTarget(ctx: ClientContext, client: string): Target {
  const f = mcpJson(ctx, client)
  // in Claude Code the tools are there without being searched for
  return jsonTarget(f, [sharedServerPart(f, ['mcpServers'], (c) => ({ type: 'stdio', ...c, alwaysLoad: true }))])
}
