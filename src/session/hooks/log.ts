import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { appendInside, inspect, readInside } from '../../base/files.ts'
import { redact } from '../../base/secrets/find.ts'
import { besideStore, type Project } from '../../engine/store/project.ts'
import { jsonIn } from '../../model/object.ts'

interface HookSeen {
  at: number
  client: string
  event: string
  session?: string
  ms: number
  /** What went wrong; the client was not told. */
  errors?: string[]
  code?: string
}

export type HookErrors = { readonly errors: string[]; code?: string }

export function noteError(to: HookErrors, code: string, ...texts: string[]): void {
  if (texts.length > 0) to.code ??= code
  to.errors.push(...texts)
}

export const errorCode = (error: unknown): string => (error instanceof UserError ? error.code : 'bug')

const LOG_MAX = 256 * 1024
const ERROR_MAX = 300

const LOG = 'hooks.log'

export const hooksLogPath = (project: Project): string => join(...besideStore(project, LOG))

/** Adds a line to a log beside the store. One that has grown too long goes to the side, and takes the place of the one before. */
function appendLog(project: Project, name: string, line: string, most: number): void {
  const [root, path] = besideStore(project, name)
  appendInside(root, path, line, { mode: 0o600 })
  const found = inspect(root, path)
  if (found.is === 'file' && found.stat.size > most) renameSync(join(root, path), join(root, `${path}.1`))
}

/** Adds a line; never throws: a disk that is full takes no line, and no client should hear of it. */
export function logHook(project: Project, seen: HookSeen): void {
  try {
    const errors = seen.errors?.map((e) => redact(e.replace(/\s+/g, ' ')).slice(0, ERROR_MAX))
    const line = JSON.stringify({ ...seen, ...(errors?.length ? { errors } : {}) })
    appendLog(project, LOG, `${errors?.length ? redact(line) : line}\n`, LOG_MAX)
  } catch {}
}

export function hooksSeen(project: Project): HookSeen[] {
  const [root, path] = besideStore(project, LOG)
  const lines = [`${path}.1`, path].flatMap((file) => `${readInside(root, file) ?? ''}`.split('\n'))
  return lines.map(jsonIn).filter((said) => said !== undefined) as HookSeen[]
}

export const hookTimeOf = (project: Project, session: string): number =>
  hooksSeen(project).reduce((sum, h) => (h.session === session ? sum + h.ms : sum), 0)
