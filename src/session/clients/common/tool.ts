import { commandsIn, under } from '../../../model/commands.ts'
import type { Lines } from '../../../work/coordination/sessions.ts'
import type { Edit, HookEvent, HookTool } from '../../hooks/call.ts'
import { list, type Payload, record, text } from './payload.ts'

const EDITS = new Set([
  'edit', 'write', 'multiedit', 'notebookedit', 'update', // Claude Code
  'apply_patch', 'patch', // Codex, opencode, VS Code
  'write_file', 'replace', 'edit_file', // Gemini CLI
  'create', 'str_replace', 'str_replace_editor', 'insert', // Copilot CLI
  'strreplace', 'delete', 'search_replace', 'delete_file', 'editnotebook', // Cursor
  'create_file', 'replace_string_in_file', 'multi_replace_string_in_file', 'insert_edit_into_file', 'edit_notebook_file', // VS Code
]) // biome-ignore format: a list to read at a glance

const SHELLS = new Set([
  'bash', 'shell', 'powershell', 'exec_command', 'local_shell', 'unified_exec', 'run_shell_command', 'run_in_terminal', 'run_terminal_cmd', 'terminal',
]) // biome-ignore format: a list to read at a glance

const READS = new Set(['read', 'read_file', 'view', 'readfile'])

const PATH_FIELDS = ['file_path', 'filePath', 'notebook_path', 'path', 'filepath', 'target_file', 'absolute_path']
const OLD = ['old_string', 'oldString', 'old_str']
const NEW = ['new_string', 'newString', 'new_str']
const WHOLE = ['content', 'file_text']
const PATCHED = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm
/** Codex lets a model that has no tool for it edit by this command, and runs no shell for it. */
const PATCHING = /^apply_?patch$/
/** By this Codex says in the text of a shell's answer how it ended. */
const EXITED = /^(?:exit code:?|process exited with code) (-?\d+)/im
const MAX_PATHS = 50
/** Whole, as far as can be: what is cut in the middle of a secret is not known as one any more. */
const RESPONSE_MAX = 200_000

function responseText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.slice(-RESPONSE_MAX)
  const r = record(value)
  const direct = text(r, 'stderr', 'error', 'textResultForLlm', 'stdout', 'output', 'returnDisplay', 'llmContent')
  return direct?.slice(-RESPONSE_MAX)
}

const patched = (patch: string | undefined): string[] =>
  patch?.includes('*** ') ? [...patch.matchAll(PATCHED)].map(([, path]) => path!.trim()) : []

function patchedByShell(command: string): string[] {
  const patching = command.includes('*** ') && commandsIn(command).find(({ words }) => PATCHING.test(words[0] ?? ''))
  return patching ? patched(command).flatMap((path) => under(patching.dir, path) ?? []) : []
}

function saysFailed(value: unknown): boolean {
  if (typeof value === 'string') return Number(EXITED.exec(value.slice(0, 400))?.[1] ?? 0) !== 0
  const r = record(value)
  const code = r.exit_code ?? r.exitCode ?? record(r.metadata).exit ?? record(r.metadata).exit_code
  if (typeof code === 'number') return code !== 0
  if (r.is_error === true || r.isError === true || r.interrupted === true || r.success === false) return true
  if (text(r, 'resultType') === 'failure') return true
  return text(r, 'error') !== undefined || (typeof r.error === 'object' && r.error !== null)
}

const rows = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.replace(/\n$/, '').split('\n')

function between(before: string | undefined, after: string | undefined): Lines {
  const [a, b] = [rows(before), rows(after)]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return { added: b.length - head - tail, removed: a.length - head - tail }
}

const marked = (lines: readonly string[]): Lines => ({
  added: lines.filter((l) => l.startsWith('+')).length,
  removed: lines.filter((l) => l.startsWith('-')).length,
})

/** How many lines an edit added and took out in each file, as far as its input tells, or Claude Code with the answer. */
function linesOf(input: Payload, path: string, response: unknown): Map<string, Lines> | undefined {
  const patch = text(input, 'patchText', 'input', 'patch', 'command', 'cmd')
  if (patch?.includes('*** ')) {
    const files = patch.split(/^\*\*\* (?:Add|Update|Delete) File: /m).slice(1)
    return new Map(files.map((part) => [part.split('\n')[0]!.trim(), marked(part.split('\n'))]))
  }
  const hunks = list(record(response).structuredPatch).flatMap((hunk) => list(record(hunk).lines).map(String))
  if (hunks.length > 0) return new Map([[path, marked(hunks)]])
  const changes = list(input.edits ?? input.replacements ?? [input]).map(record)
  const all = changes.map((c) => between(text(c, ...OLD), text(c, ...NEW, ...WHOLE)))
  const sum = all.reduce((a, b) => ({ added: a.added + b.added, removed: a.removed + b.removed }), between('', ''))
  return new Map([[path, sum]])
}

