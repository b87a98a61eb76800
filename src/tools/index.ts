import type { Tool } from './tool.ts'

/**
 * Every tool, loaded when it is called: start-up pays for one. The command line, MCP and HTTP all offer what stands here.
 */
export const TOOLS: Readonly<Record<string, () => Promise<Tool>>> = {
  discover: async () => (await import('./discover.ts')).discover,
  act: async () => (await import('./act.ts')).act,
}
