import { existsSync } from 'node:fs'
import { systemEnv } from '../../../base/env.ts'
import { attempt, UserError, unlessRefused, when } from '../../../base/errors.ts'
import { sayMissing } from '../../../engine/replication/restore.ts'
import { findProject, type Project } from '../../../engine/store/project.ts'
import type { Json } from '../../../model/field.ts'
import { openProject } from '../../../project/open.ts'
import { many } from '../../../session/briefing/format.ts'
import { type Check, ok, wrong } from '../../../session/hooks/doctor-line.ts'
import { restoreProject } from '../../../travel/sync/restore.ts'
import { VERSION } from '../../version.ts'
import type { Command, CommandCall } from '../command.ts'
import { checkMachine, checkMemory, DAMAGED } from '../doctor-checks.ts'

const isWrong = ({ state }: Check) => state === 'wrong'

const jsonOf = (c: Check): Json => ({ id: c.id, ok: !isWrong(c), what: c.text, ...(c.fix ? { hint: c.fix } : {}) })

/** The last line: whether there is anything to do. */
function summaryOf(checks: readonly Check[]): string {
  const bad = checks.filter(isWrong).length
  return bad === 0 ? '\nnothing is to be mended' : `\n${many(bad, 'thing')} to look at, marked FIX`
}

/** Makes a sound store out of everything that can be read, and says what is in no copy any more. */
async function restore(project: Project, call: CommandCall): Promise<{ json: Json; code: number }> {
  // one that a newer Tidemark wrote is not damaged, and one that somebody else made is none of ours: both are left alone
  const isToRestore = (e: unknown) => !(e instanceof UserError && ['store-newer', 'store-foreign'].includes(e.code))
  attempt(() => openProject(project).close(), when(isToRestore))
  const open = (path: string) => openProject({ ...project, storePath: path }, { unlisted: true, isOurs: true })
  const done = await restoreProject(project, systemEnv, open)
  using memory = open(project.storePath)
  const last = memory.lastBatch
  const complete = done.missing.length === 0
  if (done.unchanged)
    call.out(
      `the store is sound and holds all that can be read of every copy${done.shared > 0 ? '' : ': nothing was changed'}`,
    )
  else if (done.from === null) call.out('no copy could be read whole: the store was put together from single batches')
  else call.out(`made a sound store, beginning with ${done.from}`)
  if (done.salvaged > 0) call.out(`read ${many(done.salvaged, 'further batch', 'further batches')} out of other copies`)
  if (done.shared > 0)
    call.out(`read ${many(done.shared, 'batch', 'batches')} that git or the hub holds and no copy of the store`)
  if (done.hub !== undefined) call.out(`the hub was not read: ${done.hub}; what it holds comes with \`tidemark sync\``)
  if (done.remade.length > 0)
    call.out(`made again from what they did, since their lines were damaged: ${done.remade.join(', ')}`)
  if (done.parts.length > 0)
    call.out(`what these said of things that stay on this machine is lost: ${done.parts.join(', ')}`)
  call.out(
    last
      ? `the store holds everything up to batch ${last.batch} of ${new Date(last.at).toISOString()} (${last.summary})`
      : 'the store is empty',
  )
  if (done.unread.length > 0)
    call.out(`what this machine alone knew could not be read to its end: ${done.unread.join(', ')}`)
  for (const m of done.missing) call.out(`${sayMissing(m)}: no copy holds it, nor does git or the hub`)
  for (const line of done.told) call.out(line)
  const kept = done.kept.filter((path) => existsSync(path))
  if (kept.length > 0) call.out(`the damaged files are kept: ${kept.join(', ')}`)
  if (!done.unchanged)
    call.out('restart other Tidemark processes of this project (MCP servers): they still have the old file open')
  return {
    json: {
      restored: done.from,
      unchanged: done.unchanged,
      salvaged: done.salvaged,
      shared: done.shared,
      ...(done.hub === undefined ? {} : { hub: done.hub }),
      remade: [...done.remade],
      parts: [...done.parts],
      upTo: last?.batch ?? null,
      missing: done.missing.map((m) => ({ ...m })),
      unread: [...done.unread],
      complete,
      kept,
    },
    code: complete ? 0 : 1,
  }
}

export const doctor: Command = {
  name: 'doctor',
  about: 'checks the installation as each client would use it, and says how to mend what is wrong',
  example: 'tidemark doctor',
  flags: {
    rebuild: { type: 'flag', about: 'drop every index and make it again from the log' },
    restore: {
      type: 'flag',
      about: 'make a sound store out of every batch that any copy of it still holds, git or the hub',
    },
    compact: {
      type: 'text',
      value: 'TIME',
      about: 'fold history before this moment away; answers about later moments stay the same',
    },
  },
  async run(call): Promise<{ json: Json; code?: number }> {
    const checks: Check[] = []
    const say = (c: Check) => {
      checks.push(c)
      call.out(`${isWrong(c) ? 'FIX ' : 'ok  '} ${c.text}${c.fix ? `\n     → ${c.fix}` : ''}`)
    }
    say(
      ok('tidemark', `tidemark ${VERSION} on Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}`),
    )
    const refused = ({ message, hint }: UserError) => void say(wrong('project', message, hint))
    const ended = () => ({ json: { checks: checks.map(jsonOf) }, code: 1 })
    const project = unlessRefused(() => findProject(call.directory), refused)
    if (!project) return ended()
    say(ok('project', `project ${project.name} (${project.id}) at ${project.root}`))
    if (call.flags.restore) return restore(project, call)
    const memory = unlessRefused(() => openProject(project), refused)
    if (!memory) return ended()
    try {
      if (call.flags.rebuild) {
        const done = memory.rebuild((n, total) => call.progress(`rebuilding ${n} of ${total}`))
        call.progress()
        const [entities, batches] = [many(done.entities, 'entity', 'entities'), many(done.lines, 'batch', 'batches')]
        say(ok('rebuild', `rebuilt ${entities} from ${batches}`))
      }
      if (typeof call.flags.compact === 'string') {
        const done = memory.compact(call.flags.compact)
        const [batches, events] = [many(done.lines, 'batch', 'batches'), many(done.events, 'overwritten event')]
        const from = new Date(done.horizon).toISOString()
        say(ok('compact', `folded ${batches} and ${events} away; history starts at ${from}`))
        if (!done.shrunk) say(ok('compact', 'the file did not shrink: others were at work; do it again when they rest'))
      }
      await checkMemory(memory, project, say)
    } finally {
      memory.close()
    }
    checkMachine(project, call.directory, say)
    call.out(summaryOf(checks))
    return {
      json: {
        project: { id: project.id, name: project.name, root: project.root, store: project.storePath },
        checks: checks.map(jsonOf),
      },
      // what it was asked to do was done; the rest is to be looked at
      code: checks.some((c) => isWrong(c) && (!(call.flags.rebuild || call.flags.compact) || c.id === DAMAGED)) ? 1 : 0,
    }
  },
}
