import { TOOLS } from '../../tools/index.ts'
import type { Param, Tool } from '../../tools/tool.ts'
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
export const flagsOf = (params: Readonly<Record<string, Param>>): Record<string, Flag> =>
  Object.fromEntries(
    Object.entries(params).flatMap(([name, p]) =>
      p.place === undefined
        ? [
            [
              name,
              {
                type: p.type === 'json' || p.type === 'any' ? 'text' : p.type,
                about: p.about,
                ...(p.choices ? { value: p.choices.join('|') } : {}),
              } as Flag,
            ],
          ]
        : [],
    ),
  )

/** The usage line of a tool. */
export function usageOf(name: string, params: Readonly<Record<string, Param>>): string {
  const placed = Object.entries(params).filter(([, p]) => p.place !== undefined)
  const words = placed.map(([n, p]) => {
    // the steps of a command with several are words to type, not a name for what stands there
    const shown =
      p.type === 'json'
        ? '[FILE|-|JSON]'
        : p.type === 'any'
          ? 'JSON|TEXT|-'
          : n === 'do'
            ? (p.choices ?? []).join('|')
            : n.toUpperCase()
    return p.required || p.type === 'json' ? shown : `[${shown}]`
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

/** The page that `tidemark TOOL --help` shows. */
export function toolHelp(tool: Tool): string {
  const placed = Object.entries(tool.params).filter(([, p]) => p.place !== undefined)
  const about = placed
    .map(
      ([n, p]) =>
        `  ${(p.type === 'json' ? 'FILE|-|JSON' : p.type === 'any' ? 'JSON|TEXT|-' : n.toUpperCase()).padEnd(12)}  ${p.about}`,
    )
    .join('\n')
  return [
    usageOf(tool.name, tool.params),
    '',
    tool.about,
    ...(about ? ['', about] : []),
    '',
    'options:',
    optionsText(flagsOf(tool.params)),
    '',
    'example:',
    `  ${tool.example}`,
  ].join('\n')
}

/** The page that `tidemark COMMAND --help` shows. */
export function commandHelp(command: Command): string {
  return [
    `usage: tidemark ${[command.name, command.usage].filter(Boolean).join(' ')} [options]`,
    '',
    command.about,
    '',
    'options:',
    optionsText(command.flags),
    '',
    'example:',
    `  ${command.example}`,
  ].join('\n')
}

/** The commands in groups: what a person types daily first. */
export const GROUPS: readonly [title: string, names: readonly string[]][] = [
  ['start', ['init', 'status', 'doctor', 'demo']],
  ['every day', ['remember', 'recall', 'list', 'show', 'review', 'back', 'handoff', 'undo']],
  ['knowledge', ['edit', 'forget', 'retire', 'supersede', 'rename', 'merge', 'confirm', 'reject', 'answer', 'questions', 'history', 'conflicts', 'import', 'export']],
  ['work', ['goal', 'activity', 'task', 'tree', 'next']],
  ['together', ['claim', 'claims', 'release', 'session', 'share', 'events', 'pause', 'resume']],
  ['agents', ['brief', 'act', 'discover', 'mcp', 'serve', 'hook', 'extract']],
  ['set up', ['models', 'bench', 'completion', 'adopt', 'uninstall']],
] // biome-ignore format: a list to read at a glance

/** So many groups tell what each of their commands does. */
const TOLD = 2

/** Names that only agents use; the command line lists the same tool under the other one. */
export const OTHER_NAMES: Readonly<Record<string, string>> = { open_questions: 'questions' }

/** The first clause of what a command is about. */
const brief = (about: string): string => {
  const clause = about.split(/[:;\n(]|\. /)[0]!.trim()
  return clause.charAt(0).toLowerCase() + clause.slice(1)
}

/** The page that `tidemark` and `tidemark --help` show. */
export async function overview(): Promise<string> {
  const lines = ['Tidemark remembers what the AI agents of a project learn.', '', 'usage: tidemark COMMAND [options]']
  for (const [title, names] of GROUPS.slice(0, TOLD)) {
    lines.push('', `${title}:`)
    for (const name of names) {
      const entry = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]!() : await TOOLS[name]!()
      lines.push(`  ${name.padEnd(9)}  ${brief(entry.about)}`)
    }
  }
  lines.push('', 'more:')
  for (const [title, names] of GROUPS.slice(TOLD)) lines.push(`  ${title.padEnd(9)}  ${names.join(' ')}`)
  lines.push('', '`tidemark help COMMAND` says what it does, with an example. `tidemark --version` prints the version.')
  return lines.join('\n')
}
