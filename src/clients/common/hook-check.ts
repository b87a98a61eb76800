import { existsSync } from 'node:fs'
import { isLocalHook, pathsOfLocalHook } from './hook-command.ts'
import { below, findOnPath } from './path.ts'
import type { ClientContext, ClientEvents, Finding } from './types.ts'

/** A hook of ours as it stands in a file. */
export interface WiredHook {
  event: string
  command: string
  /** Whether it has the matcher that earlier versions gave it. */
  former: boolean
  file: string
}

/** Why a hook would not start, in words; undefined if it would, or if it is in words that we cannot judge. */
export function hookProblem(ctx: ClientContext, command: string): string | undefined {
  if (isLocalHook(command)) {
    const gone = pathsOfLocalHook(command).find((path) => !existsSync(path))
    return gone && `${gone} does not exist any more`
  }
  const bare = /(^|\s)(exec\s+)?tidemark\s+hook\s/.test(command)
  return bare && !findOnPath('tidemark', ctx.env ?? process.env)
    ? 'tidemark is not on the PATH of this machine'
    : undefined
}

const REWIRE = (client: string) => `run \`tidemark init --client ${client}\``
const listed = (words: readonly string[]) =>
  words.length > 3 ? `${words.slice(0, 3).join(', ')} and ${words.length - 3} more` : words.join(', ')

/**
 * Whether the hooks of a client are there, once each, for every event, and start. Hooks that cannot start here and are
 * silent then (the team's, where this machine has its own) do not count as a second time.
 */
export function hookFindings(
  ctx: ClientContext,
  { client, events: known }: ClientEvents,
  title: string,
  wired: readonly WiredHook[],
): Finding[] {
  const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
  if (wired.length === 0) {
    const dir = below(ctx)
    return [bad(`${title} has no hooks of Tidemark${dir ? ` where it is started in ${dir}` : ''}`, REWIRE(client))]
  }
  const starting = wired.filter((hook) => hookProblem(ctx, hook.command) === undefined)
  if (starting.length === 0) {
    const { file, command } = wired[0]!
    return [
      bad(
        `the hooks in ${file} do not start: ${hookProblem(ctx, command)}`,
        `install it with \`npm install -g tidemark\`, or ${REWIRE(client)} again from where it lies`,
      ),
    ]
  }
  const findings: Finding[] = []
  const events = known.map((e) => e.event)
  const missing = events.filter((event) => !starting.some((hook) => hook.event === event))
  const unknown = [...new Set(starting.map((hook) => hook.event))].filter((event) => !events.includes(event))
  const twice = events.filter((event) => starting.filter((hook) => hook.event === event).length > 1)
  const former = [...new Set(starting.filter((hook) => hook.former).map((hook) => hook.event))]
  if (missing.length + unknown.length + former.length > 0)
    findings.push(
      bad(
        `the hooks of ${title} were wired by another version of Tidemark: ${[
          ...(missing.length > 0 ? [`without ${listed(missing)}`] : []),
          ...(unknown.length > 0 ? [`with ${listed(unknown)}, which this version does not listen to`] : []),
          ...(former.length > 0 ? [`with another matcher for ${listed(former)}`] : []),
        ].join('; ')}`,
        REWIRE(client),
      ),
    )
  if (twice.length > 0) {
    const files = [...new Set(starting.filter((hook) => twice.includes(hook.event)).map((hook) => hook.file))]
    findings.push(
      bad(
        `hooks of ${title} run twice (${listed(twice)}): from ${files.length > 1 ? files.join(' and ') : `${files[0]} alone`}`,
        `${REWIRE(client)}, or take one of them out`,
      ),
    )
  }
  if (findings.length === 0) {
    const files = [...new Set(starting.map((hook) => hook.file))]
    findings.push({ client, ok: true, message: `${title} calls ${events.length} hooks from ${files.join(' and ')}` })
  }
  return findings
}
