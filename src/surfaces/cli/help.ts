import { GROUPS, TOOLS } from '../tools/index.ts'
import type { Param, Tool } from '../tools/tool.ts'
import type { Command, Flag } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** Flags that every command takes. */
export const GLOBAL: Readonly<Record<string, Flag>> = {
  project: {
    type: 'text',
    value: 'DIR',
    about: 'the project to work on (default: the one around the working directory)',
  },
  session: { type: 'text', value: 'ID', about: 'the acting session (default: $TIDEMARK_SESSION)' },
  json: { type: 'flag', about: 'machine-readable output' },
  help: { type: 'flag', about: 'this text' },
}

/** A tool's flags: what has no place of its own on the command line. */
export function flagsOf(params: Readonly<Record<string, Param>>): Record<string, Flag> {
  const flags: Record<string, Flag> = {}
  for (const [name, { type, about, choices, place }] of Object.entries(params))
    if (place === undefined)
      flags[name] = { type: type === 'json' || type === 'any' ? 'text' : type, about, value: choices?.join('|') }
  return flags
}

const placed = (params: Readonly<Record<string, Param>>) =>
  Object.entries(params).filter(([, p]) => p.place !== undefined)

/** What stands for an argument in usage. */
const placeholder = (name: string, { type }: Param): string =>
  type === 'json' ? 'FILE|-|JSON' : type === 'any' ? 'JSON|TEXT|-' : name.toUpperCase()

export function usageOf(name: string, params: Readonly<Record<string, Param>>): string {
  const words = placed(params).map(([n, p]) => {
    // the steps of a command with several are words to type, not a name for what stands there
    const shown = n === 'do' ? (p.choices ?? []).join('|') : placeholder(n, p)
    return p.required && p.type !== 'json' ? shown : `[${shown}]`
  })
  return `usage: tidemark ${[name, ...words].join(' ')} [options]`
}

function optionsText(flags: Readonly<Record<string, Flag>>): string {
  const rows = Object.entries({ ...flags, ...GLOBAL }).map(
    ([name, f]) => [`--${name}${f.type === 'flag' ? '' : ` ${f.value ?? name.toUpperCase()}`}`, f.about] as const,
  )
  const width = Math.max(...rows.map(([l]) => l.length))
  return rows.map(([l, a]) => `  ${l.padEnd(width)}  ${a}`).join('\n')
}

const page = (usage: string, about: string, flags: Readonly<Record<string, Flag>>, example: string): string =>
  [usage, '', about, '', 'options:', optionsText(flags), '', 'example:', `  ${example}`].join('\n')

export function toolHelp({ name, about, params, example }: Tool): string {
  const places = placed(params).map(([n, p]) => `  ${placeholder(n, p).padEnd(12)}  ${p.about}`)
  const whole = [about, ...(places.length > 0 ? ['', ...places] : [])].join('\n')
  return page(usageOf(name, params), whole, flagsOf(params), example)
}

export const commandHelp = ({ name, usage, about, flags, example }: Command): string =>
  page(`usage: tidemark ${[name, usage].filter(Boolean).join(' ')} [options]`, about, flags, example)

/** The commands in groups, as the overview lists them. */
export const listing = (): [title: string, names: string[]][] => {
  const all = Object.entries({ ...COMMANDS, ...TOOLS })
  return GROUPS.map((title) => [title, all.flatMap(([name, { group }]) => (group === title ? [name] : []))])
}

/** In how many groups each command is explained. */
const TOLD = 2

/** The first clause of what a command is about. */
const brief = (about: string): string => {
  const clause = about.split(/[:;\n(]|\. /)[0]!.trim()
  return clause.charAt(0).toLowerCase() + clause.slice(1)
}

/** The page that `tidemark` and `tidemark --help` show. */
export async function overview(): Promise<string> {
  const lines = ['Tidemark remembers what the AI agents of a project learn.', '', 'usage: tidemark COMMAND [options]']
  for (const [title, names] of listing().slice(0, TOLD)) {
    lines.push('', `${title}:`)
    for (const name of names) {
      const entry = await (COMMANDS[name] ?? TOOLS[name])!.load()
      lines.push(`  ${name.padEnd(9)}  ${brief(entry.about)}`)
    }
  }
  lines.push('', 'more:')
  for (const [title, names] of listing().slice(TOLD)) lines.push(`  ${title.padEnd(9)}  ${names.join(' ')}`)
  lines.push('', '`tidemark help COMMAND` says what it does, with an example. `tidemark --version` prints the version.')
  return lines.join('\n')
}
