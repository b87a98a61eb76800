import { randomUUID } from 'node:crypto'
import {
  createMcpHandler, InMemoryServerEventBus, isJsonContentType, isLegacyRequest, type McpRequestContext, type McpServer,
  type ServerEventBus, WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server' // biome-ignore format: a list
import { Connection } from '../../work/coordination/connection.ts'
import { onlyFollowable } from '../mcp/resources.ts'

/** Legacy clients seldom say goodbye: beyond this many sessions the one unused for longest goes. */
const MAX_LEGACY_SESSIONS = 256

interface HttpMcpOptions {
  /** `connection`: what the requests of a legacy session have in common; no others have anything. */
  build(context: { era: McpRequestContext['era'] }, connection?: Connection): Promise<McpServer>
  /** Tells what changes until it is stopped. */
  follow(onChange: (uri: string) => void): Promise<() => void>
  maxBodyBytes: number
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: McpServer
  readonly connection: Connection
}

/** Resource updates for `subscriptions/listen`, watched for only while somebody listens. */
function lazyBus(follow: HttpMcpOptions['follow']): ServerEventBus {
  const inner = new InMemoryServerEventBus()
  let following: Promise<(() => void) | undefined> | undefined
  return {
    publish: (event) => inner.publish(event),
    subscribe(listener) {
      const off = inner.subscribe(listener)
      following ??= follow((uri) => inner.publish({ kind: 'resource_updated', uri })).catch(() => undefined) // no project to follow
      return () => {
        off()
        if (inner.listenerCount > 0) return
        void following?.then((stop) => stop?.())
        following = undefined
      }
    },
  }
}

/** Streamable HTTP, both eras: modern requests each on a fresh server, legacy ones in sessions, or without one if they like. */
export function serveHttpMcp(options: HttpMcpOptions) {
  const { maxBodyBytes: maxRequestBodySize } = options
  const report = (error: Error) => {
    if (/^(Rejected|Unsupported protocol)/.test(error.message)) return // a client's mistake: it was told
    process.stderr.write(`tidemark mcp: ${error.message}\n`)
  }
  const bus = lazyBus(options.follow)
  const handler = createMcpHandler(({ era }) => options.build({ era }), { bus, maxRequestBodySize, onerror: report })
  const sessions = new Map<string, Session>()

  const open = async (): Promise<Session> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize,
      onsessioninitialized: (id) => {
        sessions.set(id, session)
        const oldest = sessions.size > MAX_LEGACY_SESSIONS ? sessions.keys().next().value : undefined
        if (oldest !== undefined) void drop(oldest)
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
        connection.end()
      },
    })
    const connection = new Connection()
    const session = { transport, connection, server: await options.build({ era: 'legacy' }, connection) }
    await session.server.connect(transport)
    return session
  }
  const drop = async (id: string) => {
    const session = sessions.get(id)
    sessions.delete(id)
    session?.connection.end()
    await session?.server.close()
  }
  const isInitialize = (body: unknown) =>
    (Array.isArray(body) ? body : [body]).some((m) => (m as { method?: unknown } | null)?.method === 'initialize')

  return {
    bus,
    async fetch(request: Request): Promise<Response> {
      const posted = request.method === 'POST' && isJsonContentType(request.headers.get('content-type'))
      let parsedBody: unknown
      if (posted) {
        try {
          parsedBody = await request.json()
        } catch {
          return rpcError(400, -32700, 'Parse error: the body is not JSON')
        }
        onlyFollowable(parsedBody)
      }
      const parsed = posted ? { parsedBody } : undefined
      const legacy = request.method !== 'POST' || (posted && (await isLegacyRequest(request, parsedBody)))
      if (!legacy) return handler.fetch(request, parsed)
      const id = request.headers.get('mcp-session-id')
      if (id !== null) {
        const session = sessions.get(id)
        if (!session) return rpcError(404, -32001, 'Session not found')
        sessions.delete(id)
        sessions.set(id, session) // most recently used last
        return session.transport.handleRequest(request, parsed)
      }
      if (posted && isInitialize(parsedBody)) return (await open()).transport.handleRequest(request, parsed)
      return handler.fetch(request, parsed)
    },
    async close() {
      await Promise.all([handler.close(), ...[...sessions.keys()].map(drop)])
    },
  }
}

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