/** What an edit puts in the place of what, as far as its input tells. */
function editsOf(input: Payload, path: string | undefined): Edit[] {
  const patch = text(input, 'patchText', 'input', 'patch', 'command', 'cmd')
  if (patch?.includes('*** ')) return patchEdits(patch)
  return list(input.edits ?? input.replacements ?? [input]).flatMap((change): Edit[] => {
    const c = record(change)
    const at = text(c, ...PATH_FIELDS) ?? path
    const [old, whole] = [text(c, ...OLD), text(c, ...WHOLE)]
    if (at === undefined || (old === undefined && whole === undefined)) return []
    if (old === undefined) return [{ path: at, text: whole! }]
    return [{ path: at, old, text: text(c, ...NEW) ?? '', all: c.replace_all === true || c.replaceAll === true }]
  })
}

/** The parts of a patch, each with the lines around it, as it writes them. */
function patchEdits(patch: string): Edit[] {
  const edits: Edit[] = []
  for (const file of patch.split(/^\*\*\* (?=(?:Add|Update|Delete) File: |End Patch)/m).slice(1)) {
    const [head = '', ...lines] = file.replace(/\n$/, '').split('\n')
    const path = head.slice(head.indexOf(': ') + 2).trim()
    const side = (signs: string, of = lines) => of.filter((l) => signs.includes(l[0] ?? ' ')).map((l) => l.slice(1))
    if (head.startsWith('Add')) edits.push({ path, text: `${side('+').join('\n')}\n` })
    if (!head.startsWith('Update')) continue
    for (const part of lines.join('\n').split(/^@@.*\n?/m)) {
      const rows = part.replace(/\n$/, '').split('\n')
      const [old, text] = [side(' -', rows).join('\n'), side(' +', rows).join('\n')]
      if (old !== text) edits.push({ path, old, text })
    }
  }
  return edits
}

export function toolOf(
  name: string,
  input: Payload,
  more: { id?: string; response?: unknown; failed?: boolean } = {},
): HookTool {
  const known = name.toLowerCase().replace(/^functions\./, '')
  const paths: string[] = []
  if (EDITS.has(known) && !(known === 'str_replace_editor' && text(input, 'command') === 'view')) {
    const one = text(input, ...PATH_FIELDS)
    if (one !== undefined) paths.push(one)
    for (const change of list(input.edits ?? input.replacements)) {
      const path = text(record(change), ...PATH_FIELDS)
      if (path !== undefined) paths.push(path)
    }
    paths.push(...patched(text(input, 'patchText', 'input', 'patch', 'command')))
  }
  const read = READS.has(known) || known === 'str_replace_editor' ? text(input, ...PATH_FIELDS) : undefined
  const asked = SHELLS.has(known) ? (input.command ?? input.cmd) : undefined
  const command = typeof asked === 'string' ? asked : Array.isArray(asked) ? asked.map(String).join(' ') : undefined
  if (command !== undefined) paths.push(...patchedByShell(command))
  const edits = paths.length > 0 && more.response === undefined ? editsOf(input, paths[0]) : []
  return {
    name: name.slice(0, 200),
    paths: [...new Set(paths)].slice(0, MAX_PATHS),
    id: more.id,
    reads: read === undefined || paths.length > 0 ? undefined : [read],
    lines: paths.length > 0 && more.response !== undefined ? linesOf(input, paths[0]!, more.response) : undefined,
    edits: edits.length > 0 ? edits : undefined,
    command: command === '' ? undefined : command,
    response: more.response === undefined ? undefined : responseText(more.response),
    failed: more.failed || saysFailed(more.response) ? true : undefined,
  }
}

export function toolEvent(when: 'before' | 'after' | 'failed', tool: HookTool): HookEvent {
  if (when === 'failed' || (when === 'after' && tool.failed)) return 'tool-failed'
  return tool.paths.length > 0 ? `${when}-edit` : `${when}-tool`
}
