// What a session start costs: the briefing of ten thousand entities in an open process, as hooks build it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openProject } from '../src/project/open.ts'
import { sessionsOf } from '../src/work/coordination/sessions.ts'
import { entity } from './knowledge.ts'
import { tempProject } from './project.ts'
import type { Bench } from './table.ts'

const ENTITIES = 10_000
/** Milliseconds of processor time within which half of the briefings of an open process are made. */
const BOUND = 15

interface Briefed {
  firstMs: number
  p50: number
  p95: number
  cpu50: number
  tokens: number
  exact: number
  chars: number
}

/** A store with so much in it, and a session on a task with files in hand. */
function filled(): string {
  const project = tempProject()
  const memory = openProject(project, { unlisted: true })
  for (let i = 0; i < ENTITIES; i += 50) memory.act(Array.from({ length: 50 }, (_, j) => entity(i + j)))
  const sessions = sessionsOf(memory)
  for (const id of ['me', 'other']) sessions.start({ id, client: 'claude-code', branch: 'main' })
  sessions.edited('me', 'src/store/db.ts')
  const work = ['start-task', { description: 'the lock of the store is held for less than a millisecond' }]
  memory.act([work, ['claim', { paths: ['src/store/**'] }]], { session: 'me' })
  memory.act([['write-handoff', { inProgress: ['the lock'], nextSteps: ['measure it'] }]], { session: 'other' })
  memory.close()
  return project.root
}

/** Makes briefings in a process of its own; see worker.ts. */
async function briefed(root: string): Promise<Briefed> {
  const worker = join(import.meta.dirname, 'worker.ts')
  const child = spawn(process.execPath, [worker, 'briefer', root], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (d) => (said += d))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the process that makes briefings ended with ${code}`)
  return JSON.parse(said) as Briefed
}

export const bench: Bench = {
  name: 'briefing',
  about: 'what a session is told at its start: how long it takes to make, and what it costs',
  async run() {
    const b = await briefed(filled())
    return [
      {
        title: `a briefing of ${ENTITIES.toLocaleString('en')} entities in an open process, ms`,
        columns: ['first', 'p50', 'p95', 'processor p50'],
        rows: [
          {
            what: 'brief, tokens estimated',
            cells: [b.firstMs, b.p50, b.p95, b.cpu50],
            bound: `processor p50 ≤ ${BOUND} ms`,
            ok: b.cpu50 <= BOUND,
          },
        ],
      },
      {
        title: 'what it costs the session',
        columns: ['estimated', 'tokens', 'characters', 'estimated : exact'],
        rows: [
          {
            what: 'at the default budget',
            cells: [b.tokens, b.exact, b.chars, b.tokens / b.exact],
            bound: '≤ 2,000 tokens, ≤ 9,000 characters',
            ok: b.exact <= b.tokens && b.tokens <= 2_000 && b.chars <= 9_000,
          },
        ],
        notes: [
          'the words are made up, with many identifiers in them: of prose the estimate is 1.5 times the exact count',
        ],
      },
    ]
  },
}
