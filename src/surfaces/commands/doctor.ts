import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { many } from '../../briefing/telling.ts'
import { checkWiring } from '../../clients/wiring.ts'
import { UserError } from '../../errors.ts'
import { checkHooks } from '../../hooking/checks.ts'
import { checkExtraction } from '../../hooking/extract/meter.ts'
import type { Memory } from '../../memory/memory.ts'
import { openProject } from '../../open.ts'
import type { Json } from '../../schema/field.ts'
import { unreadEdits } from '../../sessions/views/kept.ts'
import { isSound, restoreNewest, salvage, snapshots } from '../../store/backup.ts'
import { findings, gaps } from '../../store/log.ts'
import { SCHEMA_VERSION } from '../../store/migrations.ts'
import { findProject, PROJECT_DIR, type Project } from '../../store/project.ts'
import { ago } from '../../tools/present.ts'
import type { Command, CommandCall } from '../command.ts'
import { type Check, checkCommand, checkRecall, checkSessions, checkWriter } from '../doctor-checks.ts'
import { VERSION } from '../version.ts'
import { clientContext } from './launcher.ts'

const MB = 1024 * 1024

function checkStore(memory: Memory): Check[] {
  const checks: Check[] = []
  const size = statSync(memory.path).size
  const wal = existsSync(`${memory.path}-wal`) ? statSync(`${memory.path}-wal`).size : 0
  const sound = isSound(memory.path)
  checks.push(
    sound
      ? {
          ok: true,
          what: `store is sound: ${(size / MB).toFixed(1)} MB, schema ${SCHEMA_VERSION}, in ${dirname(memory.path)}`,
        }
      : { ok: false, what: 'store is damaged', hint: '`tidemark doctor --restore` brings back the last snapshot' },
  )
  if (wal > 64 * MB)
    checks.push({
      ok: false,
      what: `write-ahead log is ${(wal / MB).toFixed(0)} MB`,
      hint: 'a process has been reading for very long; the next writer truncates it when that ends',
    })
  for (const wrong of memory.db.readOnly ? [] : memory.maintain())
    checks.push({ ok: false, what: wrong, hint: 'until it is mended a damaged disk costs more than a day' })
  const all = snapshots(memory.path, memory.env.now())
  checks.push({
    ok: true,
    what:
      all.length > 0
        ? `${all.length} snapshot${all.length === 1 ? '' : 's'}, the newest of ${new Date(all[0]!.at).toISOString().slice(0, 16)}Z`
        : 'no snapshot yet: the first one is taken with the next write from the command line',
  })
  for (const g of gaps(memory.db))
    checks.push({
      ok: false,
      what: `replica ${g.replica}: line ${g.missing} is missing, ${g.parked} wait for it`,
      hint: 'sync with any peer that has it',
    })
  for (const f of findings(memory.db))
    checks.push({ ok: false, what: f.text, hint: `seen ${new Date(f.at).toISOString().slice(0, 16)}Z` })
  const conflicts = memory.reader.conflicts().length
  if (conflicts > 0) checks.push({ ok: true, what: `${conflicts} in conflict: \`tidemark conflicts\` lists them` })
  return checks
}

/** The last line: whether there is anything to do. */
function summaryOf(checks: readonly Check[]): string {
  const wrong = checks.filter((c) => !c.ok).length
  return wrong === 0 ? '\nnothing is to be mended' : `\n${many(wrong, 'thing')} to look at, marked FIX`
}

/** A store that a newer Tidemark wrote is not damaged: it is left alone. */
function refuseNewer(project: Project): void {
  try {
    openProject(project).close()
  } catch (error) {
    if (error instanceof UserError && error.code === 'store-newer') throw error
  }
}

