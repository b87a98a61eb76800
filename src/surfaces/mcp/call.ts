import { messageOf, UserError } from '../../base/errors.ts'
import { diskError } from '../../base/files.ts'
import type { Json } from '../../model/field.ts'
import { nearest } from '../../model/names.ts'
import { shown } from '../../scheme/invisible.ts'
import { TOOLS } from '../tools/index.ts'
import { run } from '../tools/run.ts'
import { type Output, otherThan, type Param, type Tool, type ToolContext, textOf } from '../tools/tool.ts'

/** What clients take without cutting it themselves at a worse place (design §4). */
export const OUTPUT_CHARACTERS = 40_000

/** Who calls, for which project: what every tool takes besides its own parameters. */
const CALL_PARAMS = {
  session: { type: 'text', about: '' },
  project: { type: 'text', about: '' },
} as const satisfies Readonly<Record<string, Param>>

let loaded: Promise<readonly Tool[]> | undefined

/** The tools offered over MCP, always in the same order, so that prompt caches hold. */
export function mcpTools(): Promise<readonly Tool[]> {
  const names = Object.keys(TOOLS).filter((name) => TOOLS[name]!.mcp)
  loaded ??= Promise.all(names.sort().map((name) => TOOLS[name]!.load()))
  return loaded
}

const JSON_TYPE: Readonly<Record<Param['type'], { readonly [key: string]: Json }>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  flag: { type: 'boolean' },
  // the lists of `act`; what comes is taken as it is. Untyped, Codex would not even pass on the description
  json: { type: 'array', items: {} },
  any: {},
}

export function schemaOf(tool: Tool): { [key: string]: Json } {
  const all = { ...tool.params, ...CALL_PARAMS, ...tool.params } // its own come first, and go before
  const params = Object.entries<Param>(all).filter(([, p]) => !p.typed && !p.rare)
  const required = params.filter(([, p]) => p.required).map(([name]) => name)
  const schema = (p: Param) => ({
    ...JSON_TYPE[p.type],
    ...(p.about === '' ? {} : { description: p.about }), // what five tools have in common, the instructions say
    ...(p.choices ? { enum: [...p.choices] } : {}),
  })
  return {
    type: 'object',
    properties: Object.fromEntries(params.map(([name, p]) => [name, schema(p)])),
    ...(required.length > 0 ? { required } : {}),
  }
}

/** One argument as its parameter wants it; models and shells send numbers, flags and JSON as text. */
function read(param: Param, value: unknown): unknown {
  switch (param.type) {
    case 'text':
      // several, as the command line takes them and joins them
      if (param.list && Array.isArray(value))
        return value.every((v) => typeof v === 'string' && !v.includes('\n')) ? value.join('\n') : undefined
      return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : undefined
    case 'number': {
      const n = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      return typeof n === 'number' && Number.isFinite(n) ? n : undefined
    }
    case 'flag':
      return value === 'true' ? true : value === 'false' ? false : typeof value === 'boolean' ? value : undefined
    default:
      return value // the tool itself repairs what came as a string, and says so (A5)
  }
}

export interface Call {
  readonly args: Readonly<Record<string, unknown>>
  readonly session?: string | undefined
  readonly project?: string | undefined
}

/** The arguments of a call, checked against the tool's parameters. @throws UserError with every problem. */
export function readCall(tool: Tool, input: unknown): Call {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new UserError('bad-arguments', `the arguments of ${tool.name} are not an object`, `e.g. ${tool.example}`)
  const params: Readonly<Record<string, Param>> = { ...CALL_PARAMS, ...tool.params }
  const problems: string[] = []
  const args: Record<string, unknown> = {}
  for (const [said, value] of Object.entries(input)) {
    const name = said === 'projectId' ? 'project' : said // as the batch of `act` calls it
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (!param) {
      const near = nearest(name, Object.keys(params))
      problems.push(`${name}: not a parameter${near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''}`)
      continue
    }
    if (value === undefined || (value === null && param.type !== 'any')) continue
    const taken = read(param, value)
    if (taken === undefined) problems.push(`${name}: ${param.type} expected, got ${JSON.stringify(value).slice(0, 80)}`)
    else if (param.choices && !param.choices.includes(String(taken)))
      problems.push(`${name}: one of ${param.choices.join(', ')} expected, got ${JSON.stringify(taken).slice(0, 80)}`)
    else if (otherThan(param, taken) !== undefined)
      problems.push(`${name}: ${otherThan(param, taken)} expected, got ${taken}`)
    else if ((args[name] ?? taken) !== taken) problems.push('project and projectId name two projects')
    else args[name] = taken
  }
  for (const [name, param] of Object.entries(tool.params))
    if (param.required && args[name] === undefined && !problems.some((p) => p.startsWith(`${name}:`)))
      problems.push(`${name}: missing; ${param.about}`)
  if (problems.length > 0) {
    const message = `${tool.name}: ${problems.join('\n')}`
    throw new UserError('bad-arguments', message, `parameters: ${Object.keys(params)}`, { problems })
  }
  const { project, session, ...own } = args as { project?: string; session?: string; [name: string]: unknown }
  return { args: own, session: session || undefined, project: project || undefined }
}

/** Runs a tool; its text shows what it says, ends no fence, and is cut to what clients take, saying how much was left out. */
export async function runTool(tool: Tool, context: ToolContext, args: Call['args']): Promise<Output> {
  const output = await run(tool, context, args).catch((error: unknown) => {
    throw error instanceof UserError ? asCalled(error, tool) : error
  })
  return { text: cut(textOf(output, tool)), json: output.json }
}

/** A refusal that was written for the command line: here its flags are arguments. */
function asCalled({ code, message, hint, details }: UserError, tool: Tool): UserError {
  const named = (text: string) =>
    text.replace(/--([a-z][a-z-]{1,20})(?![\w-])/g, (flag, name: string) =>
      Object.hasOwn(tool.params, name) || Object.hasOwn(CALL_PARAMS, name) ? `"${name}"` : flag,
    )
  return new UserError(code, named(message), named(hint), details)
}

export function cut(text: string): string {
  if (text.length <= OUTPUT_CHARACTERS) return text
  const mark = (left: number) => `\n… ${left} characters left out; ask for less, or with a limit`
  const keep = OUTPUT_CHARACTERS - mark(text.length).length
  const end = /[\uD800-\uDBFF]/.test(text[keep - 1]!) ? keep - 1 : keep // not between the halves of one character
  return text.slice(0, end) + mark(text.length - end)
}

/** What the caller is told of an error: their mistakes with what to do next; ours as such, and whole on stderr. */
export function errorText(thrown: unknown): string {
  const error = thrown instanceof UserError ? thrown : (diskError(thrown) ?? thrown)
  if (error instanceof UserError) return shown(error.hint ? `${error.message}\n→ ${error.hint}` : error.message)
  process.stderr.write(`tidemark: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return shown(`a bug in tidemark: ${messageOf(error)}`)
}
