import { covers, tidyPath } from '../../engine/claims/glob.ts'
import { commandsIn, programOf } from '../../model/commands.ts'
import { accepted, flag, type Leaf, listOf, number, oneOf, type SettingProblem } from '../../model/settings.ts'

/** What a project may set of hooks, under `hooks` in `.tidemark/config.json`; what it does not say has these values. */
export const HOOK_DEFAULTS = {
  /** An edit of what another session has claimed: refused, left to the person, or let pass with a warning. */
  conflict: 'deny' as 'warn' | 'ask' | 'deny',
  /** The same where the other session has only been editing the file: nobody claimed it by name. `once`: refused, until tried again. */
  implicitConflict: 'once' as 'warn' | 'once' | 'ask' | 'deny',
  /** Whether an edit takes a claim on its file for ten minutes. */
  implicitClaims: true,
  /** Whether prompts and failures are noticed. */
  capture: true,
  /** Whether what a person types is kept on this machine, for 90 days. */
  keepPrompts: true,
  /** Whether an agent that recorded nothing in a long session is asked once before it stops. */
  askAtStop: true,
  /** Whether knowledge that answers a prompt comes with it. */
  recall: true,
  /** Percent of the context at which the handoff is written and asked for; 0 never. */
  handoffAt: 80,
  /** Files of which nothing is noted or captured, as globs relative to the project. */
  excludePaths: [] as readonly string[],
  /** Commands of which nothing is noted or captured: those that begin so, or match with `*`. */
  excludeCommands: [] as readonly string[],
}

export type HooksConfig = typeof HOOK_DEFAULTS

const SETTINGS: { readonly [K in keyof HooksConfig]: Leaf } = {
  conflict: oneOf(['warn', 'ask', 'deny']),
  implicitConflict: oneOf(['warn', 'once', 'ask', 'deny']),
  implicitClaims: flag,
  capture: flag,
  keepPrompts: flag,
  askAtStop: flag,
  recall: flag,
  handoffAt: number(0, 100),
  excludePaths: listOf('a list of globs', 200, 500),
  excludeCommands: listOf('a list of commands', 200, 500),
}

/** The configuration. A hook never fails its client: a wrong setting has its default, and is a problem for `doctor`. */
export function hooksConfig(raw: unknown): { config: HooksConfig; problems: string[] } {
  if (raw === undefined) return { config: HOOK_DEFAULTS, problems: [] }
  const problems: SettingProblem[] = []
  const config = { ...HOOK_DEFAULTS, ...accepted({ of: SETTINGS }, raw, 'hooks', problems) }
  return { config, problems: problems.map((p) => `${p.path}: ${p.message}; ${p.accepted}`) }
}

/** Whether a path, relative to the work tree, is one of which nothing may be noted; `*.env` means one in any directory. */
export const excludedPath = (config: HooksConfig, path: string): boolean =>
  config.excludePaths.some((glob) => covers(glob.includes('/') ? (tidyPath(glob) ?? glob) : `**/${glob}`, path))

/** Whether a command, or one within it, is of those of which nothing may be noted: `cd x && sudo vault read y` is `vault`. */
export function excludedCommand(config: HooksConfig, command: string): boolean {
  if (config.excludeCommands.length === 0) return false
  // wherever a command may begin, in quotes and behind what only starts it: of what is excluded nothing may be noted
  const parts = command.split(/&&|\|\|?|[;\n(){}`]/).flatMap((part) => [part, part.replace(/["']/g, ' ')])
  const within = parts.flatMap((part) => [part.trim(), ...commandsIn(part).map((c) => programOf(c.words).join(' '))])
  const said = [command.trim(), ...within]
  return config.excludeCommands.some((given) => {
    const rule = given.trim()
    if (!rule.includes('*')) return said.some((s) => s === rule || s.startsWith(`${rule} `))
    return said.some((s) => fits(s, rule.split('*')))
  })
}

/** Whether a text begins with the first part, ends with the last, and has the others between them, in order. */
function fits(text: string, [first, ...others]: readonly string[]): boolean {
  const last = others.pop()!
  const end = text.length - last.length
  if (!text.startsWith(first!) || !text.endsWith(last)) return false
  let at = first!.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= end
}
