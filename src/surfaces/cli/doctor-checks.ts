import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UserError, unlessRefused, whenRefused } from '../../base/errors.ts'
import { MAX_LEAD_MS } from '../../engine/log/clock.ts'
import type { Memory } from '../../engine/memory.ts'
import { snapshots } from '../../engine/store/backup.ts'
import { remadeLines, snapshotFaults } from '../../engine/store/compare.ts'
import type { Db } from '../../engine/store/db.ts'
import { contentsOf, dropLastSnapshots, lastSnapshots } from '../../engine/store/deletion.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import { retryWithBackoff } from '../../engine/store/lock-wait.ts'
import { allParked, findings, gaps, linesFrom } from '../../engine/store/log.ts'
import { SCHEMA_VERSION } from '../../engine/store/migrations.ts'
import { withoutKey } from '../../engine/store/own-lines.ts'
import { PROJECT_DIR, type Project, settleConfig, storesOf } from '../../engine/store/project.ts'
import { hubOf, stateDirectory } from '../../engine/store/user-state.ts'
import { localMinute } from '../../model/times.ts'
import { many } from '../../session/briefing/format.ts'
import { findOnPath } from '../../session/clients/common/path.ts'
import { checkWiring, sweepLeft } from '../../session/clients/wiring.ts'
import { type Check, ok, wrong } from '../../session/hooks/doctor-line.ts'
import { checkHooks } from '../../session/hooks/hook-health.ts'
import { checkSegments } from '../../travel/sync/check-segments.ts'
import { pendingIn } from '../../travel/sync/publish.ts'
import { lostBatches } from '../../travel/sync/receive.ts'
import { rulesOf } from '../../work/evolution/rules.ts'
import { unreadEdits } from '../../work/handoff/views/copies.ts'
import { ago, countedKinds } from '../tools/format.ts'
import { VERSION } from '../version.ts'
import { clientContext } from './commands/launcher.ts'
import { keylessNote } from './commands/sync-told.ts'

export const DAMAGED = 'damaged'
const RESTORE = '`tidemark doctor --restore` brings back everything that any copy still holds, git or the hub'
const MB = 1024 * 1024
const MOST_NAMED = 5
const START_MS = 10_000
const WRITER_MS = 1_000

/** How many rules of the way of working load, as a session is told at its start. */
function checkRules({ db }: Memory, { root, maturity }: Project): Check[] {
  const rules = rulesOf(root, maturity, db)
  if (!rules) return []
  const fix = '`tidemark rules` lists them'
  return [ok('rules', rules.line), ...rules.problems.map((problem) => wrong('rules', problem, fix))]
}

/** Whether the project has one store on this machine: of two, each knows what the other does not. */
function* checkPlaces(_: Memory, project: Project): Generator<Check> {
  const stores = storesOf(project)
  const others = stores.filter((path) => path !== project.storePath).map(dirname)
  if (stores.length > 1)
    yield wrong(
      'store.places',
      `this project has ${stores.length} stores: ${dirname(project.storePath)} is used here, not ${others.join(' or ')}`,
      `TIDEMARK_STORE=${others[0]} opens the other one; move away the one that you do not want`,
    )
}

/** Whether what the project wants of recall is accepted: until then every recall is refused. */
async function* checkRecall(memory: Memory, project: Project): AsyncGenerator<Check> {
  try {
    const { recallerOf } = await import('../../find/recall/recall.ts')
    recallerOf(memory, project).config // read when it is asked for
    const { waitingEndpoints } = await import('../../find/recall/embedders/consent.ts')
    for (const { told, allow } of waitingEndpoints(project))
      yield wrong('recall.endpoint', told, `if you trust it: \`${allow}\``)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    yield wrong('recall.refused', `recall is refused: ${error.message}`, error.hint.replaceAll('\n', '\n       '))
  }
}

/** Whether symbols of code can be found: the parser is optional to install. */
async function* checkCode(): AsyncGenerator<Check> {
  const { canParse } = await import('../../find/code/parse.ts')
  if (!(await canParse('a.ts')))
    yield ok(
      'code',
      'no parser for code is installed: what changes in a symbol is not seen here (`npm install` without `--omit=optional` brings it)',
    )
}

