import { readFileSync } from 'node:fs'
import { packageFile } from '../../../base/files.ts'
import { jsonIn } from '../../../model/object.ts'
import { listened } from '../common/hook-command.ts'
import { opencode as dialect } from './dialect.ts'

export const EVENTS = listened(dialect, [
  'session.created', 'chat.message', 'tool.execute.before', 'tool.execute.after', 'experimental.session.compacting', 'session.idle', 'session.deleted',
]) // biome-ignore format: a list to read at a glance

const MARK = '// written by `tidemark init`, taken out by `tidemark uninstall`: changes are lost\n'

export const isPluginOfOurs = (text: string): boolean => text.startsWith(MARK)

export function commandIn(text: string): string[] {
  const words = /^const COMMAND = (\[.*\])$/m.exec(text)?.[1]
  const command = jsonIn(words ?? '') // where somebody changed that line, it is not what we would write
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? command : []
}

const WAIT = Object.fromEntries(EVENTS.map(({ event, seconds }) => [event, seconds * 1000]))

/**
 * The plugin passes each event on to `tidemark hook opencode`, and its answer back. A failure never stops opencode. What of it
 * is the same everywhere is a file of the package; which command it starts, and how long it waits, stand in two of its lines.
 */
export const pluginText = (command: readonly string[]): string =>
  `${MARK}${readFileSync(packageFile('assets/opencode-plugin.js'), 'utf8')}`
    .replace('COMMAND = []', () => `COMMAND = ${JSON.stringify(command)}`)
    .replace('WAIT = {}', () => `WAIT = ${JSON.stringify(WAIT, null, 2)}`)
