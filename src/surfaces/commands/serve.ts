import { findProject } from '../../store/project.ts'
import type { Command } from '../command.ts'

export const serve: Command = {
  name: 'serve',
  about: 'serves MCP over Streamable HTTP and the HTTP API on 127.0.0.1, with a token; prints how to connect a client',
  usage: '',
  example: 'tidemark serve --port 4747',
  flags: {
    port: { type: 'number', about: 'the port (0: any free one, which is printed)' },
    host: { type: 'text', about: 'the address to listen on (127.0.0.1)' },
    token: {
      type: 'text',
      about: 'the token clients must show (default: $TIDEMARK_TOKEN, else one kept beside the store)',
    },
  },
  async run(call) {
    const { serve: start } = await import('../serve.ts')
    const project = findProject(call.directory)
    const { port, host, token } = call.flags
    const running = await start({
      project: project.root,
      log: call.json ? call.err : call.out,
      ...(typeof port === 'number' ? { port } : {}),
      ...(typeof host === 'string' ? { host } : {}),
      ...(typeof token === 'string' ? { token } : {}),
    })
    await running.ended
    return undefined
  },
}
