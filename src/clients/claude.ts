import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../errors.ts'
import { isLocalCommand, launchProblem, localCommand, startsTidemark } from './command.ts'
import { readText } from './files.ts'
import { entryOf } from './journal.ts'
import { at, insertJson, isEmptyJson, readJson, removeJson } from './json-edit.ts'
import { mainWorkTree } from './path.ts'
import { plug, type Target, unplug } from './target.ts'
import type { Client, ClientContext, Finding, WiringChange } from './types.ts'

const client = 'claude'
const NAME = 'tidemark'
const envOf = (ctx: ClientContext) => ctx.env ?? process.env

/** In `.mcp.json`: the same words for everybody in the team, and the tools are there without being searched for. */
const SHARED = { type: 'stdio', command: NAME, args: ['mcp'], alwaysLoad: true }
const localEntry = (ctx: ClientContext) => ({ type: 'stdio', ...localCommand(ctx) })

const configDir = (ctx: ClientContext) => envOf(ctx).CLAUDE_CONFIG_DIR || join(ctx.home, '.claude')
const globalFile = (ctx: ClientContext) => join(envOf(ctx).CLAUDE_CONFIG_DIR || ctx.home, '.claude.json')
const sharedFile = (ctx: ClientContext) => join(ctx.root, '.mcp.json')
const approvalFile = (ctx: ClientContext) => join(ctx.root, '.claude', 'settings.local.json')

const jsonTarget = (
  file: string,
  scope: Target['scope'],
  path: string[],
  leaf: { key: string; value: unknown } | { item: unknown },
  state: (root: Record<string, unknown>) => ReturnType<Target['state']>,
): Target => ({
  client,
  file,
  scope,
  state: (text) => state(readJson(text, file)),
  insert(text) {
    const made = insertJson(text ?? '{}', path, leaf, file)
    return text === null ? { ...made, text: `${made.text}\n` } : made
  },
  remove(text, undo) {
    if (!text.includes(NAME)) return text
    const found = state(readJson(text, file))
    const ours = found === 'ours' || found === 'stale' || (found === 'hand-made' && undo !== undefined)
    return ours ? removeJson(text, path, leaf, undo) : text
  },
  isEmpty: isEmptyJson,
})

const starts = (entry: unknown) => startsTidemark(at(entry, 'command'), at(entry, 'args'))
const kindOf = (entry: unknown) => (starts(entry) ? 'hand-made' : 'yours')

// when what we write changes, what earlier versions wrote stays in this list
const SHARED_FORMS = [SHARED]
function sharedState(root: Record<string, unknown>) {
  const entry = at(root, 'mcpServers', NAME)
  if (entry === undefined) return 'absent'
  return SHARED_FORMS.some((form) => isDeepStrictEqual(entry, form)) ? 'ours' : kindOf(entry)
}

const shared = (ctx: ClientContext) =>
  jsonTarget(sharedFile(ctx), 'committed', ['mcpServers'], { key: NAME, value: SHARED }, sharedState)

const local = (ctx: ClientContext) => {
  const path = ['projects', mainWorkTree(ctx.root), 'mcpServers']
  const value = localEntry(ctx)
  return jsonTarget(globalFile(ctx), 'local', path, { key: NAME, value }, (root) => {
    const entry = at(root, ...path, NAME)
    if (entry === undefined) return 'absent'
    if (isDeepStrictEqual(entry, value)) return 'ours'
    const { command, args, ...rest } = entry as Record<string, unknown>
    // `env` and the like are the user's words, unless they are the empty ones that Claude Code puts in itself
    const plain = isDeepStrictEqual({ env: {}, ...rest }, { type: 'stdio', env: {} })
    return plain && isLocalCommand(command, args) ? 'stale' : kindOf(entry)
  })
}

const includes = (list: unknown) => Array.isArray(list) && list.includes(NAME)

const approval = (ctx: ClientContext) =>
  jsonTarget(approvalFile(ctx), 'local', ['enabledMcpjsonServers'], { item: NAME }, (root) =>
    includes(root.enabledMcpjsonServers) ? 'ours' : 'absent',
  )

const jsonOf = (file: string) => readJson(readText(file) ?? '', file)

function approve(ctx: ClientContext): WiringChange {
  const target = approval(ctx)
  const text = readText(target.file)
  const settings = readJson(text ?? '', target.file)
  const why = includes(settings.disabledMcpjsonServers)
    ? 'it switches the server off (disabledMcpjsonServers), which is left as it is'
    : settings.enableAllProjectMcpServers === true
      ? 'it approves every server of the project already'
      : undefined
  if (why !== undefined)
    return { client, file: target.file, scope: 'local', action: 'none', before: text, after: text, why }
  return plug(ctx, target, 'approves that server on this machine, which Claude Code honours once the folder is trusted')
}

