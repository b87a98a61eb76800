import { hostname, networkInterfaces } from 'node:os'
import { serve as listen } from '@hono/node-server'
import { UserError } from '../../base/errors.ts'
import { createApp } from './app.ts'
import { Dashboard } from './dashboard.ts'
import { LOOPBACK } from './guard.ts'

export interface ServeOptions {
  /** A directory in the project. */
  project: string
  /** 0: one that is free. */
  port?: number
  /** What to listen on; anything but loopback is for those who asked for it. */
  host?: string
  token?: string
  /** Whether a person on a terminal starts it, who may then decide on its pages. */
  isPersons?: boolean
  log(line: string): void
}

export interface Serving {
  readonly url: string
  readonly token: string
  /** Opens the dashboard in one browser, once; on loopback alone. */
  link?(): string
  close(): Promise<void>
  /** Resolves when the server has ended, by `close` or by a signal. */
  readonly ended: Promise<void>
}

/** Serves a project that exists over HTTP until it is closed or a signal comes, and says how clients connect. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { host = '127.0.0.1', port = 0 } = options
  const loopback = (LOOPBACK as readonly string[]).includes(bracketed(host))
  const dashboard = loopback ? new Dashboard(options.isPersons ?? false, Date.now) : undefined
  const server = createApp(
    {
      projectPath: options.project,
      create: false,
      token: options.token,
      allowedHosts: loopback ? [] : namesOfThisMachine(host),
    },
    undefined,
    dashboard,
  )
  const token = server.token!
  let bound: { port: number }
  let http: ReturnType<typeof listen>
  try {
    http = await new Promise((resolve, reject) => {
      const starting = listen({ fetch: server.app.fetch, hostname: host, port }, () => resolve(starting))
      starting.once('error', reject)
    })
    bound = http.address() as { port: number }
  } catch (error) {
    await server.close()
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error
    throw new UserError('cannot-listen', `cannot listen on ${host}:${port} (${code})`, 'give another --port, or none')
  }

  const { promise: ended, resolve: done } = Promise.withResolvers<void>()
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const signal of SIGNALS) process.off(signal, close)
      http.close()
      await server.close() // ends the streams with a proper last word
      if ('closeAllConnections' in http) http.closeAllConnections()
      done()
    })()
    return closing
  }
  for (const signal of SIGNALS) process.on(signal, close)

  const anywhere = host === '0.0.0.0' || host === '::'
  const shown = anywhere ? (addresses().find((a) => !a.internal && a.family === 'IPv4')?.address ?? '127.0.0.1') : host
  const url = `http://${bracketed(shown)}:${bound.port}`
  if (!loopback) options.log('reachable from other machines, unencrypted: whoever has the token reads and writes')
  options.log(`tidemark listens on ${url}`)
  options.log(`project: ${options.project}`)
  options.log('Ctrl-C stops it; what is recorded stays')
  for (const line of howToConnect(url, token)) options.log(line)
  return { url, token, link: dashboard && (() => `${url}/${dashboard.link()}`), close, ended }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const addresses = () => Object.values(networkInterfaces()).flatMap((all) => all ?? [])
const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address)

const namesOfThisMachine = (host: string): string[] =>
  [host, hostname().toLowerCase(), ...addresses().map((a) => a.address)].map(bracketed)

function howToConnect(url: string, token: string): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Claude Code fills it in, for the file is shared
  const headers = { Authorization: 'Bearer ${TIDEMARK_TOKEN}' }
  return [
    '',
    'Claude Code:',
    `  claude mcp add --transport http tidemark ${url}/mcp --header "Authorization: Bearer ${token}"`,
    '.mcp.json, with the token as TIDEMARK_TOKEN in the environment of the client, and never in a file that git tracks:',
    `  ${JSON.stringify({ mcpServers: { tidemark: { type: 'http', url: `${url}/mcp`, headers } } })}`,
    'Anything else:',
    `  curl -s ${url}/api/tools/discover -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '{"expr":"(kinds)"}'`,
  ]
}
