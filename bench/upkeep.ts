import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Env } from '../src/base/env.ts'
import { systemEnv } from '../src/base/env.ts'
import { discover } from '../src/project/discover/discover.ts'
import { openProject } from '../src/project/open.ts'
import { fill, tempDir, tempProject } from './project.ts'
import { type Bench, interleave, least, median, most, ratio, timed } from './table.ts'

const ENTITIES = 10_000
const CHANGED = 5_000
const ROUNDS = 3
const DAY = 86_400_000

export const bench: Bench = {
  name: 'upkeep',
  about: `rebuild, as-of and compact at ${ENTITIES} entities, half of them changed once`,
  async run() {
    const start = Date.UTC(2026, 0, 1)
    let now = start
    const env: Env = { ...systemEnv, now: () => now }
    const project = tempProject()
    const memory = openProject(project, { env })
    fill(memory, ENTITIES)
    const middle = (now += DAY)
    now += DAY
    for (let i = 0; i < CHANGED; i += 50)
      memory.act(
        memory.reader
          .list('decision', { limit: i + 50 })
          .slice(i)
          .map((e) => ['record-decision', { name: e.name, rationale: `changed on the second day, ${i}` }]),
      )
    memory.close()
    // every round has a copy of the store: compaction can be done once
    const copy = () => {
      const dir = tempDir()
      cpSync(dirname(project.storePath), dir, { recursive: true })
      return openProject({ ...project, storePath: join(dir, 'store.db') }, { env })
    }
    const on = (work: (memory: ReturnType<typeof copy>) => unknown) => () => {
      const memory = copy()
      const ms = timed(() => work(memory))
      memory.close()
      return ms / 1000
    }
    const { base, ...measured } = await interleave(
      ROUNDS,
      {
        base: on((m) => m.db.raw.exec(`VACUUM INTO '${join(tempDir(), 'copy.db')}'`)),
        rebuild: on((m) => m.rebuild()),
        'as-of, one decision': on((m) => {
          const at = new Date(middle).toISOString()
          const [answer] = discover(m, '(get-decision "auth-choice-0")', { asOf: at })
          if (!answer?.startsWith('(decision')) throw new Error(answer)
        }),
        'compact, second half of the history kept': on((m) => m.compact(middle)),
        'compact, everything': on((m) => m.compact(now + DAY)),
      },
      1,
    )
    return [
      {
        title: `seconds, ${ROUNDS} rounds`,
        columns: ['min', 'median', 'max', '× VACUUM INTO'],
        rows: Object.entries({ 'VACUUM INTO another file': base, ...measured }).map(([what, s]) => ({
          what,
          cells: [least(s), median(s), most(s), ratio(s, base)],
        })),
      },
    ]
  },
}