/** Brings the last sound snapshot back, and of the damaged store whatever can still be read. */
function restore(project: Project, call: CommandCall): Json {
  refuseNewer(project)
  const { from, at, kept } = restoreNewest(project.storePath, Date.now())
  call.out(`brought back the snapshot of ${new Date(at).toISOString()}`)
  const damaged = kept.find((k) => /\.damaged-\d+$/.test(k))
  const lines = damaged ? salvage(damaged) : []
  const memory = openProject(project)
  try {
    const last = memory.newsSince(memory.cursor - 1)[0]
    const header = JSON.stringify({ tidemark: 1, project: project.id })
    let saved = 0
    const missing: string[] = []
    for (const line of lines) {
      try {
        saved += memory.applyUpdates(new TextEncoder().encode(`${header}\n${line}\n`)).applied
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        missing.push(error.message)
      }
    }
    for (const g of gaps(memory.db)) missing.push(`${g.replica}:${g.missing} (${g.parked} later ones wait for it)`)
    if (saved > 0) call.out(`read ${saved} later batch${saved === 1 ? '' : 'es'} out of the damaged store`)
    const now = memory.newsSince(memory.cursor - 1)[0] ?? last
    const upTo = now
      ? `batch ${now.batch} of ${new Date(now.at).toISOString()} (${now.summary})`
      : 'nothing: it was empty'
    call.out(`the store holds everything up to ${upTo}`)
    if (missing.length > 0) call.out(`missing batches: ${missing.join('; ')}`)
    else if (lines.length === 0)
      call.out('nothing could be read of what was written later: those batches, if there were any, are missing')
    if (kept.length > 0) call.out(`the damaged files are kept: ${kept.join(', ')}`)
    call.out('restart other Tidemark processes of this project (MCP servers): they still have the old file open')
    return {
      restored: from,
      at: new Date(at).toISOString(),
      salvaged: saved,
      upTo: now?.batch ?? null,
      missing,
      complete: missing.length === 0 && lines.length > 0,
      kept,
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
    restore: { type: 'flag', about: 'bring back the last sound snapshot and what can be read of the damaged store' },
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
      call.out(`${c.ok ? 'ok  ' : 'FIX '} ${c.what}${c.hint ? `\n     → ${c.hint}` : ''}`)
    }
    say({
      ok: true,
      what: `tidemark ${VERSION} on Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}`,
    })
    let project: Project
    try {
      project = findProject(call.directory)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      say({ ok: false, what: error.message, hint: error.hint })
      const asked = call.flags.rebuild || call.flags.restore || call.flags.compact
      return { json: { checks: checks as unknown as Json }, code: asked || error.code !== 'no-project' ? 1 : 0 }
    }
    say({ ok: true, what: `project ${project.name} (${project.id}) at ${project.root}` })
    if (call.flags.restore) return { json: restore(project, call) }
    let memory: Memory
    try {
      memory = openProject(project)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      say({ ok: false, what: error.message, hint: error.hint })
      return { json: { checks: checks as unknown as Json }, code: 1 }
    }
    try {
      if (call.flags.rebuild) {
        const progress = process.stderr.isTTY
          ? (done: number, total: number) => void process.stderr.write(`\r\x1b[Krebuilding ${done} of ${total}`)
          : undefined
        const done = memory.rebuild(progress)
        if (progress) process.stderr.write('\r\x1b[K')
        say({ ok: true, what: `rebuilt ${done.entities} entities from ${done.lines} batches` })
      }
      if (typeof call.flags.compact === 'string') {
        const done = memory.compact(call.flags.compact)
        say({
          ok: true,
          what: `folded ${done.lines} batches and ${done.events} overwritten events away; history starts at ${new Date(done.horizon).toISOString()}`,
        })
      }
      for (const c of checkStore(memory)) say(c)
      for (const c of checkWriter(memory)) say(c)
      for (const r of unreadEdits(project.root))
        say({
          ok: false,
          what: `${r.file} was edited by hand and could not be read: ${r.problems.join('; ')}`,
          hint: `what was written is in ${PROJECT_DIR}/${r.aside}: take over what counts, then delete it`,
        })
      for (const c of await checkRecall(memory, project)) say(c)
      for (const c of checkSessions(memory, project)) say(c)
    } finally {
      memory.close()
    }
    const when = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z (${ago(at, Date.now())})`
    for (const c of checkHooks(project, when)) say(c)
    for (const c of checkExtraction(project, Date.now())) say(c)
    for (const c of checkCommand(process.env)) say(c)
    for (const f of checkWiring(clientContext(project.root)))
      say({ ok: f.ok, what: `${f.client}: ${f.message}`, ...(f.hint ? { hint: f.hint } : {}) })
    call.out(summaryOf(checks))
    return {
      json: {
        project: { id: project.id, name: project.name, root: project.root, store: project.storePath },
        checks: checks as unknown as Json,
      },
      code: checks.some((c) => !c.ok && c.what.includes('damaged')) ? 1 : 0,
    }
  },
}