/** SQLite's lock of the writer: a byte of the shared memory beside the store. */
const WRITER_BYTE = 120

/** The process that holds the write lock of a store, where the system tells (Linux). */
function writerOf(storePath: string): string | undefined {
  try {
    const inode = statSync(`${storePath}-shm`).ino
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const m = /\bWRITE\s+(\d+)\s+\w+:\w+:(\d+)\s+(\d+)\s+(\d+|EOF)/.exec(line)
      if (!m || Number(m[2]) !== inode || Number(m[3]) > WRITER_BYTE || Number(m[4]) < WRITER_BYTE) continue
      return `${m[1]} (${readFileSync(`/proc/${m[1]}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 200)})`
    }
  } catch {} // another system, or the process has just gone
  return undefined
}

/** Whether another process holds the write lock too long. */
function checkWriter(memory: Memory): Check[] {
  if (memory.db.readOnly) {
    const what = 'the store cannot be written here: it is read as it is, and nothing is recorded'
    const fix =
      'see that the disk is not mounted read-only, has space and inodes left (`df -i`), and that you may write to the directory of the store'
    return [wrong('store.read-only', what, fix)]
  }
  const isFree = () => retryWithBackoff(() => memory.db.tryWrite(() => true) === true, WRITER_MS)
  const free = unlessRefused(isFree, ({ message, hint }) => wrong('store.writer', message, hint))
  if (free !== false) return free === true ? [] : [free]
  const writer = writerOf(memory.path)
  const what = `another process has held the store's write lock for more than ${WRITER_MS / 1000} s: nobody else can write`
  const fix = writer
    ? `it is process ${writer}; if it hangs, end it`
    : `if one hangs, end it: \`fuser -v ${memory.path}\` lists who has the store open`
  return [wrong('store.writer', what, `${fix}; nothing that was acknowledged is lost`)]
}

/** Whether the tidemark that clients start by its bare name starts, and is this version. */
function checkCommand(env: Readonly<Record<string, string | undefined>>): Check[] {
  const file = findOnPath('tidemark', env)
  if (file === undefined) return []
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: START_MS, env: { ...env } })
  const version = /\d{1,9}\.\d{1,9}\.\d{1,9}\S*/.exec(run.stdout ?? '')?.[0]
  const hint = 'install this version with `npm install -g tidemark`, or take the other off the PATH'
  const bad = (what: string) => [wrong('command', `${file} is what clients start, and it ${what}`, hint)]
  if (run.status !== 0 || version === undefined)
    return bad(`does not start: ${(run.stderr ?? '').trim().split('\n')[0]}`)
  if (version !== VERSION) return bad(`is tidemark ${version}; this one is ${VERSION}`)
  return [ok('command', `clients start ${file}, which is this version`)]
}

/** Something that was noted once, and what to do about it. */
function noted(db: Db, { key, text, at }: ReturnType<typeof findings>[number]): Check {
  const [kind = '', replica] = key.split(':')
  const waiting = allParked(db).filter((l) => l.replica === replica).length
  // an identity of its own, or a folded state, was settled at once
  if (['forked', 'key', 'snapshot'].includes(kind) && waiting === 0)
    return ok('log.finding', `${text}; nothing is to be done`)
  const seen = `seen ${localMinute(at)}`
  if (waiting > 0)
    return wrong(
      'log.finding',
      `${text}; ${many(waiting, 'batch waits', 'batches wait')} for others before that are not here`,
      `${seen}; pull the branch that has them, or have the other store run \`tidemark sync\` and push`,
    )
  const where = '`tidemark doctor --restore` looks for it in every copy, in git and at the hub'
  return wrong('log.finding', text, kind === 'lost' || kind === 'missing' ? `${seen}; ${where}` : seen)
}

