import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { many } from '../../../briefing/format.ts'
import { checkWiring, sweepLeft } from '../../../clients/wiring.ts'
import { systemEnv } from '../../../env.ts'
import { UserError } from '../../../errors.ts'
import { unreadEdits } from '../../../handoff/views/copies.ts'
import { type Check, ok, wrong } from '../../../hooks/check.ts'
import { checkHooks } from '../../../hooks/checks.ts'
import { checkExtraction } from '../../../hooks/extract/meter.ts'
import { MAX_LEAD_MS } from '../../../log/clock.ts'
import type { Memory } from '../../../memory.ts'
import type { Json } from '../../../model/field.ts'
import { localMinute } from '../../../model/times.ts'
import { openProject } from '../../../open.ts'
import { restoreStore, sayMissing } from '../../../replication/restore.ts'
import { snapshots } from '../../../store/backup.ts'
import { snapshotFaults } from '../../../store/compare.ts'
import { contentsOf, dropLastSnapshots, lastSnapshots } from '../../../store/deletion.ts'
import { findings, gaps, linesFrom } from '../../../store/log.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { findProject, PROJECT_DIR, type Project } from '../../../store/project.ts'
import { stateDirectory } from '../../../store/state.ts'
import { ago, countedKinds } from '../../../tools/format.ts'
import { VERSION } from '../../version.ts'
import type { Command, CommandCall } from '../command.ts'
import { checkCommand, checkPlaces, checkRecall, checkSessions, checkWriter } from '../doctor-checks.ts'
import { clientContext } from './launcher.ts'

const MB = 1024 * 1024

function checkStore(memory: Memory): Check[] {
  const size = statSync(memory.path).size
  const wal = existsSync(`${memory.path}-wal`) ? statSync(`${memory.path}-wal`).size : 0
  const faults = memory.faults()
  const checks = faults.map((f) =>
    wrong(
      DAMAGED,
      `store is damaged: ${f.text}`,
      f.in === 'index' ? '`tidemark doctor --rebuild` makes it again from the log: nothing is lost' : RESTORE,
    ),
  )
  if (faults.length === 0)
    checks.push(
      ok('store', `store is sound: ${(size / MB).toFixed(1)} MB, schema ${SCHEMA_VERSION}, in ${dirname(memory.path)}`),
    )
  if (wal > 64 * MB)
    checks.push(
      wrong(
        'store.wal',
        `write-ahead log is ${(wal / MB).toFixed(0)} MB`,
        'a process has been reading for very long; the next writer truncates it when that ends',
      ),
    )
  if (memory.isErasing && !memory.db.readOnly) {
    const told = memory.finishErasure()
    checks.push(
      memory.isErasing
        ? wrong('store.erasure', told.join('; '), 'run `tidemark doctor` again once it has ended')
        : ok('store.erasure', ['finished an erasure that was interrupted', ...told].join('; ')),
    )
  }
  for (const problem of memory.db.readOnly || faults.length > 0 ? [] : memory.maintain())
    checks.push(wrong('store.upkeep', problem, 'until it is mended a damaged disk costs more than a day'))
  const all = snapshots(memory.path, memory.env.now())
  const ahead = linesFrom(memory.db, memory.env.now() + MAX_LEAD_MS)
  const dated = Math.max(ahead.last, ...all.map((s) => (s.future ? s.at : 0)))
  if (dated > 0)
    checks.push(
      ok(
        'clock',
        `the clock was ahead, or is behind, with ${many(ahead.lines, 'batch', 'batches')} and ${many(all.filter((s) => s.future).length, 'snapshot')} dated in the future, up to ${localMinute(dated)}; upkeep and leases go by the present time`,
      ),
    )
  for (const s of all)
    for (const fault of snapshotFaults(s.path).slice(0, 1))
      checks.push(
        wrong(
          DAMAGED,
          `the snapshot ${s.path} is damaged: ${fault}`,
          'delete it; the next write from the command line makes another one',
        ),
      )
  checks.push(
    ok(
      'snapshots',
      all.length > 0
        ? `${many(all.length, 'snapshot')}, the newest of ${localMinute(all[0]!.at)}`
        : 'no snapshot yet: the first one is taken with the next write from the command line',
    ),
  )
  for (const g of gaps(memory.db))
    checks.push(
      wrong(
        'log.gap',
        `replica ${g.replica}: line ${g.missing} is missing, ${g.parked} wait for it`,
        'sync with any peer that has it',
      ),
    )
  for (const f of findings(memory.db)) checks.push(wrong('log.finding', f.text, `seen ${localMinute(f.at)}`))
  const conflicts = memory.reader.conflicts().length
  if (conflicts > 0) checks.push(ok('conflicts', `${conflicts} in conflict: \`tidemark conflicts\` lists them`))
  return checks
}

const DAMAGED = 'damaged'
const RESTORE = '`tidemark doctor --restore` brings back everything that any copy still holds'

/** Everything that is read from the store. Damage may end any of these checks: it is told as what it is. */
async function checkMemory(memory: Memory, project: Project, say: (c: Check) => void): Promise<void> {
  try {
    for (const c of [...checkStore(memory), ...checkWriter(memory)]) say(c)
    for (const r of unreadEdits(memory, project.root))
      say(
        wrong(
          'views.edited',
          `${r.file} was not read: ${r.problems.join('; ')}`,
          `what was written is in ${PROJECT_DIR}/${r.aside}: take over what counts, then delete it`,
        ),
      )
    for (const c of [
      ...checkPlaces(project),
      ...(await checkRecall(memory, project)),
      ...checkSessions(memory, project),
    ])
      say(c)
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'store-damaged')) throw error
    say(wrong(DAMAGED, error.message, RESTORE))
  }
}

