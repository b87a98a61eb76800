import type { Command } from '../command.ts'

export const mcp: Command = {
  name: 'mcp',
  about: 'serves MCP over standard input and output; clients start it, people do not',
  usage: '',
  example: 'claude mcp add tidemark -- tidemark mcp',
  flags: {},
  async run(call) {
    const { runStdio } = await import('../mcp-stdio.ts')
    await runStdio({ directory: call.directory, ...(call.session !== undefined ? { session: call.session } : {}) })
    return undefined
  },
}
