import type { Hono } from 'hono'
import type { Env } from '../../base/env.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'

export interface ServerOptions {
  /** A directory in the project; made a project if it is none yet, unless `create` is false. */
  projectPath: string
  /** The name of the project, if it is made here. */
  projectName?: string
  /** Where the store lies, instead of the git common directory. */
  persistencePath?: string
  /** A hub to exchange knowledge with while the server runs, as `https://hub.example.org`; `tidemark join` is for good. */
  syncUrl?: string
  /** What the hub knows this server by. */
  syncToken?: string
  /** What callers must show as `Authorization: Bearer …`; the token file beside the store unless given; false: none, the embedder sees to it. */
  token?: string | false
  /** Directories of further projects to serve. A call then says which it means. */
  projects?: readonly string[]
  create?: boolean
  /** Names under which the server may be addressed besides the loopback ones. */
  allowedHosts?: readonly string[]
  env?: Env
}

export interface TidemarkServer {
  /** A Hono app, to be served as it is or mounted in another one. */
  readonly app: Hono
  readonly memory: Memory
  readonly project: Project
  readonly token: string | undefined
  /** Ends every stream and closes the stores. */
  close(): Promise<void>
}
