import { redact } from '../../secrets/find.ts'
import type { Project } from '../../store/project.ts'
import { appendLog } from '../log.ts'

const LOG_MAX = 128 * 1024

const LOG = 'extract.log'

/** A line beside the store on what did not work; never throws. */
export function logExtraction(project: Project, now: number, session: string, what: string): void {
  const line = `${new Date(now).toISOString()} ${session}: ${redact(what.replace(/\s+/g, ' ')).slice(0, 300)}\n`
  try {
    appendLog(project, LOG, line, LOG_MAX)
  } catch {}
}
