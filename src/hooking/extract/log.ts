import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { redact } from '../../secrets/find.ts'
import type { Project } from '../../store/project.ts'

const LOG_MAX = 128 * 1024

export const extractionLog = (project: Project): string => join(dirname(project.storePath), 'extract.log')

/** A line beside the store on what did not work; never throws. */
export function logExtraction(project: Project, now: number, session: string, what: string): void {
  const path = extractionLog(project)
  try {
    appendFileSync(
      path,
      `${new Date(now).toISOString()} ${session}: ${redact(what.replace(/\s+/g, ' ')).slice(0, 300)}\n`,
      {
        mode: 0o600,
      },
    )
    if (statSync(path).size > LOG_MAX) renameSync(path, `${path}.1`)
  } catch {}
}
