import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { filesSeen } from '../src/engine/store/code-anchors.ts'
import { getMeta } from '../src/engine/store/meta.ts'
import { createProject } from '../src/engine/store/project.ts'
import { languageOf } from '../src/find/code/languages.ts'
import { scan } from '../src/find/code/scan.ts'
import { openProject } from '../src/project/open.ts'
import { builtPackage, ROOT, tempDir } from './project.ts'
import { type Bench, median, most } from './table.ts'

const ROUNDS = 10
const EDITS = 10
const ANCHORS = 200

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2))
}

export const bench: Bench = {
  name: 'code',
  about: 'scanning a repository, and how soon another session hears of a change; REPO=path names the repository',
  async run() {
    const repo = process.env.REPO ?? ROOT
    const root = tempDir()
    spawnSync('git', ['init', '-q', root])
    const git = spawnSync('git', ['-C', repo, 'rev-parse', '--absolute-git-dir'], { encoding: 'utf8' }).stdout.trim()
    const env = { ...process.env, GIT_INDEX_FILE: join(root, '.git', 'copied') }
    spawnSync(
      'git',
      ['--git-dir', git, '--work-tree', root, '-c', 'core.bare=false', 'read-tree', '-u', '--reset', 'HEAD'],
      { cwd: root, env },
    )
    rmSync(join(root, '.tidemark'), { recursive: true, force: true }) // it would be another project
    const { project } = createProject(root, { name: 'bench' })
    const memory = openProject(project, { unlisted: true })
    const timed = async () => {
      const begin = performance.now()
      const done = await scan(memory, project)
      return { ...done, ms: performance.now() - begin }
    }
    const first = await timed()
    const code = filesSeen(memory.db, project.root).filter((f) => languageOf(f.path))
    for (let i = 0; i < ANCHORS; i += 50)
      memory.act(
        code
          .slice(i, i + 50)
          .map((f, n) => ['record-decision', { name: `d-${i + n}`, rationale: 'r', locations: [`${f.path}:1`] }]),
      )
    await timed()
    await new Promise((resolve) => setTimeout(resolve, 2_100)) // files are too young to be told by their time
    await timed()
    const still: number[] = []
    const edited: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      still.push((await timed()).ms)
      for (let i = 0; i < EDITS; i++) {
        const path = join(project.root, code[(round * EDITS + i * 7) % code.length]!.path)
        writeFileSync(path, `${readFileSync(path, 'utf8')}\n// ${round}`)
      }
      const done = await timed()
      if (done.changed < EDITS) throw new Error(`${done.changed} changes were found`)
      edited.push(done.ms)
    }
    // the other session is this process; a server of the built package watches
    const server = spawn(process.execPath, [builtPackage(), 'mcp', '--project', project.root], {
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    const say = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    say({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
    })
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'discover', arguments: { expr: '(kinds)' } } })
    await until(() => getMeta(memory.db, `code_watcher ${project.root}`) !== undefined)
    const flagged: number[] = []
    let heard = 0
    const stop = memory.subscribe((news) => {
      if (news.presence?.type === 'stale') heard++
    })
    const probe = join(project.root, 'probe.ts')
    for (let round = 0; round <= ROUNDS; round++) {
      writeFileSync(probe, `export function probe() { return ${round} }\n`)
      memory.act([['record-decision', { name: `probe-${round}`, rationale: 'r', locations: ['probe.ts#probe'] }]])
      await scan(memory, project, { only: ['probe.ts'] })
      await new Promise((resolve) => setTimeout(resolve, round === 0 ? 3_000 : 300))
      const before = heard
      const begin = performance.now()
      writeFileSync(probe, `export function probe() { return ${round} + 1 }\n`)
      await until(() => heard > before)
      if (round > 0) flagged.push(performance.now() - begin)
    }
    stop()
    server.stdin.end()
    await once(server, 'exit')
    memory.close()
    const perSecond = (code.length / first.ms) * 1000
    const row = (what: string, ms: readonly number[], limit?: number) => {
      const cells = [median(ms), most(ms)]
      return { what, cells, ...(limit === undefined ? {} : { bound: `≤ ${limit}`, ok: median(ms) <= limit }) }
    }
    return [
      {
        title: `${repo === ROOT ? 'this repository' : basename(join(repo, '..'))}: ${first.files} files, ${code.length} of code; ms`,
        columns: ['median', 'max'],
        rows: [
          row('first scan', [first.ms]),
          row('scan, nothing changed', still),
          row(`scan after ${EDITS} edits, ${ANCHORS} anchors`, edited, 200),
          row('a file is written → another session has the event', flagged, 1_000),
        ],
        notes: [`first scan: ${perSecond.toFixed(0)} files of code a second`],
      },
    ]
  },
}
