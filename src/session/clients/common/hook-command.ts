import { shellWord } from '../../../model/shell.ts'
import type { HookEvent } from '../../hooks/call.ts'
import type { Dialect } from './dialect.ts'
import type { ClientContext, WiredEvent } from './types.ts'

/** Seconds that a client may wait for us, unless five. Clients cut the end short (Claude Code 1.5 s, Codex 3 s). */
const SECONDS: Partial<Record<HookEvent, number>> = {
  'session-start': 10,
  'pre-compact': 10,
  stop: 10,
  'session-end': 3,
}

export const listened = (
  dialect: Pick<Dialect, 'events'>,
  names: readonly string[],
  matchers: Readonly<Record<string, Pick<WiredEvent, 'matcher' | 'former'>>> = {},
): WiredEvent[] =>
  names.map((event) => ({ event, ...matchers[event], seconds: SECONDS[dialect.events[event] ?? 'other'] ?? 5 }))

/** Our tools, as Claude Code and Codex call them. */
export const OURS = 'mcp__(plugin_tidemark_)?tidemark__.*'

/** Copilot CLI 1.0.102 also runs Claude Code's hooks (seen in a run): there these stay silent. */
const IN_COPILOT = '"$COPILOT_CLI"'
const FOREIGN = `[ -n ${IN_COPILOT} ] || `

/** A hook for the whole team: silent where tidemark is not on the PATH. */
export const sharedHook = (client: string, event: string) =>
  `if ${client === 'claude' ? `[ -z ${IN_COPILOT} ] && ` : ''}command -v tidemark >/dev/null; then exec tidemark hook ${client} ${event}; fi`

export const localHook = (ctx: ClientContext, client: string, event: string) =>
  `${client === 'claude' ? FOREIGN : ''}${shellWord(ctx.launcher.node)} ${shellWord(ctx.launcher.script)} hook ${client} ${event}`

/** What a shell command starts of ours, in whatever words; undefined if nothing. */
export function hookIn(command: unknown): { client: string; event: string } | undefined {
  const found = typeof command === 'string' && /tidemark(?:\.m?js)?['"]?\s+hook\s+([\w-]+)\s+([\w.-]+)/.exec(command)
  return found ? { client: found[1]!, event: found[2]! } : undefined
}

const LOCAL = /^('[^']+'|\/\S+|[A-Za-z]:\S+) ('[^']*tidemark(\.m?js)?'|\S*tidemark(\.m?js)?) hook \S+ \S+$/
const ownWords = (command: string) => (command.startsWith(FOREIGN) ? command.slice(FOREIGN.length) : command)

export const isLocalHook = (command: string): boolean => LOCAL.test(ownWords(command))

export const pathsOfLocalHook = (command: string): string[] =>
  ownWords(command)
    .match(/'[^']*'|\S+/g)!
    .slice(0, 2)
    .map((path) => path.replace(/^'|'$/g, ''))