/** The store itself: its files, its log, its snapshots. */
function* checkStore(memory: Memory): Generator<Check> {
  const size = (statSync(memory.path).size / MB).toFixed(1)
  const wal = existsSync(`${memory.path}-wal`) ? statSync(`${memory.path}-wal`).size : 0
  const faults = memory.faults()
  const rebuild = '`tidemark doctor --rebuild` makes it again from the log: nothing is lost'
  for (const f of faults) yield wrong(DAMAGED, `store is damaged: ${f.text}`, f.in === 'index' ? rebuild : RESTORE)
  if (faults.length === 0)
    yield ok('store', `store is sound: ${size} MB, schema ${SCHEMA_VERSION}, in ${dirname(memory.path)}`)
  if (wal > 64 * MB)
    yield wrong(
      'store.wal',
      `write-ahead log is ${(wal / MB).toFixed(0)} MB`,
      'a process has been reading for very long; the next writer truncates it when that ends',
    )
  if (memory.isErasing && !memory.db.readOnly) {
    const told = memory.finishErasure()
    yield memory.isErasing
      ? wrong('store.erasure', told.join('; '), 'run `tidemark doctor` again once it has ended')
      : ok('store.erasure', ['finished an erasure that was interrupted', ...told].join('; '))
  }
  for (const problem of memory.db.readOnly || faults.length > 0 ? [] : memory.maintain())
    yield wrong('store.upkeep', problem, 'until it is mended a damaged disk costs more than a day')
  const all = snapshots(memory.path, memory.env.now())
  const ahead = linesFrom(memory.db, memory.env.now() + MAX_LEAD_MS)
  const dated = Math.max(ahead.last, ...all.map((s) => (s.future ? s.at : 0)))
  if (dated > 0)
    yield ok(
      'clock',
      `the clock was ahead, or is behind, with ${many(ahead.lines, 'batch', 'batches')} and ${many(all.filter((s) => s.future).length, 'snapshot')} dated in the future, up to ${localMinute(dated)}; upkeep and leases go by the present time`,
    )
  for (const s of all)
    for (const fault of snapshotFaults(s.path).slice(0, 1))
      yield wrong(
        DAMAGED,
        `the snapshot ${s.path} is damaged: ${fault}`,
        'delete it; the next write from the command line makes another one',
      )
  yield ok(
    'snapshots',
    all.length > 0
      ? `${many(all.length, 'snapshot')}, the newest of ${localMinute(all[0]!.at)}`
      : 'no snapshot yet: the first one is taken with the next write from the command line',
  )
  for (const g of gaps(memory.db))
    yield wrong(
      'log.gap',
      `batch ${g.replica}:${g.seq} is missing: a later one names it. Nothing waits for it`,
      'pull the branch that has it, or have its author run `tidemark sync` and push',
    )
  for (const f of findings(memory.db)) yield noted(memory.db, f)
  const remade = remadeLines(memory.db)
  if (remade.length > 0)
    yield ok(
      'log.remade',
      `made again by a restore, so nothing proves their words: ${remade.map((l) => shortBatch(`${l.replica}:${l.seq}`)).join(', ')}`,
      '`tidemark sync` puts in what its author had signed, once git or the hub has it',
    )
  const conflicts = memory.reader.conflicts().length
  if (conflicts > 0) yield ok('conflicts', `${conflicts} in conflict: \`tidemark conflicts\` lists them`)
}

