import { isObject, jsonIn } from '../../../model/object.ts'

export interface Turn {
  readonly who: 'user' | 'agent' | 'command' | 'failed'
  readonly text: string
  /** When, in ms; not every client says it. */
  readonly at?: number
}

export type Tree = { readonly [key: string]: unknown }
export const tree = (v: unknown): Tree => (isObject(v) ? v : {})
const textOf = (v: unknown): string => (typeof v === 'string' ? v : '')
const items = (v: unknown): readonly Tree[] => (Array.isArray(v) ? v.map(tree) : [])

const said = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : items(content)
        .filter((p) => p.type === undefined || /^(?:input_|output_)?text$/.test(textOf(p.type)))
        .map((p) => textOf(p.text))
        .join('\n')

const SHELL = /^(?:functions\.)?(?:bash|shell|exec_command|local_shell|unified_exec|run_shell_command|powershell)$/i
const FAILED = /(?:exit code:?|exited with code) (?:[1-9]\d*)/i

function commandOf(name: unknown, input: unknown): string {
  if (!SHELL.test(textOf(name))) return ''
  const args = tree(typeof input === 'string' ? jsonIn(input) : input)
  const command = args.command ?? args.cmd
  return Array.isArray(command) ? command.map(String).join(' ') : textOf(command)
}

/** What a line of a transcript says: of commands with the id by which their outcome comes later. */
export interface Said extends Turn {
  readonly call?: string
}

/** What a line of a transcript says: users, agents, commands and their failures. Unknown shapes say nothing. */
export function saidIn(line: unknown): Said[] {
  const l = tree(line)
  const time = Date.parse(textOf(l.timestamp))
  const at = Number.isNaN(time) ? {} : { at: time }
  const found = l.type === 'response_item' ? codex(tree(l.payload)) : (claude(l) ?? gemini(l) ?? copilot(l) ?? [])
  return found.filter((s) => s.text.trim() !== '' || s.call !== undefined).map((s) => ({ ...s, ...at }))
}

function claude(l: Tree): Said[] | undefined {
  if ((l.type !== 'user' && l.type !== 'assistant') || l.message === undefined) return undefined
  if (l.isSidechain === true || l.isMeta === true || l.isCompactSummary === true) return []
  const { content } = tree(l.message)
  const blocks = typeof content === 'string' ? [] : items(content)
  if (l.type === 'user') {
    const failed = blocks
      .filter((b) => b.type === 'tool_result' && b.is_error === true)
      .map((b): Said => ({ who: 'failed', text: said(b.content), call: textOf(b.tool_use_id) }))
    return [{ who: 'user', text: said(content) }, ...failed]
  }
  const calls = blocks
    .filter((b) => b.type === 'tool_use')
    .map((b): Said => ({ who: 'command', text: commandOf(b.name, b.input), call: textOf(b.id) }))
  return [{ who: 'agent', text: said(content) }, ...calls]
}

function codex(p: Tree): Said[] {
  if (p.type === 'message' && (p.role === 'user' || p.role === 'assistant'))
    return [{ who: p.role === 'user' ? 'user' : 'agent', text: said(p.content) }]
  if (p.type === 'function_call')
    return [{ who: 'command', text: commandOf(p.name, p.arguments), call: textOf(p.call_id) }]
  const output = typeof p.output === 'string' ? p.output : textOf(tree(p.output).content)
  if (p.type === 'function_call_output' && FAILED.test(output.slice(0, 400)))
    return [{ who: 'failed', text: output, call: textOf(p.call_id) }]
  return []
}

function gemini(l: Tree): Said[] | undefined {
  if ((l.type !== 'user' && l.type !== 'gemini') || l.content === undefined) return undefined
  const calls = items(l.toolCalls).flatMap((c): Said[] => {
    const call = textOf(c.id)
    const ran: Said = { who: 'command', text: commandOf(c.name, c.args), call }
    const outcome = textOf(c.resultDisplay)
    return c.status === 'error' || FAILED.test(outcome) ? [ran, { who: 'failed', text: outcome, call }] : [ran]
  })
  return [{ who: l.type === 'user' ? 'user' : 'agent', text: said(l.content) }, ...calls]
}

function copilot(l: Tree): Said[] | undefined {
  if (l.type === 'user.message') return [{ who: 'user', text: said(tree(l.data).content) }]
  return l.type === 'assistant.message' ? [{ who: 'agent', text: said(tree(l.data).content) }] : undefined
}
