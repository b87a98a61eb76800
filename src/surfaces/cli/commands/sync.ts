import { existsSync } from 'node:fs'
import { UserError } from '../../../base/errors.ts'
import type { Memory } from '../../../engine/memory.ts'
import { shortBatch } from '../../../engine/store/keys.ts'
import { missingLines } from '../../../engine/store/log.ts'
import { withoutKey } from '../../../engine/store/own-lines.ts'
import {
  findProject, ignoreViews, type Project, refusePersonal, settleConfig, writeAttributes,
} from '../../../engine/store/project.ts' // biome-ignore format: a list
import { rememberProject } from '../../../engine/store/project-list.ts'
import { summaryOf } from '../../../engine/store/summary.ts'
import { hubOf } from '../../../engine/store/user-state.ts'
import type { Json } from '../../../model/field.ts'
import { openProject } from '../../../project/open.ts'
import { many } from '../../../session/briefing/format.ts'
import { checkSegments } from '../../../travel/sync/check-segments.ts'
import { droppedLines, settleDropped } from '../../../travel/sync/dropped.ts'
import { compactSegments, newHistory, type Pending, pendingIn, publish } from '../../../travel/sync/publish.ts'
import { type Received, receiveAgain } from '../../../travel/sync/receive.ts'
import { receiveCommitted } from '../../../travel/sync/restore.ts'
import { countedKinds } from '../../tools/format.ts'
import { refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'
import { installHook, writeWorkflow } from './sync-hook.ts'
import { batches, keylessNote, tellDropped, tellHeld, tellHub, tellLines } from './sync-told.ts'

function tellReceived(call: CommandCall, { applied, back, gaps, damaged }: Received): void {
  if (back > 0) call.out(`  back    ${batches(back)} of this machine that its store had lost`)
  if (applied > back) call.out(`  read    ${batches(applied - back)} of others; unverified until confirmed here`)
  else if (back === 0) call.out('  read    nothing new')
  if (gaps > 0) call.out(`  miss    ${batches(gaps)} that others name and that are not in this work tree`)
  for (const { path, why } of damaged) call.out(`  leave   ${path}: ${why}; what is sound in it was read`)
}

const summariesOf = (memory: Memory, lines: Pending['lines']) =>
  lines.map((line) => summaryOf(line, (id) => memory.reader.entity(id)?.name))

function stayingKinds(memory: Memory): string {
  const registry = memory.reader.registry()
  return countedKinds(
    memory.reader.counts().filter(({ kind }) => (registry.kind(kind)?.travels ?? 'machine') !== 'project'),
  )
}

async function dryRun(call: CommandCall, memory: Memory, { root }: Project): Promise<Json> {
  const dropped = new Set((await droppedLines(memory, root)).lines.map((l) => l.hash))
  const { lines: all, staying, held } = pendingIn(memory, root)
  const lines = all.filter((l) => !dropped.has(l.hash))
  call.out(`  travels ${batches(lines.length)} would be written to .tidemark/log/`)
  tellLines(call, summariesOf(memory, lines))
  const kinds = stayingKinds(memory)
  call.out(`  stays   sessions, claims${kinds ? `, ${kinds}` : ''}`)
  if (held) tellHeld(call, held)
  return { dryRun: true, travels: summariesOf(memory, lines), staying, held: (held as unknown as Json) ?? null }
}

/** Exchanges with the hub that the project has joined. Weeks without it are nothing unusual. */
async function exchange(call: CommandCall, memory: Memory, { id, storePath }: Project): Promise<Json | undefined> {
  const joined = hubOf(id, storePath)
  if (!joined) return undefined
  const { exchangeOnce } = await import('../../../travel/sync/hub-exchange.ts')
  try {
    const done = await exchangeOnce(memory, joined)
    tellHub(call, done)
    const { applied: read, pushed, odd, refused = null } = done
    return { url: joined.url, read, pushed: pushed.length, odd, refused }
  } catch (error) {
    if (!(error instanceof UserError) || !['hub-unreached', 'hub-refused'].includes(error.code)) throw error
    call.out(`  hub     ${error.message}; ${error.hint}`)
    return { url: joined.url, error: error.code }
  }
}

/** For CI: is what the work tree holds sound, and nothing of this machine missing in it? */
async function check(call: CommandCall, project: Project): Promise<{ json: Json; code: number }> {
  const { problems, segments, lines: count } = checkSegments(project.root)
  if (existsSync(project.storePath)) {
    using memory = openProject(project)
    const { lines, held } = pendingIn(memory, project.root)
    const dropped = lines.length > 0 ? (await droppedLines(memory, project.root)).lines.length : 0
    if (lines.length > dropped)
      problems.push(`${batches(lines.length - dropped)} of this machine not in .tidemark/log/: run \`tidemark sync\``)
    if (held) problems.push(`${held.batch} is held back: it looks like a secret (${held.category})`)
  }
  for (const problem of problems) call.out(`wrong   ${problem}`)
  if (problems.length === 0) call.out(`ok      ${many(segments, 'segment')} with ${batches(count)}`)
  return { json: { segments, batches: count, problems }, code: problems.length > 0 ? 1 : 0 }
}

async function explained(call: CommandCall, root: string, range: string): Promise<{ json: Json; code: number }> {
  const { explain, markdownOf } = await import('../../../travel/sync/explain.ts')
  const explanation = await explain(root, range)
  call.out(markdownOf(explanation).trimEnd())
  return { json: explanation as unknown as Json, code: explanation.problems.length > 0 ? 1 : 0 }
}

/** A person lets batches count nowhere, or again. */
function settle(call: CommandCall, memory: Memory, said: string, door: 'decline' | 'admit'): Json {
  refuseAgents(call.directory)
  const n = memory.decline(said.split(',').filter(Boolean), { admit: door === 'admit' })
  call.out(
    door === 'admit'
      ? `${batches(n)} ${n === 1 ? 'counts' : 'count'} again`
      : `${batches(n)} ${n === 1 ? 'counts' : 'count'} nowhere here any more; \`tidemark sync --admit ${said}\` brings ${n === 1 ? 'it' : 'them'} back`,
  )
  return { [door]: n }
}

export const sync: Command = {
  name: 'sync',
  about:
    'exchanges knowledge through git: reads what others committed to .tidemark/log/, and writes there what this machine recorded, to be committed; and with the hub, if the project has joined one',
  example: 'tidemark sync --dry-run',
  flags: {
    'dry-run': { type: 'flag', about: 'say what travels and what stays, write nothing' },
    check: { type: 'flag', about: 'for CI: exit 1 if a segment is damaged, or something is not written yet' },
    explain: {
      type: 'text',
      value: 'BASE..HEAD',
      about: 'what a pull request does to the knowledge, as Markdown: read off its exact lines, and needs no store',
    },
    compact: { type: 'flag', about: 'make one segment of your own small ones; on the branch that the others merge' },
    git: { type: 'flag', about: 'through git alone: the hub is left out' },
    decline: { type: 'text', value: 'BATCH,…', about: 'let these batches count nowhere here, and send them to nobody' },
    admit: { type: 'text', value: 'BATCH,…', about: 'let these count again' },
    github: {
      type: 'flag',
      about: 'add a workflow that posts what each pull request does to the knowledge, and fails on what --check finds',
    },
    hook: { type: 'flag', about: 'have git do it before each commit: adds .git/hooks/pre-commit' },
  },
  async run(call) {
    const project = findProject(call.directory)
    const { root } = project
    refusePersonal(root)
    if (typeof call.flags.explain === 'string') return explained(call, root, call.flags.explain)
    if (call.flags.github) {
      call.out(writeWorkflow(root))
      return {}
    }
    if (call.flags.check) return check(call, project)
    using memory = openProject(project)
    for (const door of ['decline', 'admit'] as const) {
      const said = call.flags[door]
      if (typeof said === 'string') return { json: settle(call, memory, said, door) }
    }
    if (call.flags['dry-run']) return { json: await dryRun(call, memory, project) }
    if (call.flags.hook) call.out(await installHook(root))
    if (settleConfig(root)) call.out('  settled a conflict in .tidemark/config.json: two clones had run `init`')
    ignoreViews(root)
    writeAttributes(root)
    rememberProject(project)
    const met = withoutKey(memory.db)
    const received = receiveAgain(memory, root)
    received.back += await receiveCommitted(memory, root, missingLines(memory.db))
    tellReceived(call, received)
    const dropped = await settleDropped(memory, root)
    tellDropped(call, dropped)
    const { lines, staying, held, written, removed, committed } = publish(memory, root)
    call.out(`  write   ${lines.length > 0 ? `${batches(lines.length)}: ${written.join(', ')}` : 'nothing new'}`)
    tellLines(call, summariesOf(memory, lines))
    for (const line of newHistory(committed)) call.out(line)
    if (held) tellHeld(call, held)
    if (call.flags.compact) {
      const compacted = compactSegments(memory, root)
      written.push(...compacted.written)
      removed.push(...compacted.removed)
      call.out(`  compact ${many(compacted.removed.length, 'segment')} into ${compacted.written.length}`)
    }
    const hub = call.flags.git ? undefined : await exchange(call, memory, project)
    const keyless = withoutKey(memory.db).filter((replica) => !met.includes(replica))
    if (keyless.length > 0) call.out(`  beware  ${keylessNote(keyless)}`)
    if (written.length > 0) call.out('commit .tidemark/ and push it; others read it with their next command')
    return {
      json: {
        read: { ...received },
        written,
        removed,
        committed,
        batches: lines.length,
        staying,
        dropped: dropped.lines.map((l) => shortBatch(`${l.replica}:${l.seq}`)),
        held: (held as unknown as Json) ?? null,
        ...(hub === undefined ? {} : { hub }),
      },
      code: held ? 1 : 0,
    }
  },
}
