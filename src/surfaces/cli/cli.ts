/**
 * surfaces: the command line here, MCP, HTTP and the entry of hooks beside it. They translate what comes in and print
 * what comes out; they decide nothing.
 */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { errorJson, UsageError, UserError } from '../../base/errors.ts'
import { diskError } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import type { Json } from '../../model/field.ts'
import type { Problem } from '../../model/validate.ts'
import { shown } from '../../scheme/invisible.ts'
import { jsonShown } from '../../session/briefing/fence.ts'
import { ran } from '../code-cache.ts'
import { TOOLS } from '../tools/index.ts'
import { type Output, otherThan, type Tool, type ToolContext, textOf } from '../tools/tool.ts'
import { VERSION } from '../version.ts'
import type { Command, Flag } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { commandHelp, flagsOf, GLOBAL, overview, toolHelp, usageOf } from './help.ts'

const out = (text: string) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
/** Texts of anybody's: a terminal is not to be steered by them, nor what somebody confirms to be hidden, nor a fence ended. */
const say = (text: string) => out(shown(text))
/** For programs; an agent's shell shows it to a model as well. */
const outJson = (value: unknown) => out(jsonShown(JSON.stringify(value)))
const err = (text: string) => void process.stderr.write(`${text}\n`)
let inProgress = false
function progress(line = ''): void {
  if (!process.stderr.isTTY || (line === '' && !inProgress)) return
  process.stderr.write(`\r\x1b[K${line}`)
  inProgress = line !== ''
}

/** `tidemark --json status` means `tidemark status --json`. */
function globalsLast(argv: readonly string[]): readonly string[] {
  let at = 0
  while (at < argv.length) {
    const flag = argv[at]!.startsWith('--') ? argv[at]!.slice(2).split('=')[0]! : ''
    if (flag === 'help' || !Object.hasOwn(GLOBAL, flag)) break
    at += GLOBAL[flag]!.type === 'flag' || argv[at]!.includes('=') ? 1 : 2
  }
  return at === 0 || at >= argv.length ? argv : [...argv.slice(at), ...argv.slice(0, at)]
}

/** Runs one command line. Returns the exit code: 0 done, 1 refused, 2 wrong use. */
export async function run(given: readonly string[]): Promise<number> {
  const argv = globalsLast(given)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0) // the reader has seen enough
    throw error
  })
  const [name, ...rest] = argv
  try {
    if (name === 'help' && rest[0] !== undefined && !rest[0].startsWith('-')) return await run([rest[0], '--help'])
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      out(await overview())
      return 0
    }
    if (name === '--version' || name === '-v' || name === 'version') {
      out(VERSION)
      return 0
    }
    if (Object.hasOwn(COMMANDS, name)) return await runCommand(await COMMANDS[name]!.load(), rest)
    if (Object.hasOwn(TOOLS, name)) {
      ran(name)
      return await runTool(await TOOLS[name]!.load(), rest)
    }
    const { nearest } = await import('../../model/names.ts')
    const all = { ...COMMANDS, ...TOOLS }
    const near = [...nearest(name, Object.keys(all))]
    // else those that are described by this word: the dashboard is `ui`
    if (near.length === 0) for (const known in all) if ((await all[known]!.load()).about.split(/\W+/).includes(name)) near.push(known) // biome-ignore format: a row
    throw new UsageError(
      `there is no command "${name}"${near.length > 0 ? `; did you mean ${near.slice(0, 3).join(' or ')}?` : ''}\n\`tidemark --help\` lists the commands`,
    )
  } catch (error) {
    return fail(error, argv.includes('--json'))
  }
}

function fail(thrown: unknown, json: boolean): number {
  progress()
  const error = thrown instanceof UserError ? thrown : (diskError(thrown) ?? thrown)
  if (!(error instanceof UserError)) {
    const hint = 'this is a bug in tidemark: please report it with the text on stderr'
    if (json) outJson({ error: errorJson(new UserError('bug', String(error), hint)) })
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    err(`tidemark: a bug in tidemark, please report it with this text\n${stack}`)
    return 1
  }
  const isUsage = error instanceof UsageError
  if (isUsage || !json) err(shown(`tidemark: ${error.message}${error.hint && `\n  → ${error.hint}`}`))
  const usage = isUsage ? { code: 'usage', hint: error.hint || 'see --help' } : {}
  if (json) outJson({ error: { ...errorJson(error), ...usage } })
  return isUsage ? 2 : 1
}

