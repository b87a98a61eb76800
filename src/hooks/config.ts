import { covers, tidyPath } from '../claims/glob.ts'

/** What a project may set of hooks, under `hooks` in `.tidemark/config.json`; what it does not say has these values. */
export const HOOK_DEFAULTS = {
  /** An edit of what another session has claimed: refused, left to the person, or let pass with a warning. */
  conflict: 'deny' as 'warn' | 'ask' | 'deny',
  /** The same where the other session has only been editing the file: nobody claimed it by name. */
  implicitConflict: 'warn' as 'warn' | 'ask' | 'deny',
  /** Whether an edit takes a claim on its file for ten minutes. */
  implicitClaims: true,
  /** Whether rules, corrections and failures are noticed and proposed. */
  capture: true,
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

type Accepts = readonly [accepted: string, takes: (v: unknown) => boolean]
const CHOICE: Accepts = ['one of warn, ask, deny', (v) => ['warn', 'ask', 'deny'].includes(v as string)]
const FLAG: Accepts = ['true or false', (v) => typeof v === 'boolean']

const accepts: { readonly [K in keyof HooksConfig]: Accepts } = {
  conflict: CHOICE,
  implicitConflict: CHOICE,
  implicitClaims: FLAG,
  capture: FLAG,
  askAtStop: FLAG,
  recall: FLAG,
  handoffAt: ['a number from 0 to 100', (v) => typeof v === 'number' && v >= 0 && v <= 100],
  excludePaths: ['a list of globs', texts],
  excludeCommands: ['a list of commands', texts],
}

function texts(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= 200 &&
    value.every((v) => typeof v === 'string' && v.trim() !== '' && v.length <= 500)
  )
}

/**
 * The configuration, and what is wrong with it. A hook never fails its client: what is not accepted has its default, and
 * the problems are for `doctor`.
 */
export function hooksConfig(raw: unknown): { config: HooksConfig; problems: string[] } {
  const config: Record<string, unknown> = { ...HOOK_DEFAULTS }
  const problems: string[] = []
  if (raw === undefined) return { config: HOOK_DEFAULTS, problems }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return { config: HOOK_DEFAULTS, problems: ['hooks: not an object'] }
  for (const [key, value] of Object.entries(raw)) {
    const rule = Object.hasOwn(accepts, key) ? accepts[key as keyof HooksConfig] : undefined
    if (!rule) problems.push(`hooks.${key.slice(0, 80)}: no such setting; there are ${Object.keys(accepts).join(', ')}`)
    else if (!rule[1](value)) problems.push(`hooks.${key}: not accepted; ${rule[0]}`)
    else config[key] = value
  }
  return { config: config as HooksConfig, problems }
}

/** Whether a path, relative to the work tree, is one of which nothing may be noted; `*.env` means one in any directory. */
export const excludedPath = (config: HooksConfig, path: string): boolean =>
  config.excludePaths.some((glob) => covers(glob.includes('/') ? (tidyPath(glob) ?? glob) : `**/${glob}`, path))

/** What only runs a command, in front of it. */
const RUNS = /^\s*(?:(?:sudo|env|time|nohup|command|exec|nice)\s+(?:-\S+\s+)*|\w+=(?:"[^"]*"|'[^']*'|\S*)\s+)*/

/** Whether a command, or one within it, is of those of which nothing may be noted: `cd x && sudo vault read y` is `vault`. */
export function excludedCommand(config: HooksConfig, command: string): boolean {
  if (config.excludeCommands.length === 0) return false
  const within = command.split(/&&|\|\|?|[;\n(){}`]/).map((part) => part.replace(RUNS, ''))
  const said = [command, ...within].map((part) => part.trim())
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
