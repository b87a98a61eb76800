import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { onTestFinished } from 'vitest'
import { createProject } from '../../src/store/project.ts'
import { createServer, type ServerOptions, type TidemarkServer } from '../../src/surfaces/http.ts'

export const STDIO = new URL('stdio-entry.ts', import.meta.url).pathname

/** An empty directory that goes with the test. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-mcp-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** A directory that is a project. */
export function tempProject(name?: string): string {
  const dir = tempDir()
  createProject(dir, name ? { name } : {})
  return dir
}

/** A real server on a free port of the loopback interface. */
export async function listening(options: ServerOptions): Promise<TidemarkServer & { url: string }> {
  const server = createServer(options)
  const http = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const starting = serve({ fetch: server.app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(starting))
  })
  onTestFinished(async () => {
    await server.close()
    if ('closeAllConnections' in http) http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return { ...server, url: `http://127.0.0.1:${(http.address() as { port: number }).port}` }
}

/** What the environment of a test must not carry over to servers it starts. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...extra }
}
