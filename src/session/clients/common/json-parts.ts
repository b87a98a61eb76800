import { isDeepStrictEqual } from 'node:util'
import { BARE, SHARED, startsTidemark } from './command.ts'
import { readText } from './files.ts'
import { at, insertJson, isEmptyJson, type Leaf, readJson, removeJson } from './json.ts'
import type { Part, State, Target } from './target.ts'

export const NAME = 'tidemark'

export type JsonFile = { client: string; file: string; scope: Target['scope']; comments?: boolean }

export const settingsIn = (f: Pick<JsonFile, 'file' | 'comments'>) =>
  readJson(readText(f.file) ?? '', f.file, f.comments)

export const jsonTarget = (f: JsonFile, parts: Part[]): Target => ({
  client: f.client,
  file: f.file,
  scope: f.scope,
  parts,
  isEmpty: (text) => isEmptyJson(text),
  fresh: { text: '{}', end: '\n' },
})

export const headedTarget = (f: JsonFile, parts: Part[], key: string, value: unknown): Target => ({
  ...jsonTarget(f, parts),
  fresh: { text: `{\n  "${key}": ${JSON.stringify(value)}\n}`, end: '\n' },
  isEmpty: (text) => isEmptyJson(text, key),
})

export const versionedTarget = (f: JsonFile, parts: Part[]): Target => headedTarget(f, parts, 'version', 1)

export function jsonPart(
  f: JsonFile,
  name: string,
  path: string[],
  leaf: Leaf,
  state: (settings: Record<string, unknown>) => State,
): Part {
  const look = (text: string) => state(readJson(text, f.file, f.comments))
  return {
    name,
    state: look,
    insert: (text) => insertJson(text, path, leaf, f.file, f.comments),
    remove(text, undo) {
      if (!text.includes(NAME)) return text
      const found = look(text)
      const ours = found === 'ours' || found === 'stale' || (found === 'hand-made' && undo !== undefined)
      return ours ? removeJson(text, path, leaf, undo) : text
    },
  }
}

export const includes = (list: unknown) => Array.isArray(list) && list.includes(NAME)

export function wordsOf(entry: unknown): [command: unknown, args: unknown[]] {
  const command = at(entry, 'command')
  const args = at(entry, 'args')
  return Array.isArray(command) ? [command[0], command.slice(1)] : [command, Array.isArray(args) ? args : []]
}

export const starts = (entry: unknown) => startsTidemark(...wordsOf(entry))

/** The server's entry under `path`; `isStale` knows what we wrote for another place or in an earlier version. */
export const serverPart = (
  f: JsonFile,
  path: string[],
  value: unknown,
  isStale: (entry: unknown) => boolean,
  name = 'server',
): Part =>
  jsonPart(f, name, path, { key: NAME, value }, (settings) => {
    const entry = at(settings, ...path, NAME)
    if (entry === undefined) return 'absent'
    if (isDeepStrictEqual(entry, value)) return 'ours'
    if (isStale(entry)) return 'stale'
    return starts(entry) ? 'hand-made' : 'yours'
  })

/** The entry that the team shares, as its client writes a command; earlier versions wrote the bare one. */
export const sharedServerPart = (f: JsonFile, path: string[], entry: (c: typeof SHARED) => object): Part =>
  serverPart(f, path, entry(SHARED), (found) => isDeepStrictEqual(found, entry(BARE)))

export const localServerPart = (f: JsonFile, path: string[], value: object): Part =>
  serverPart(f, path, value, (entry) => isElsewhere(entry, value))

/** Whether an entry is `value` in all but where on a machine it finds Tidemark. */
export function isElsewhere(entry: unknown, value: object): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  const [command, args] = wordsOf(entry)
  const local = typeof command === 'string' && /^(\/|[A-Za-z]:)/.test(command) && starts(entry) && args.length === 2
  const rest = (e: object) => ({ ...e, command: 0, args: 0 })
  return local && isDeepStrictEqual(rest(entry), rest(value))
}

/** The file of a project that Claude Code and Copilot CLI read their servers from. */
export const MCP_JSON = '.mcp.json'

export const mcpJsonEntry = (command: typeof SHARED) => ({ type: 'stdio', ...command, alwaysLoad: true })
