import { createServer as createHttpServer, type ServerOptions, type TidemarkServer } from './surfaces/http/http.ts'
import { asProjectMemory, type ProjectMemory } from './surfaces/library.ts'

export { type ErrorDetails, UserError } from './base/errors.ts'
export { type StreamEvent, valueAfter } from './engine/feed/feed.ts'
export type { ActOptions, ActResult, News } from './engine/memory.ts'
export type { Briefing, BriefOptions } from './session/briefing/brief.ts'
export type { ServerOptions } from './surfaces/http/http.ts'
export {
  type ActivityScope, type Batch, type GoalScope, type Knowledge, type Known, type OpenMemoryOptions, openMemory,
  type ProjectMemory, type Recorded, type Relationship, type TaskScope, type TypedAction,
} from './surfaces/library.ts' // biome-ignore format: a list
export type { LiveDocument, YjsOptions, YjsReport } from './travel/formats/yjs-live.ts'
export type { Claim } from './work/coordination/claims.ts'
export type { Inbox } from './work/coordination/inbox.ts'
export type { Said, SessionInfo, Sessions } from './work/coordination/sessions.ts'
export type {
  EventsOptions, SharedContext, SharedStore, SharedValue, ShareOptions,
} from './work/coordination/shared-context.ts' // biome-ignore format: a list

/**
 * A server for those who embed it: the Hono app (`/mcp`, `POST /api/tools/<name>`, `/api/events` as SSE) over the
 * memory of a project, which is made if it is none. Listening is the caller's.
 */
export function createServer(options: ServerOptions): Omit<TidemarkServer, 'memory'> & { memory: ProjectMemory } {
  const server = createHttpServer(options)
  return { ...server, memory: asProjectMemory(server.memory, server.project) }
}
