import type { ClientName } from '../../../work/coordination/clients.ts'
import { checkHooks, checkServerIn, guarded, together } from './check.ts'
import { localCommand } from './command.ts'
import { type HookShape, hookParts, hooksIn } from './hook-parts.ts'
import { type JsonFile, jsonTarget, localServerPart, NAME, sharedServerPart } from './json-parts.ts'
import { seen } from './path.ts'
import { plugEither, type Target, unplugBoth } from './target.ts'
import type { Client, ClientContext, WiredEvent } from './types.ts'

type Scope = JsonFile['scope']

/** A client that reads the same JSON in the project, which the team shares, and in its home. */
interface TwoPlaces {
  name: ClientName
  events: readonly WiredEvent[]
  signs(ctx: ClientContext): string[]
  commands: string[]
  /** Where its servers stand, under `path`, and how one is written. */
  servers(ctx: ClientContext, scope: Scope): Omit<JsonFile, 'client' | 'scope'>
  path: string[]
  entry(command: ReturnType<typeof localCommand>, scope: Scope): object
  hooks?(ctx: ClientContext, scope: Scope): Omit<JsonFile, 'client' | 'scope'>
  shape: HookShape
  hookTarget?: typeof jsonTarget
}

export const SCOPES: readonly Scope[] = ['committed', 'local']

export function twoPlaces(spec: TwoPlaces) {
  const { name, events, path, shape } = spec
  const serverFile = (ctx: ClientContext, scope: Scope) => ({ client: name, scope, ...spec.servers(ctx, scope) })
  const hookFile = (ctx: ClientContext, scope: Scope) =>
    spec.hooks ? { client: name, scope, ...spec.hooks(ctx, scope) } : serverFile(ctx, scope)

  function targets(ctx: ClientContext, scope: Scope): Target[] {
    const [servers, hooks] = [serverFile(ctx, scope), hookFile(ctx, scope)]
    const server =
      scope === 'local'
        ? localServerPart(servers, path, spec.entry(localCommand(ctx), scope))
        : sharedServerPart(servers, path, (command) => spec.entry(command, scope))
    const parts = hookParts(hooks, events, shape, scope === 'local' ? ctx : undefined)
    if (hooks.file === servers.file) return [jsonTarget(servers, [server, ...parts])]
    return [jsonTarget(servers, [server]), (spec.hookTarget ?? jsonTarget)(hooks, parts)]
  }
  const wired = (ctx: ClientContext) => SCOPES.flatMap((scope) => hooksIn(hookFile(ctx, scope), events, shape))
  const client: Client = {
    name,
    events,
    detect: (ctx) => seen(ctx, name, spec.signs(ctx), ...spec.commands),
    files: (ctx) => [...new Set(SCOPES.flatMap((s) => [serverFile(ctx, s).file, hookFile(ctx, s).file]))],
    wire: (ctx) => plugEither(ctx, targets(ctx, 'committed'), targets(ctx, 'local')),
    unwire: (ctx) => unplugBoth(ctx, targets(ctx, 'committed'), targets(ctx, 'local')),
    check: (ctx) =>
      guarded(name, () => {
        const files = SCOPES.map((scope) => serverFile(ctx, scope))
        return together(checkServerIn(ctx, client, [...path, NAME], files), checkHooks(ctx, client, wired(ctx)))
      }),
  }
  return { client, targets, wired }
}
