import { asProjectMemory, type ProjectMemory } from './library.ts'
import { createServer as createHttpServer, type ServerOptions, type TidemarkServer } from './surfaces/http/http.ts'

export type { Briefing, BriefOptions } from './briefing/brief.ts'
export type { Claim } from './coordination/claims.ts'
export type { Inbox } from './coordination/inbox.ts'
export type { Said, SessionInfo, Sessions } from './coordination/sessions.ts'
export type {
  EventsOptions,
  SharedContext,
  SharedStore,
  SharedValue,
  ShareOptions,
} from './coordination/shared-context.ts'
export { type ErrorDetails, UserError } from './errors.ts'
export { type StreamEvent, valueAfter } from './feed/feed.ts'
export type { LiveDocument, YjsOptions, YjsReport } from './formats/yjs-live.ts'
export {
  type ActivityScope,
  type Batch,
  type GoalScope,
  type Knowledge,
  type Known,
  type OpenMemoryOptions,
  openMemory,
  type ProjectMemory,
  type Recorded,
  type Relationship,
  type TaskScope,
  type TypedAction,
} from './library.ts'
export type { ActOptions, ActResult, News } from './memory.ts'
export type { ServerOptions } from './surfaces/http/http.ts'

/**
 * A server for those who embed it: the Hono app (`/mcp`, `POST /api/tools/<name>`, `/api/events` as SSE) over the
 * memory of a project, which is made if it is none. Listening is the caller's.
 */
export function createServer(options: ServerOptions): Omit<TidemarkServer, 'memory'> & { memory: ProjectMemory } {
  const server = createHttpServer(options)
  return { ...server, memory: asProjectMemory(server.memory, server.project) }
}
