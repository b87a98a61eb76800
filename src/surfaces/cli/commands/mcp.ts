import type { Command } from '../command.ts'

export const mcp: Command = {
  name: 'mcp',
  about: 'serves MCP over standard input and output; clients start it, people do not',
  example: 'claude mcp add tidemark -- tidemark mcp',
  flags: {},
  async run(call) {
    const { runStdio } = await import('../../mcp/stdio.ts')
    if (call.session !== undefined) process.env.TIDEMARK_SESSION = call.session
    const named = call.flags.project ?? process.env.TIDEMARK_PROJECT
    await runStdio(typeof named === 'string' && named !== '' ? named : undefined)
    return undefined
  },
}
