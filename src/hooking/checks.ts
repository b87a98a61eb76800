import type { Project } from '../store/project.ts'
import { hooksConfig } from './config.ts'
import { hookSummaries, hooksLogPath } from './log.ts'

/** One line for `doctor`. */
export interface HookCheck {
  ok: boolean
  what: string
  hint?: string
}

const moment = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`

/**
 * What is set for hooks that is not accepted; the last call of each client and event, and what went wrong there. `when` says
 * a moment.
 */
export function checkHooks(project: Project, when: (ms: number) => string = moment): HookCheck[] {
  const checks: HookCheck[] = hooksConfig(project.hooks).problems.map((what) => ({
    ok: false,
    what: `.tidemark/config.json: ${what}`,
    hint: 'until then the default is used',
  }))
  const seen = hookSummaries(project)
  if (seen.length === 0)
    checks.push({ ok: true, what: 'no hook has called yet; `tidemark init` wires the clients that are here' })
  for (const h of seen) {
    const times = `${h.calls} ${h.calls === 1 ? 'call' : 'calls'}, ${h.ms} ms`
    const said = `hook ${h.client} ${h.event}: last ${when(h.last)}, ${times}`
    checks.push(
      h.errors === 0
        ? { ok: true, what: said }
        : { ok: false, what: `${said}; ${h.errors} with errors: ${h.lastError}`, hint: hooksLogPath(project) },
    )
  }
  return checks
}
