import { existsSync } from 'node:fs'
import { unlessRefused } from '../../../base/errors.ts'
import { CLIENT_FACTS } from '../../../work/coordination/clients.ts'
import { type Check, off, ok, wrong } from '../../hooks/doctor-line.ts'
import { launchProblem } from './command.ts'
import { isLocalHook, pathsOfLocalHook } from './hook-command.ts'
import { at } from './json.ts'
import { type JsonFile, settingsIn, starts, wordsOf } from './json-parts.ts'
import { below, findOnPath } from './path.ts'
import type { Plugin } from './plugins.ts'
import type { Client, ClientContext } from './types.ts'

type Named = Pick<Client, 'name' | 'events'>

const rewire = (client: string) => `run \`tidemark init --client ${client}\``

export type Judged = readonly (Check | false | undefined)[]

/** A check, where a file that cannot be read is what it finds and not the end of all checks. */
export const guarded = (client: string, check: () => Judged): Check[] =>
  unlessRefused(
    () => check().filter((c): c is Check => typeof c === 'object'),
    ({ message, hint }) => [wrong(`${client}.files`, message, hint)],
  )

export type Found = { file: string; entry: unknown }

/** Whether the server that counts is ours and starts. `hidden` are those that the client would take if it were not there. */
export function checkServer(
  ctx: ClientContext,
  { name }: Named,
  found: Found | undefined,
  missing: string,
  hidden: readonly Found[] = [],
): Check {
  const id = `${name}.server`
  const { title } = CLIENT_FACTS[name]
  if (!found) return off(id, `${title} is not wired: ${missing}`, `${rewire(name)} to wire it`)
  const other = `${found.file} has a server called tidemark that starts something else`
  if (!starts(found.entry)) return wrong(id, other, 'rename or remove it, then run `tidemark init`')
  const problem = launchProblem(ctx, ...wordsOf(found.entry))
  if (problem === undefined) return ok(id, `${title} starts tidemark from ${found.file}`)
  const works = hidden.find((f) => starts(f.entry) && launchProblem(ctx, ...wordsOf(f.entry)) === undefined)
  const fix = works
    ? `: ${works.file} would start it, but ${title} takes the first`
    : ', or run `tidemark init` again from where it lies'
  return wrong(id, `${found.file}: ${problem}`, `install it with \`npm install -g tidemark\`${fix}`)
}

/** The same for a client that takes the first of these files with an entry at `path`. */
export function checkServerIn(ctx: ClientContext, client: Named, path: readonly string[], files: JsonFile[]): Check {
  const [found, ...hidden] = files
    .map((f) => ({ file: f.file, entry: at(settingsIn(f), ...path) }))
    .filter((f) => f.entry !== undefined)
  return checkServer(ctx, client, found, `${files[0]!.file} has no server tidemark`, hidden)
}

export interface WiredHook {
  event: string
  command: string
  /** Whether it has the matcher that earlier versions gave it. */
  former: boolean
  file: string
}

/** Why a hook would not start, in words; undefined if it would, or if it is in words that we cannot judge. */
function hookProblem(ctx: ClientContext, command: string): string | undefined {
  if (isLocalHook(command)) {
    const gone = pathsOfLocalHook(command).find((path) => !existsSync(path))
    return gone && `${gone} does not exist any more`
  }
  return /(^|\s)(exec\s+)?tidemark\s+hook\s/.test(command) && !findOnPath('tidemark', ctx.env ?? process.env)
    ? 'tidemark is not on the PATH of this machine'
    : undefined
}

const listed = (words: readonly string[]) =>
  words.length > 3 ? `${words.slice(0, 3).join(', ')} and ${words.length - 3} more` : words.join(', ')

/** Whether every hook is there once and starts. Hooks of the team that cannot start here do not count as doubles. */
export function checkHooks(ctx: ClientContext, client: Named, wired: readonly WiredHook[]): Check[] {
  const { name } = client
  const { title } = CLIENT_FACTS[name]
  const id = `${name}.hooks`
  if (wired.length === 0) {
    const dir = below(ctx)
    return [off(id, `${title} has no hooks of Tidemark${dir ? ` where it is started in ${dir}` : ''}`, rewire(name))]
  }
  const starting = wired.filter((hook) => hookProblem(ctx, hook.command) === undefined)
  if (starting.length === 0) {
    const { file, command } = wired[0]!
    const fix = `install it with \`npm install -g tidemark\`, or ${rewire(name)} again from where it lies`
    return [wrong(id, `the hooks in ${file} do not start: ${hookProblem(ctx, command)}`, fix)]
  }
  const events = client.events.map((e) => e.event)
  const eventsOf = (hooks: readonly WiredHook[]) => [...new Set(hooks.map((hook) => hook.event))]
  const filesOf = (hooks: readonly WiredHook[]) => [...new Set(hooks.map((hook) => hook.file))]
  const count = (event: string) => starting.filter((hook) => hook.event === event).length
  const missing = events.filter((event) => count(event) === 0)
  const unknown = eventsOf(starting).filter((event) => !events.includes(event))
  const former = eventsOf(starting.filter((hook) => hook.former))
  const twice = events.filter((event) => count(event) > 1)
  const differs = [
    missing.length > 0 && `without ${listed(missing)}`,
    unknown.length > 0 && `with ${listed(unknown)}, which this version does not listen to`,
    former.length > 0 && `with another matcher for ${listed(former)}`,
  ].filter((difference) => difference)
  const found: Check[] = []
  if (differs.length > 0)
    found.push(
      wrong(id, `the hooks of ${title} were wired by another version of Tidemark: ${differs.join('; ')}`, rewire(name)),
    )
  if (twice.length > 0) {
    const files = filesOf(starting.filter((hook) => twice.includes(hook.event)))
    const from = files.length > 1 ? files.join(' and ') : `${files[0]} alone`
    const fix = files.length > 1 ? 'take those of Tidemark out of one of them' : rewire(name)
    found.push(wrong(id, `hooks of ${title} run twice (${listed(twice)}): from ${from}`, fix))
  }
  if (found.length > 0) return found
  return [ok(id, `${title} calls ${events.length} hooks from ${filesOf(starting).join(' and ')}`)]
}

/** A plugin brings the server and the hooks; what is wired by hand beside it is one too many. `out` takes it out of the client. */
export const checkPlugin = (
  { name }: Named,
  plugin: Plugin,
  wired: readonly WiredHook[],
  called: string,
  out: string,
): Check[] => {
  const there = ok(`${name}.plugin`, `${plugin.id} is installed (${plugin.file})`)
  const [twice] = wired
  if (!twice) return [there]
  const text = `the ${called} and hooks in ${twice.file} are both there; the ${called}'s stay silent here`
  const fix = `run \`tidemark init\` to take out what this machine wired, or \`${out}\``
  return [there, wrong(`${name}.twice`, text, fix)]
}

export const needed = (checks: readonly Check[]): Check[] =>
  checks.map((c) => (c.state === 'off' ? { ...c, state: 'wrong' } : c))

/** What is said of server and hooks together: where there is neither, the server alone is told of. */
export const together = (server: Check, hooks: readonly Check[]): Check[] =>
  server.state !== 'ok' && hooks.some((c) => c.state === 'off') ? [server] : [server, ...needed(hooks)]
