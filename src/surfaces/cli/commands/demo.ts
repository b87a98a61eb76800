import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createProject } from '../../../engine/store/project.ts'
import { forgetProject } from '../../../find/recall/projects.ts'
import type { Json } from '../../../model/field.ts'
import { openProject } from '../../../project/open.ts'
import type { Command } from '../command.ts'
import { launcherScript } from './launcher.ts'

const WRITERS = 4
const EACH = 10

export const demo: Command = {
  name: 'demo',
  about:
    'proves in half a minute, in a directory of its own, that processes share knowledge and that a killed one loses nothing',
  example: 'tidemark demo',
  flags: { 'write-until-killed': { type: 'flag', about: 'the writer that the demo kills; for the demo itself' } },
  async run(call) {
    if (call.flags['write-until-killed']) return writeUntilKilled(call.directory)
    const script = launcherScript()
    const dir = mkdtempSync(join(tmpdir(), 'tidemark-demo-'))
    const { project } = createProject(dir, { name: 'demo' })
    const tidemark = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args, '--project', dir])
    const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
      const start = performance.now()
      return [await work(), Math.round(performance.now() - start)]
    }
    const told: { [step: string]: Json } = {}
    try {
      call.out('1. A process records a decision and a rule:')
      const batch = JSON.stringify([
        [
          'record-decision',
          {
            name: 'use-sqlite',
            description: 'One SQLite file per project',
            rationale: 'no daemon to start or to leave behind',
            impact: 8,
          },
        ],
        ['record-fact', { fact: 'Always run the tests before committing', category: 'workflow' }],
      ])
      const [recorded, recordMs] = await timed(() => tidemark('act', batch, '--session', 'morning'))
      call.out(`${indent(recorded.stdout)}\n   (${recordMs} ms, the whole process)`)

      call.out('2. Another process, started after it, asks:')
      const [found, findMs] = await timed(() =>
        tidemark('discover', '(get-decision "use-sqlite") (map :fact (get-facts))', '--session', 'evening'),
      )
      call.out(`${indent(found.stdout)}\n   (${findMs} ms)`)
      told.shared = found.stdout.includes('One SQLite file per project')

      call.out(`3. ${WRITERS} processes at once write ${EACH} batches each to the same entity, with one watching:`)
      const memory = openProject(project)
      const delays: number[] = []
      const stop = memory.subscribe((news) => delays.push(Date.now() - news.received))
      await Promise.all(
        Array.from({ length: WRITERS }, async (_, w) => {
          for (let i = 0; i < EACH; i++)
            await tidemark('act', JSON.stringify([['record-principle', { name: 'shared', tags: [`w${w}-${i}`] }]]))
        }),
      )
      const tags = (memory.reader.find('shared')[0]?.fields.tags as string[] | undefined)?.length ?? 0
      stop()
      call.out(`   ${tags} of ${WRITERS * EACH} additions are there; the watcher heard of ${delays.length} batches`)
      told.kept = tags
      told.written = WRITERS * EACH

      call.out('4. A writer is killed in the middle (kill -9), three times:')
      let acknowledged = 0
      for (let round = 0; round < 3; round++) acknowledged += await killOne(script, dir)
      const there = memory.reader.list('observation').length
      memory.rebuild()
      const rebuilt = memory.reader.list('observation').length
      memory.close()
      call.out(
        `   it had acknowledged ${acknowledged} batches; ${there} are there, and ${rebuilt} after every index was made again from the log`,
      )
      told.acknowledged = acknowledged
      told.survived = there
      const good = told.shared === true && tags === WRITERS * EACH && there >= acknowledged && rebuilt === there
      call.out(good ? 'Nothing was lost.' : 'Something was lost: please report this.')
      return { json: { ...told, good }, code: good ? 0 : 1 }
    } finally {
      forgetProject(project)
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

const indent = (textValue: string) => textValue.trimEnd().replace(/^/gm, '   ')

/** Lets a process that writes on and on acknowledge some batches, kills it, and returns how many it acknowledged. */
const killOne = (script: string, dir: string): Promise<number> =>
  new Promise((resolve) => {
    const args = [script, 'demo', '--project', dir, '--write-until-killed']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let seen = 0
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString().split('\n').length - 1
      if (seen >= 20) child.kill('SIGKILL')
    })
    child.on('close', () => resolve(seen))
  })

async function writeUntilKilled(directory: string): Promise<undefined> {
  const { openAt } = await import('../../../project/open.ts')
  const { memory } = openAt({ projectPath: directory })
  for (let i = 0; ; i++) {
    memory.act([['record-observation', { operation: 'demo', what: `batch ${i} of ${process.pid}` }]])
    process.stdout.write('ok\n')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