function wireLocal(ctx: ClientContext): WiringChange[] {
  const target = local(ctx)
  if (!ctx.launcher.onPath)
    return [
      plug(
        ctx,
        target,
        'tidemark is not on the PATH here, so this machine gets an entry with full paths, which wins over .mcp.json',
      ),
    ]
  const entry = at(jsonOf(target.file), 'projects', mainWorkTree(ctx.root), 'mcpServers', NAME)
  const broken = starts(entry) && launchProblem(ctx, at(entry, 'command'), at(entry, 'args'))
  return broken ? unplug(ctx, target, `tidemark is on the PATH now, and the old entry hides that: ${broken}`) : []
}

function check(ctx: ClientContext): Finding[] {
  const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
  const root = jsonOf(sharedFile(ctx))
  const entry = at(root, 'mcpServers', NAME)
  const own = at(jsonOf(globalFile(ctx)), 'projects', mainWorkTree(ctx.root), 'mcpServers', NAME)
  if (entry === undefined && own === undefined)
    return [bad('Claude Code is not wired: .mcp.json has no entry tidemark', 'run `tidemark init --client claude`')]
  const [used, where] = own === undefined ? [entry, '.mcp.json'] : [own, globalFile(ctx)]
  if (!starts(used))
    return [
      bad(
        `${where} has an entry called tidemark that starts something else`,
        'rename or remove it, then run `tidemark init`',
      ),
    ]

  const problem = launchProblem(ctx, at(used, 'command'), at(used, 'args'))
  const findings: Finding[] = [
    problem === undefined
      ? { client, ok: true, message: `Claude Code starts tidemark from ${where}` }
      : bad(
          `${where}: ${problem}`,
          'install it with `npm install -g tidemark`, or run `tidemark init` again from where it lies',
        ),
  ]
  if (own !== undefined) return findings // an entry of this machine needs no approval

  const machine = at(jsonOf(globalFile(ctx)), 'projects', mainWorkTree(ctx.root))
  const inProject = [approvalFile(ctx), join(ctx.root, '.claude', 'settings.json')].map(jsonOf)
  const users = jsonOf(join(configDir(ctx), 'settings.json'))
  const approves = (s: unknown) =>
    at(s, 'enableAllProjectMcpServers') === true || includes(at(s, 'enabledMcpjsonServers'))
  const switchedOff = [...inProject, users, machine].some((s) => includes(at(s, 'disabledMcpjsonServers')))
  // the user's own settings count everywhere; those in the project only once it is trusted (seen in runs of 2.1.330)
  const trusted = at(machine, 'hasTrustDialogAccepted') === true
  if (switchedOff)
    findings.push(
      bad('the server is switched off in Claude Code (disabledMcpjsonServers)', 'switch it on with /mcp in `claude`'),
    )
  else if (approves(users) || (trusted && [...inProject, machine].some(approves)))
    findings.push({ client, ok: true, message: 'the server is approved in Claude Code' })
  else if ([...inProject, machine].some(approves))
    findings.push(
      bad(
        'the server is approved, but Claude Code does not trust this folder yet and shows it as "Pending approval"',
        'start `claude` here once and trust the folder',
      ),
    )
  else
    findings.push(
      bad(
        'the server is not approved on this machine: Claude Code shows it as "Pending approval"',
        'run `tidemark init`, or say yes when `claude` asks',
      ),
    )
  return findings
}

/** Claude Code, project scope: `.mcp.json` for the team, approval and full paths for this machine. */
export const claude: Client = {
  name: client,
  title: 'Claude Code',
  detect(ctx) {
    const places = [
      join(ctx.root, '.claude'),
      sharedFile(ctx),
      join(ctx.root, 'CLAUDE.md'),
      configDir(ctx),
      globalFile(ctx),
    ]
    const found = places.find((place) => existsSync(place))
    return found ? { found: true, why: `${found} is there` } : { found: false, why: 'no sign of Claude Code' }
  },
  wire(ctx) {
    const server = plug(
      ctx,
      shared(ctx),
      'the file of the project that Claude Code shares with the team; it holds no path of this machine',
    )
    return sharedState(jsonOf(sharedFile(ctx))) === 'yours' ? [server] : [server, approve(ctx), ...wireLocal(ctx)]
  },
  unwire(ctx) {
    const server = unplug(ctx, shared(ctx), 'takes out the server')
    // the approval belongs to the server of that name: if that is the user's own, so is the approval
    const theirs = server.some((change) => change.action === 'none') && !entryOf(ctx.root, approvalFile(ctx))
    return [
      ...server,
      ...(theirs ? [] : unplug(ctx, approval(ctx), 'takes back the approval')),
      ...unplug(ctx, local(ctx), 'takes out the entry of this machine'),
    ]
  },
  check(ctx) {
    try {
      return check(ctx)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return [{ client, ok: false, message: error.message, hint: error.hint }]
    }
  },
}
