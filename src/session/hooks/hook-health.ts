import type { Project } from '../../engine/store/project.ts'
import { localMinute } from '../../model/times.ts'
import { many } from '../briefing/format.ts'
import { missedEdits } from './backlog.ts'
import { hooksConfig } from './config.ts'
import { type Check, ok, wrong } from './doctor-line.ts'
import { hooksLogPath, hooksSeen } from './log.ts'

export const hookSummaries = (project: Project) =>
  [...Map.groupBy(hooksSeen(project), (h) => `${h.client} ${h.event}`).values()]
    .map((calls) => {
      const last = calls.at(-1)!
      const spent = calls.map((c) => c.ms).sort((a, b) => a - b)
      const failed = calls.filter((c) => c.errors?.length)
      const { errors: [lastError] = [], code } = failed.at(-1) ?? {}
      return {
        client: last.client,
        event: last.event,
        last: last.at,
        calls: calls.length,
        ms: spent[spent.length >> 1]!,
        errors: failed.length,
        since: calls.length - 1 - calls.lastIndexOf(failed.at(-1)!),
        lastError,
        code,
      }
    })
    .sort((a, b) => b.last - a.last)

const WAYS_OUT: Readonly<Record<string, string>> = {
  'store-busy':
    'another process was writing for longer than a hook may wait: edits are made up for, the rest comes with the next call; only if it goes on, look for a process that hangs',
  late: 'the machine was slow: TIDEMARK_HOOK_MS=600 in the environment of the client gives a hook more than 300 ms',
  'bad-call': 'the client sent something that this version does not know: update tidemark',
  config: 'until the setting is right the default is used',
  bug: 'a bug in tidemark if it goes on: please report it',
}
/** Every other code is of the store; a line of version 0.1.0 has none. */
const wayOut = (code = 'bug'): string =>
  WAYS_OUT[code] ?? 'the store could not be used then; what is wrong with it now stands above'

/** Wrong settings of hooks, and the last call of each client and event. `when` prints a moment. */
export function checkHooks(project: Project, when: (ms: number) => string = localMinute): Check[] {
  const checks = hooksConfig(project.hooks).problems.map((what) =>
    wrong('hooks.config', `.tidemark/config.json: ${what}`, 'until then the default is used'),
  )
  const seen = hookSummaries(project)
  if (seen.length === 0)
    checks.push(
      ok('hooks.calls', 'no hook has called yet: they do from the next session on of a client that is wired (below)'),
    )
  for (const h of seen) {
    const said = `hook ${h.client} ${h.event}: last ${when(h.last)}, ${many(h.calls, 'call')}, ${h.ms} ms`
    const missed = `${said}; ${h.errors} missed something${h.since === 0 ? '' : ` (the last ${h.since} did not)`}: ${h.lastError}`
    const fix = `${wayOut(h.code)} (every call: ${hooksLogPath(project)})`
    if (h.errors === 0) checks.push(ok('hooks.calls', said))
    else checks.push((h.since > 0 ? ok : wrong)('hooks.calls', missed, fix)) // what went well since is not to be mended
  }
  const waiting = missedEdits(project).length
  if (waiting > 0)
    checks.push(
      ok(
        'hooks.waiting',
        `${many(waiting, 'edit')} ${waiting === 1 ? 'waits' : 'wait'} to be noted: a hook could not in time, the next one of that session does`,
      ),
    )
  return checks
}
