import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { UsageError, UserError, unlessRefused } from '../../../base/errors.ts'
import { gitRoot } from '../../../base/git.ts'
import { bringBack, dropLastSnapshots } from '../../../engine/store/deletion.ts'
import { createProject, findProject, isPersonal, PROJECT_DIR, storePathFor } from '../../../engine/store/project.ts'
import { rememberProject } from '../../../engine/store/project-list.ts'
import { stateDirectory } from '../../../engine/store/user-state.ts'
import type { Json } from '../../../model/field.ts'
import { openProject } from '../../../project/open.ts'
import { foreignJournal, JOURNAL } from '../../../session/clients/common/journal.ts'
import type { ClientContext, WiringChange } from '../../../session/clients/common/types.ts'
import { ALREADY_THERE, READ_TOOLS } from '../../../session/clients/common/types.ts'
import { CLIENTS } from '../../../session/clients/index.ts'
import { applyWiring, checkWiring, planWiring, sweepLeft } from '../../../session/clients/wiring.ts'
import { receiveChanges } from '../../../travel/sync/receive.ts'
import { isOfClient, isTerminal, typist } from '../../../work/coordination/caller.ts'
import { ALL_FACTS, CLIENT_FACTS } from '../../../work/coordination/clients.ts'
import { refreshViews } from '../../../work/handoff/views/refresh.ts'
import * as arrival from '../../tools/arrive.ts'
import { ask, refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'
import { clientContext, shownFile } from './launcher.ts'

/** Where the project is to be: as named, else around the working directory, else the git root or that directory. */
function rootFor(directory: string, named: boolean): string {
  const dir = resolve(directory)
  if (!existsSync(dir))
    throw new UserError('no-directory', `there is no directory ${dir}`, 'give an existing one with --project')
  if (named) return dir
  const project = unlessRefused(() => findProject(dir), undefined, 'no-project')
  return project?.root ?? gitRoot(dir) ?? dir
}

const SCOPES = { committed: 'shared with the team', local: 'this machine only' } as const

/** One file with the reason, for --dry-run. */
function describe(context: ClientContext, c: WiringChange): string {
  if (c.failed) return `  leave  ${c.client}: ${c.why}`
  const verb = c.action === 'none' ? 'leave' : c.action
  return `  ${verb.padEnd(6)} ${shownFile(context, c.file)}  (${SCOPES[c.scope]}): ${c.why}`
}

/** The whole plan in a few lines: what is wired, what the team gets, what this machine gets, and what is left alone. */
function summary(context: ClientContext, changes: readonly WiringChange[]): string[] {
  const wired = CLIENTS.filter(({ name }) => changes.some((c) => c.client === name && !c.failed && c.action !== 'none'))
  const of = (scope: WiringChange['scope']): string[] => {
    const files = (action: WiringChange['action']) =>
      changes.filter((c) => c.scope === scope && c.action === action).map((c) => shownFile(context, c.file))
    const parts = (['create', 'edit', 'delete'] as const).flatMap((action) => {
      const all = [...new Set(files(action))]
      return all.length > 0 ? `${action} ${all.join(', ')}` : []
    })
    return parts.length > 0 ? [`  ${SCOPES[scope]}: ${parts.join('; ')}`] : []
  }
  return [
    ...(wired.length > 0
      ? [`  wire   ${wired.map((c) => CLIENT_FACTS[c.name].title).join(', ')} (--dry-run says why each file)`]
      : []),
    ...of('committed'),
    ...of('local'),
    ...changes
      .filter((c) => c.failed || (c.action === 'none' && c.why !== ALREADY_THERE))
      .map((c) => describe(context, c)),
  ]
}

/** What `--allow` says. An agent does not let itself write. */
function allowedBy(flag: unknown): readonly string[] {
  if (flag === undefined || flag === 'read') return READ_TOOLS
  if (flag === 'none') return []
  if (flag !== 'act') throw new UsageError(`--allow is read, act or none, not ${JSON.stringify(flag)}`)
  refuseAgents()
  return [...READ_TOOLS, 'act']
}

function refusedAt(root: string): string[] {
  const project = findProject(root)
  if (!existsSync(project.storePath)) return []
  using memory = openProject(project, { hurried: true, unlisted: true })
  return [...arrival.refusedIn(memory), ...arrival.readFrom(memory, project.root)]
}

const agreed = async (call: CommandCall): Promise<boolean> =>
  call.flags.yes === true || call.json || !isTerminal() || (await ask('go ahead?', true))

export const init: Command = {
  name: 'init',
  about:
    'makes this a Tidemark project: creates .tidemark/, wires the clients found, imports what is there; a second run changes nothing',
  example: 'tidemark init --client claude,codex --yes',
  flags: {
    client: {
      type: 'text',
      value: 'A,B',
      about:
        'wire these clients (claude, codex, gemini, copilot, cursor, opencode) instead of those found; none for none',
    },
    name: { type: 'text', about: 'what the project is called (default: the folder)' },
    allow: {
      type: 'text',
      value: 'WHAT',
      about:
        'tools that clients run without asking: read (the default: those that only read), act (that one too), none',
    },
    personal: {
      type: 'flag',
      about: 'for you alone: touch no file that the team shares, and keep .tidemark/ out of git',
    },
    yes: { type: 'flag', about: 'do not ask; rules that it finds wait for your yes' },
    'dry-run': { type: 'flag', about: 'say what would be done, do nothing' },
    adopt: { type: 'flag', about: 'set the level of maturity that the repository shows (`tidemark maturity`)' },
    from: {
      type: 'text',
      value: 'FILE',
      about: 'take the knowledge from this snapshot, e.g. the one that uninstall kept',
    },
    with: { type: 'text', value: 'DIR', about: 'a repository inside this one belongs to the project too' },
    without: { type: 'text', value: 'A,B', about: 'of what it finds, leave out these paths or readers, now and later' },
    'no-import': { type: 'flag', about: 'take in nothing of what it finds' },
  },
  async run(call) {
    const root = rootFor(call.directory, call.flags.project !== undefined || Boolean(process.env.TIDEMARK_PROJECT))
    const context: ClientContext = {
      ...clientContext(root),
      allow: allowedBy(call.flags.allow),
      personal: call.flags.personal === true || isPersonal(root),
    }
    const { client } = call.flags
    const named = client === undefined ? undefined : arrival.namesIn(client).filter((c) => c !== 'none')
    let changes = named?.length === 0 ? [] : planWiring(context, named)
    const fresh = !existsSync(join(root, PROJECT_DIR, 'config.json'))
    const without = arrival.namesIn(call.flags.without)
    const refused = fresh ? without : [...without, ...refusedAt(root)]
    const found = call.flags['no-import'] ? { sources: [], lines: [] } : arrival.findSources(root, refused)
    const dry = call.flags['dry-run'] === true

    if (fresh) {
      call.out(`${dry ? 'would make' : 'making'} ${root} a Tidemark project:`)
      call.out(`  create ${PROJECT_DIR}/  (${context.personal ? 'kept out of git' : 'to be committed'})`)
    } else call.out(`${root} is a Tidemark project already`)
    for (const line of dry ? changes.map((c) => describe(context, c)) : summary(context, changes)) call.out(line)
    const foreign = changes.some((c) => c.action !== 'none') ? foreignJournal(root) : undefined
    if (foreign !== undefined) call.out(`  replace ${JOURNAL}, which says what init changed on one machine: ${foreign}`)
    if (changes.length === 0 && named === undefined)
      call.out(`  no client found here (looked for ${ALL_FACTS.map((f) => f.title).join(', ')}); --client names one`)
    if (call.flags.from !== undefined) call.out(`  take   the knowledge from ${call.flags.from}`)
    if (changes.some((c) => c.action !== 'none' && !c.failed))
      call.out('  keep   what you type, on this machine for 90 days (docs/hooks.md says how to switch it off)')
    for (const line of found.lines) call.out(line)
    const report: { [key: string]: Json } = {
      root,
      created: [],
      clients: changes.map((c) => ({ client: c.client, file: c.file, scope: c.scope, action: c.action, why: c.why })),
      imported: [],
    }
    if (dry) return { json: { ...report, dryRun: true } }
    const nothing = !fresh && call.flags.from === undefined && changes.every((c) => c.action === 'none')
    if (!nothing && !(await agreed(call))) {
      call.out('nothing was done')
      return { json: report, code: 1 }
    }
    if (
      !nothing &&
      changes.length > 0 &&
      call.flags.allow === undefined &&
      !call.flags.yes &&
      !call.json &&
      isTerminal()
    ) {
      const more = planWiring({ ...context, allow: [...READ_TOOLS, 'act'] }, named)
      const differs = more.some((c, n) => c.after !== changes[n]?.after)
      if (differs && (await ask('May agents record without being asked each time (act)? Rules still take your yes.')))
        changes = more
    }

    const now = Date.now()
    if (typeof call.flags.from === 'string')
      bringBack(resolve(call.flags.from), storePathFor(root), fresh ? undefined : findProject(root).id)
    dropLastSnapshots(stateDirectory(), now)
    const { project, created } = createProject(root, {
      ...(typeof call.flags.name === 'string' ? { name: call.flags.name } : {}),
      ...(typeof call.flags.with === 'string' ? { with: call.flags.with } : {}),
      personal: call.flags.personal === true,
    })
    if (typeof call.flags.with === 'string')
      call.out(`  ${call.flags.with} belongs to this project now: commit .tidemark/config.json`)
    for (const file of sweepLeft(context, now))
      call.out(`  delete ${relative(root, file)}: an earlier run was killed while it wrote it`)
    applyWiring(context, changes)
    const memory = openProject(project)
    rememberProject(project)
    receiveChanges(memory, project.root)
    const isScript = !isOfClient(memory)
    let imported: Json[] = []
    let again: string | undefined
    let back: string[] = []
    const by = { memory, session: arrival.newArrival(), agent: 'init' }
    const since = memory.cursor
    try {
      arrival.refuse(memory, without)
      const done = arrival.takeIn(by, root, found, call.out)
      imported = done.imported
      again = done.again
      const asks = typist(memory) === 'person' && call.flags.yes !== true && !call.json
      const { lines, json } = await arrival.askForRules(
        by,
        done.taken,
        asks ? (question) => ask(question, true) : undefined,
      )
      for (const line of lines) call.out(`  ${line}`)
      report.rules = json
      // from now on what somebody writes into a view is a hand edit
      for (const note of refreshViews(memory, project)) call.out(`  note: ${note}`)
    } finally {
      back = arrival.wayBack(by, since)
      for (const line of back) call.out(`  ${line}`)
      memory.close()
    }
    if (call.flags.adopt) {
      const { adoptLevel } = await import('../../tools/maturity.ts')
      const { text, json } = await adoptLevel(project, now, isScript ? 'person' : 'agent')
      for (const line of text.split('\n')) call.out(`  ${line}`)
      report.maturity = json
    }
    const done = fresh
      ? `done. \`tidemark status\` says what is known${changes.length > 0 ? '; restart the clients to connect them' : ''}`
      : !nothing
        ? 'done. restart the clients to connect them'
        : back.length > 0
          ? 'done'
          : 'nothing had to be changed'
    call.out(again ?? done)
    const wired = new Set<string>(changes.filter((c) => !c.failed).map((c) => c.client))
    for (const { id, state, text, fix = text } of checkWiring(context)) {
      const client = id.split('.')[0]!
      if (state === 'wrong' && wired.has(client)) call.out(`  next   ${client}: ${fix}`)
    }
    const failed = changes.filter((c) => c.failed)
    for (const c of failed) call.out(`${c.client} is ${c.why}`)
    return {
      json: { ...report, id: project.id, store: project.storePath, created, imported },
      code: failed.length > 0 || again !== undefined ? 1 : 0,
    }
  },
}
