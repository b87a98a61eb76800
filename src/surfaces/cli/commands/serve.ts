import { readFileSync } from 'node:fs'
import { attempt, refuse, UsageError, UserError } from '../../../base/errors.ts'
import { findProject } from '../../../engine/store/project.ts'
import { keepHeapSmall } from '../../heap.ts'
import type { Command } from '../command.ts'
import { isPerson } from './ui.ts'

function tokenIn(file: unknown): string | undefined {
  if (typeof file !== 'string') return undefined
  const token = attempt(
    () => readFileSync(file === '-' ? 0 : file, 'utf8').trim(),
    (error) => refuse('no-token', `${file} cannot be read: ${error.message}`, 'check --token-file'),
  )
  if (/^\S{16,}$/.test(token)) return token
  throw new UserError('no-token', 'a token is one word of at least 16 characters', 'such as `openssl rand -hex 32`')
}

export const serve: Command = {
  name: 'serve',
  about: 'serves MCP over Streamable HTTP and the HTTP API on 127.0.0.1, with a token; prints how to connect a client',
  example: 'tidemark serve --port 4747',
  flags: {
    port: { type: 'number', about: 'the port (0: any free one, which is printed)' },
    host: { type: 'text', about: 'the address to listen on (127.0.0.1)' },
    'token-file': {
      type: 'text',
      value: 'FILE|-',
      about:
        'a file that holds the token clients must show, - for stdin (default: $TIDEMARK_TOKEN, else one kept beside the store)',
    },
    token: { type: 'text', about: 'refused: everybody on this machine sees what a process was started with' },
  },
  async run(call) {
    keepHeapSmall()
    const { serve: start } = await import('../../http/serve.ts')
    const project = findProject(call.directory)
    const { port, host, token: shown } = call.flags
    if (shown !== undefined)
      throw new UsageError(
        '--token: every user of this machine can read the arguments of a process',
        'put the token into TIDEMARK_TOKEN, or into a file: --token-file FILE (- is stdin)',
      )
    const isPersons = !call.json && isPerson(project)
    const running = await start({
      project: project.root,
      isPersons,
      log: call.json ? call.err : call.out,
      port: typeof port === 'number' ? port : undefined,
      host: typeof host === 'string' ? host : undefined,
      token: tokenIn(call.flags['token-file']),
    })
    if (isPersons && running.link) call.out(`Dashboard, once, within 10 minutes:\n  ${running.link()}`)
    await running.ended
    return undefined
  },
}