type Parsed = { values: Record<string, string | number | boolean>; place: string[] }

/** No flag begins with a digit: a negative number is a value. */
const NEGATIVE = /^-(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const isFlag = (arg: string): boolean => arg.startsWith('-') && arg !== '-' && !NEGATIVE.test(arg)

/** `texts`: the command takes a text or a value, which may begin with `-`. After `--` everything is taken as it is. */
function parse(argv: readonly string[], flags: Readonly<Record<string, Flag>>, texts = false): Parsed {
  const known: Readonly<Record<string, Flag>> = { ...GLOBAL, ...flags }
  const out: Parsed = { values: {}, place: [] }
  const refused = (what: string) =>
    new UsageError(
      what,
      `options are ${[...Object.keys(flags), ...Object.keys(GLOBAL)].map((name) => `--${name}`).join(', ')}` +
        (texts ? '; where it is no option but text that begins with -, put -- before it' : ''),
    )
  for (let at = 0; at < argv.length; at++) {
    const arg = argv[at]!
    if (arg === '--') {
      out.place.push(...argv.slice(at + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-' || (texts && !isFlag(arg))) {
      out.place.push(arg)
      continue
    }
    const [, name = '', given] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    const flag = Object.hasOwn(known, name) ? known[name]! : undefined
    if (!flag) throw refused(`Unknown option '${name ? `--${name}` : arg}'`)
    if (flag.type === 'flag') {
      if (given !== undefined) throw refused(`Option '--${name}' does not take an argument`)
      out.values[name] = true
      continue
    }
    const next = argv[at + 1]
    if (given === undefined && (next === undefined || isFlag(next)))
      throw new UsageError(
        `--${name} needs a value`,
        `${flag.about}${next === undefined ? '' : `; one that begins with - is given as --${name}=-…`}`,
      )
    const value = given ?? argv[++at]!
    const number = Number(value)
    if (flag.type === 'number' && (value === '' || !Number.isFinite(number)))
      throw new UsageError(`--${name} takes a number, not "${value}"`)
    out.values[name] = flag.type === 'number' ? number : value
  }
  return out
}

const directoryOf = (values: Parsed['values']): string =>
  String(values.project ?? process.env.TIDEMARK_PROJECT ?? process.cwd())

async function toolArgs(tool: Tool, parsed: Parsed): Promise<Record<string, unknown>> {
  const args: Record<string, unknown> = {}
  const placed = Object.entries(tool.params).filter(([, p]) => p.place !== undefined)
  const before = placed.filter(([, p]) => typeof p.place === 'number').length
  let used = 0
  for (const [name, p] of placed) {
    const given =
      p.place === 'rest'
        ? parsed.place.length > before
          ? parsed.place.slice(before).join(p.list ? '\n' : ' ')
          : undefined
        : parsed.place[p.place as number]
    used = p.place === 'rest' ? parsed.place.length : Math.max(used, (p.place as number) + 1)
    if (given !== undefined && p.choices && !p.choices.includes(given)) throw await noSuchStep(tool, p.choices, given)
    if (p.type === 'json') args[name] = (await import('./input.ts')).jsonInput(given)
    else if (given === undefined) {
      if (p.choices?.includes('list')) args[name] = 'list'
      if (args[name] !== undefined || !p.required || p.type === 'any') continue
      const isComment = name === 'ref' && process.stdin.isTTY
      const hint = isComment ? `where # begins a comment, short references stand in quotes: '#a3f'` : ''
      throw new UsageError(`${name.toUpperCase()} is missing\n${usageOf(tool.name, tool.params)}`, hint)
    } else if (p.type === 'any') args[name] = (await import('./input.ts')).looseJson(given)
    else if (given === '-' && p.stdin) args[name] = (await import('./input.ts')).readStdin()
    else args[name] = p.type === 'number' ? Number(given) : given
  }
  if (parsed.place.length > used)
    throw new UsageError(
      `too many arguments: ${parsed.place.slice(used).join(' ')}\n${usageOf(tool.name, tool.params)}`,
    )
  for (const [name, p] of Object.entries(tool.params)) {
    if (p.place !== undefined || parsed.values[name] === undefined) continue
    const value = parsed.values[name]
    if (p.choices && !p.choices.includes(String(value)))
      throw new UsageError(`--${name} is one of ${p.choices.join(', ')}`)
    const wanted = otherThan(p, value)
    if (wanted !== undefined) throw new UsageError(`--${name} takes ${wanted}, not ${value}`)
    args[name] = value
  }
  return args
}

async function noSuchStep(tool: Tool, steps: readonly string[], given: string): Promise<UsageError> {
  const { didYouMean } = await import('../../model/names.ts')
  const what = `there is no \`tidemark ${tool.name} ${given.slice(0, 40).toWellFormed()}\`: ${tool.name} takes ${steps.join(', ')}`
  return new UsageError(what, didYouMean(given, steps, ''))
}

/** On a terminal, what a person waits for; in a pipe nothing. */
async function tellWaiting(): Promise<void> {
  if (!process.stderr.isTTY) return
  const { tellOfWaiting } = await import('../../engine/store/db.ts')
  tellOfWaiting(() => err('waiting for another writer … (Ctrl-C gives up, and nothing is written)'))
  const { tellOfMigrating } = await import('../../engine/store/open-db.ts')
  tellOfMigrating(progress)
}

async function runTool(tool: Tool, argv: readonly string[]): Promise<number> {
  const texts = Object.values(tool.params).some((p) => p.place === 'rest' && !p.list)
  const parsed = parse(argv, flagsOf(tool.params), texts)
  if (parsed.values.help) {
    out(toolHelp(tool))
    return 0
  }
  const args = await toolArgs(tool, parsed)
  await tellWaiting()
  const { openAt } = await import('../../project/open.ts')
  const { memory, project } = openAt({ projectPath: directoryOf(parsed.values) })
  if (memory.db.readOnly) err('note: the store cannot be written here: it is read as it is')
  else if (statSync(join(project.root, '.git'), { throwIfNoEntry: false })?.isFile()) {
    const { tellUnwired } = await import('../../session/clients/common/rewired.ts')
    const unwired = tellUnwired(memory, project.root)
    if (unwired !== undefined) err(shown(`note: ${unwired}`))
  }
  let shows: (() => void) | undefined
  try {
    const json = parsed.values.json === true
    const { clientOf, isOfClient, typist } = await import('../../work/coordination/caller.ts')
    const { refusedWhileOff } = await import('../../session/hooks/pause.ts')
    const off = ['off', 'on', 'resume'].includes(tool.name) || !isOfClient(memory) ? undefined : refusedWhileOff(memory)
    if (off && !tool.readOnly) throw off
    if (off) {
      if (json) outJson({ off: true })
      else out(`${off.message}: go on without it`)
      return 0
    }
    const session = await actor(memory, project, parsed.values, tool, args)
    const by = typist(memory)
    const isTerminal = by === 'person'
    const isScreen = !json && Boolean(process.stdout.isTTY || process.env.FORCE_COLOR) && !isOfClient(memory)
    const context: ToolContext = {
      memory,
      project,
      directory: process.cwd(),
      agent: process.env.TIDEMARK_AGENT ?? clientOf(memory, session),
      by,
      local: isScreen,
      session,
      // an agent in a terminal of its own answers for nobody
      ask: isTerminal ? async (question) => (await import('./ask.ts')).ask(shown(question)) : undefined,
      key:
        isTerminal && !json
          ? async (question, keys) => (await import('./ask.ts')).key(shown(question), keys)
          : undefined,
      progress: process.stderr.isTTY ? progress : undefined,
    }
    if (args.follow === true && tool.follow) return await follow(tool, context, args, json)
    let done: Output
    try {
      done = await (tool.readOnly
        ? tool.run(context, args)
        : (await import('../tools/run.ts')).run(tool, context, args))
    } catch (error) {
      throw asTyped(error, tool)
    }
    progress()
    if (done.lines && (json || !process.stdout.isTTY)) for (const line of done.lines) outJson(line)
    else if (json) outJson(done.json)
    else if (isScreen) shows = await onTerminal(done, tool, args)
    else if (done.text !== '') out(textOf(done, tool))
    if (!tool.readOnly) for (const note of memory.maintain()) err(shown(`note: ${note}`))
  } finally {
    memory.close()
  }
  shows?.()
  return 0
}

/** What a person reads on a terminal; a long answer goes through a pager, once the store is closed. */
async function onTerminal(done: Output, tool: Tool, args: Readonly<Record<string, unknown>>) {
  const { isForced, page, render, terminalOf } = await import('./terminal.ts')
  const { stdout, env } = process
  const terminal = terminalOf(stdout, env)
  const blocks = args.sexp === true || !(stdout.isTTY || isForced(env)) ? undefined : done.page?.()
  const text = blocks ? render(blocks, terminal) : textOf(done, tool)
  if (stdout.isTTY && tool.readOnly) return () => void (text === '' || page(text, terminal, env) || out(text))
  if (text !== '') out(text)
}

/** A refusal in the flags of the command, without the number and verb of an action that the command made itself. */
function asTyped(error: unknown, tool: Tool): unknown {
  if (!(error instanceof UserError) || error instanceof UsageError) return error
  const flags = (text: string) =>
    text
      .replaceAll('give "session"', 'give --session')
      .replace(/\bas "(\w{1,20})"/g, (given, name: string) => (tool.params[name] ? `as --${name}` : given))
      .replace(/\(start-(goal|activity|task)\)/g, '(`tidemark $1 start`)')
      .replace(/, or give "(\w{1,20})": true(.*)/g, (_, name: string, why: string) =>
        tool.params[name] ? `, or give --${name}${why}` : '',
      )
  const problems = tool.name === 'act' ? [] : (error.details.problems as Problem[] | undefined)
  const [only] = problems?.length === 1 ? problems : []
  if (only?.verb === undefined) return new UserError(error.code, flags(error.message), flags(error.hint), error.details)
  const hint = flags(only.hint ?? (only.accepted ? `it takes ${only.accepted}` : error.hint))
  const message = `${only.field ? `${only.field}: ` : ''}${only.message}; nothing was written`
  return new UserError(error.code, message, hint, error.details)
}

/** The session that acts; `session` itself says what happens to it. */
async function actor(
  memory: Memory,
  project: Project,
  values: Parsed['values'],
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
) {
  const { actAs, actingSession, isOfClient, ownSession } = await import('../../work/coordination/caller.ts')
  const origin = { named: typeof values.session === 'string' ? values.session : undefined }
  if (origin.named && tool.ofSession?.(args))
    (await import('../../work/coordination/session-lookup.ts')).knownSession(memory, origin.named)
  // who only looks at a session is not the session; what agents call is a sign of life
  const looks = tool.name === 'session' || (origin.named !== undefined && tool.readOnly && !TOOLS[tool.name]?.mcp)
  const { userName } = await import('../../project/open.ts')
  const user = userName(project.root)
  const acting = looks ? actingSession(memory, origin) : actAs(memory, origin, { root: project.root, user })
  // an agent that no variable tells of is on no terminal
  if (acting !== undefined || !tool.needsSession || !process.stdin.isTTY || isOfClient(memory)) return acting
  return ownSession(memory, user ?? 'person', project.root, !tool.readOnly && tool.needsSession(args))
}

/** Prints what happens, as it happens, until the process is told to end or nobody reads on. */
async function follow(tool: Tool, context: ToolContext, args: Record<string, unknown>, json: boolean): Promise<number> {
  const asJson = json || !process.stdout.isTTY
  const stop = tool.follow!(context, args, (several) =>
    out(several.map((e) => (asJson ? jsonShown(JSON.stringify(e.json)) : shown(e.text))).join('\n')),
  )
  const alive = setInterval(() => {}, 2 ** 30) // what is waited for does not keep a process alive by itself
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  clearInterval(alive)
  stop()
  return 0
}

async function runCommand(command: Command, argv: readonly string[]): Promise<number> {
  const parsed = parse(argv, command.flags)
  if (parsed.values.help) {
    out(commandHelp(command))
    return 0
  }
  if (command.usage === undefined && parsed.place.length > 0)
    throw new UsageError(`too many arguments: ${parsed.place.join(' ')}\nusage: tidemark ${command.name} [options]`)
  if (command.name !== 'hook') await tellWaiting()
  const json = parsed.values.json === true
  const session = parsed.values.session ?? process.env.TIDEMARK_SESSION
  const done = await command.run({
    place: parsed.place,
    flags: parsed.values,
    directory: directoryOf(parsed.values),
    json,
    session: typeof session === 'string' && session !== '' ? session : undefined,
    out: json ? () => {} : say,
    err,
    progress,
  })
  if (json) outJson((done?.json ?? {}) satisfies Json)
  return done?.code ?? 0
}