const isWrong = ({ state }: Check) => state === 'wrong'

/** A check for programs. */
const jsonOf = (c: Check): Json => ({ id: c.id, ok: !isWrong(c), what: c.text, ...(c.fix ? { hint: c.fix } : {}) })

/** The last line: whether there is anything to do. */
function summaryOf(checks: readonly Check[]): string {
  const bad = checks.filter(isWrong).length
  return bad === 0 ? '\nnothing is to be mended' : `\n${many(bad, 'thing')} to look at, marked FIX`
}

/** A store that a newer Tidemark wrote is not damaged, and one that somebody else made is none of ours: both are left alone. */
function refuseOthers(project: Project): void {
  try {
    openProject(project).close()
  } catch (error) {
    if (error instanceof UserError && ['store-newer', 'store-foreign'].includes(error.code)) throw error
  }
}

/** Makes a sound store out of everything that can be read, and says what is in no copy any more. */
function restore(project: Project, call: CommandCall): { json: Json; code: number } {
  refuseOthers(project)
  const open = (path: string) => openProject({ ...project, storePath: path }, { unlisted: true, isOurs: true })
  const done = restoreStore(project.storePath, systemEnv, open)
  const memory = open(project.storePath)
  try {
    const last = memory.lastBatch
    const complete = done.missing.length === 0
    if (done.unchanged) call.out('the store is sound and holds all that can be read of every copy: nothing was changed')
    else if (done.from === null) call.out('no copy could be read whole: the store was put together from single batches')
    else call.out(`made a sound store, beginning with ${done.from}`)
    if (done.salvaged > 0)
      call.out(`read ${many(done.salvaged, 'further batch', 'further batches')} out of other copies`)
    if (done.remade.length > 0)
      call.out(`made again from what they did, since their lines were damaged: ${done.remade.join(', ')}`)
    call.out(
      last
        ? `the store holds everything up to batch ${last.batch} of ${new Date(last.at).toISOString()} (${last.summary})`
        : 'the store is empty',
    )
    if (done.unread.length > 0)
      call.out(`what this machine alone knew could not be read to its end: ${done.unread.join(', ')}`)
    for (const m of done.missing) call.out(`${sayMissing(m)}: no copy holds it`)
    if (done.kept.length > 0) call.out(`the damaged files are kept: ${done.kept.join(', ')}`)
    if (!done.unchanged)
      call.out('restart other Tidemark processes of this project (MCP servers): they still have the old file open')
    return {
      json: {
        restored: done.from,
        unchanged: done.unchanged,
        salvaged: done.salvaged,
        remade: [...done.remade],
        upTo: last?.batch ?? null,
        missing: done.missing.map((m) => ({ ...m })),
        unread: [...done.unread],
        complete,
        kept: [...done.kept],
      },
      code: complete ? 0 : 1,
    }
  } finally {
    memory.close()
  }
}

export const doctor: Command = {
  name: 'doctor',
  about: 'checks the installation as each client would use it, and says how to mend what is wrong',
  usage: '',
  example: 'tidemark doctor',
  flags: {
    rebuild: { type: 'flag', about: 'drop every index and make it again from the log' },
    restore: { type: 'flag', about: 'make a sound store out of every batch that any copy of it still holds' },
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
    const refused = (error: unknown): { json: Json; code: number } => {
      if (!(error instanceof UserError)) throw error
      say(wrong('project', error.message, error.hint))
      return { json: { checks: checks.map(jsonOf) }, code: 1 }
    }
    let project: Project
    let memory: Memory
    try {
      project = findProject(call.directory)
    } catch (error) {
      return refused(error)
    }
    say(ok('project', `project ${project.name} (${project.id}) at ${project.root}`))
    if (call.flags.restore) return restore(project, call)
    try {
      memory = openProject(project)
    } catch (error) {
      return refused(error)
    }
    try {
      if (call.flags.rebuild) {
        const progress = process.stderr.isTTY
          ? (done: number, total: number) => void process.stderr.write(`\r\x1b[Krebuilding ${done} of ${total}`)
          : undefined
        const done = memory.rebuild(progress)
        if (progress) process.stderr.write('\r\x1b[K')
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
    const when = (at: number) => `${localMinute(at)} (${ago(at, Date.now())})`
    for (const c of [...checkHooks(project, when), ...checkExtraction(project, Date.now())]) say(c)
    const state = stateDirectory()
    dropLastSnapshots(state, Date.now())
    for (const s of lastSnapshots(state)) {
      const { name, kinds = [] } = contentsOf(s.path) ?? {}
      const whose = s.project === project.id ? 'this project' : (name ?? `another project, ${s.project}`)
      const holds = countedKinds(kinds) || 'nothing recorded'
      const until = new Date(s.until).toISOString().slice(0, 10)
      say(ok('last-snapshot', `the last snapshot of ${whose} (${holds}), kept until ${until}: ${s.path}`))
    }
    for (const c of checkCommand(process.env)) say(c)
    for (const file of sweepLeft(clientContext(project.root), Date.now()))
      say(ok('leftover', `removed ${file}: an earlier run was killed while it wrote it`))
    for (const c of checkWiring(clientContext(project.root, call.directory)))
      say({ ...c, text: `${c.id.split('.')[0]}: ${c.text}` })
    call.out(summaryOf(checks))
    // what it was asked to do was done; the rest is to be looked at
    const counts = (c: Check) => isWrong(c) && (!(call.flags.rebuild || call.flags.compact) || c.id === DAMAGED)
    return {
      json: {
        project: { id: project.id, name: project.name, root: project.root, store: project.storePath },
        checks: checks.map(jsonOf),
      },
      code: checks.some(counts) ? 1 : 0,
    }
  },
}
