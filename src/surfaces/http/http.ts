import { createApp } from './app.ts'
import type { ServerOptions, TidemarkServer } from './types.ts'

export type { ServerOptions, TidemarkServer }

/**
 * The HTTP server of one or several projects: MCP under `/mcp`, every tool under `/api/tools/<name>`, what happens under
 * `/api/events`. Listening is the caller's.
 */
export function createServer(options: ServerOptions): TidemarkServer {
  return createApp(options) // apart, so that the published types name no package that is bundled
}