/** What travels with git: whether all of it is sound and can be read, and what is not written yet. */
async function* checkSync(memory: Memory, { id, root, storePath, aliases }: Project): AsyncGenerator<Check> {
  if (settleConfig(root))
    yield ok('sync.config', 'settled a conflict in .tidemark/config.json: two clones had run `init`; commit it')
  if (aliases) yield ok('sync.project', `the project has other ids too: ${aliases.join(', ')}`)
  const { segments, lines, problems } = checkSegments(root)
  for (const problem of problems)
    yield wrong(
      'sync.segment',
      problem,
      '`tidemark sync` writes your own anew; `git checkout -- .tidemark/log` takes those of others from git, or their authors sync',
    )
  const keyless = withoutKey(memory.db)
  if (keyless.length > 0) yield ok('sync.keyless', keylessNote(keyless))
  const lost = lostBatches(memory, root)
  if (lost.length > 0)
    yield wrong(
      'sync.lost',
      `the store has lost ${many(lost.length, 'batch', 'batches')} that .tidemark/log/ holds: ${lost.slice(0, MOST_NAMED).join(', ')}`,
      '`tidemark sync` brings back what its author had signed',
    )
  const joined = hubOf(id, storePath)
  if (segments === 0 && !joined) return
  const { lines: missing, held } = pendingIn(memory, root)
  if (held)
    yield wrong(
      'sync.held',
      `${held.batch} and all after it stay here: ${held.entity ?? 'its header'} looks like a secret (${held.category})`,
      `erase it with \`tidemark act '[["purge", …]]'\`, and change it wherever it is used`,
    )
  if (joined) {
    const { unsentLines } = await import('../../travel/sync/hub-exchange.ts')
    const n = unsentLines(memory)
    const left = n > 0 ? `; ${many(n, 'batch', 'batches')} of this machine not there yet: \`tidemark sync\`` : ''
    yield ok('sync.hub', `joined ${joined.url} as ${joined.member}${left}`)
  }
  if (segments === 0) return
  const left =
    missing.length > 0
      ? `; ${many(missing.length, 'batch', 'batches')} of this machine not written yet: \`tidemark sync\``
      : ''
  yield ok('sync', `${many(segments, 'segment')} in .tidemark/log/ with ${many(lines, 'batch', 'batches')}${left}`)
}

/** Files under `.tidemark/` that were edited by hand in a way that could not be read. */
const checkViews = (memory: Memory, project: Project): Check[] =>
  unreadEdits(memory, project.root).map((r) =>
    wrong(
      'views.edited',
      `${r.file} was not read: ${r.problems.join('; ')}`,
      `what was written is in ${PROJECT_DIR}/${r.aside}: take over what counts, then delete it`,
    ),
  )

/** Snapshots of stores that were deleted, as long as they are kept. */
function checkLastSnapshots(project: Project): Check[] {
  const state = stateDirectory()
  dropLastSnapshots(state, Date.now())
  return lastSnapshots(state).map((s) => {
    const { name, kinds = [] } = contentsOf(s.path) ?? {}
    const whose = s.project === project.id ? 'this project' : (name ?? `another project, ${s.project}`)
    const holds = countedKinds(kinds) || 'nothing recorded'
    const until = new Date(s.until).toISOString().slice(0, 10)
    return ok('last-snapshot', `the last snapshot of ${whose} (${holds}), kept until ${until}: ${s.path}`)
  })
}

/** Every check that reads the open store, in the order of its lines. */
const OF_STORE: readonly ((memory: Memory, project: Project) => Iterable<Check> | AsyncIterable<Check>)[] = [
  checkStore, checkWriter, checkViews, checkSync, checkPlaces, checkRecall, checkCode, checkRules,
] // biome-ignore format: a list to read at a glance

/** Every check of the project and the machine, in the order of its lines. `directory` is where the caller stands. */
const OF_MACHINE: readonly ((project: Project, directory: string) => Check[])[] = [
  (project) => checkHooks(project, (at) => `${localMinute(at)} (${ago(at, Date.now())})`),
  checkLastSnapshots,
  () => checkCommand(process.env),
  ({ root }) =>
    sweepLeft(clientContext(root), Date.now()).map((file) =>
      ok('leftover', `removed ${file}: an earlier run was killed while it wrote it`),
    ),
  ({ root }, directory) =>
    checkWiring(clientContext(root, directory)).map((c) => ({ ...c, text: `${c.id.split('.')[0]}: ${c.text}` })),
]

/** Checks everything that is read from the store. Damage may end any of these checks and is told as such. */
export async function checkMemory(memory: Memory, project: Project, say: (c: Check) => void): Promise<void> {
  const checkAll = async () => {
    for (const check of OF_STORE) for (const c of await Array.fromAsync(check(memory, project))) say(c)
  }
  await checkAll().catch(whenRefused(({ message }) => say(wrong(DAMAGED, message, RESTORE)), 'store-damaged'))
}

export function checkMachine(project: Project, directory: string, say: (c: Check) => void): void {
  for (const check of OF_MACHINE) for (const c of check(project, directory)) say(c)
}
