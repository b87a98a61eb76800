/**
 * A session of the torture of claims: `node torture-child.ts DIR ID OTHERS SEED OPTIONS`. Claims, releases and hands over
 * at random until it is killed or its count is up; says on stdout, at once, what it was answered.
 */
import { writeSync } from 'node:fs'
import { UserError } from '../../src/base/errors.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { seeded as seededBytes } from '../convergence/harness.ts'
import { TARGETS, TASKS } from './torture-universe.ts'

export type Said =
  | { what: 'claimed'; claims: { n: number; on: string }[]; lease?: boolean }
  | { what: 'refused'; on: string[]; task?: string; owner: string; from: number; to: number }
  | { what: 'released'; ns: number[] }
  | { what: 'handed'; to: string; claims: { n: number; on: string }[] }
  | { what: 'ready' | 'ended' }

const [dir = '', id = '', others = '', seed = '1', options = '{}'] = process.argv.slice(2)
const { skew, nameless, count, hold } = JSON.parse(options) as {
  skew: number
  nameless: boolean
  count: number
  /** Claims this, and lives on until it is killed. */
  hold?: string
}
const say = (said: Said) => void writeSync(1, `${JSON.stringify(said)}\n`)

const bytes = seededBytes(Number(seed))
const below = (n: number) => ((bytes(1)[0]! << 8) | bytes(1)[0]!) % n
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!

const memory = openProject(findProject(dir), {
  env: { now: () => Date.now() + skew, random: (n) => crypto.getRandomValues(new Uint8Array(n)), log: () => {} },
})
const sessions = sessionsOf(memory)
const act = (verb: string, args: object) =>
  memory.act([[verb, args]], { session: id }).results[0] as unknown as {
    claims: { n: number; on: string }[]
    released: { n: number }[]
  }

sessions.start({ id, client: 'torture', ...(nameless ? {} : { pid: process.pid }) })
say({ what: 'ready' })
if (hold !== undefined) {
  say({ what: 'claimed', claims: act('claim', { paths: [hold] }).claims })
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30))
}

/** What it does, or what stood in its way. */
function once(): void {
  const from = memory.cursor
  const roll = below(10)
  const paths = roll === 9 ? [] : roll > 6 ? [oneOf(TARGETS), oneOf(TARGETS)] : [oneOf(TARGETS)]
  const task = paths.length === 0 ? { task: oneOf(TASKS) } : {}
  try {
    const what = below(10)
    if (what < 6) {
      // a session whose process nobody knows holds nothing for long: it could not be told from a dead one
      const short = nameless || below(8) === 0
      // a hook claims the files that are edited, never a directory, a pattern or a part by its name
      const edit = below(8) === 0 && paths.every((path) => /^[^*?{#]+\.\w+$/.test(path))
      const lease = short ? { ttl: 1, note: 'lease' } : edit ? { implicit: true, note: 'lease' } : {}
      const { claims } = act('claim', { ...(paths.length > 0 ? { paths } : task), ...lease })
      say({ what: 'claimed', claims, lease: 'note' in lease })
    } else if (what < 8) {
      say({ what: 'released', ns: act('release', {}).released.map((r) => r.n) })
    } else if (what < 9) {
      const to = oneOf(others.split(',').filter((o) => o !== id))
      say({ what: 'handed', to, claims: act('hand-over', { to }).claims })
    } else sessions.heartbeat(id)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const owner = /is claimed by (\S+)/.exec(error.message)?.[1]
    if (owner !== undefined) say({ what: 'refused', on: paths, ...task, owner, from, to: memory.cursor })
  }
}

for (let i = 0; i < count; i++) {
  once()
  await new Promise((resolve) => setTimeout(resolve, below(15)))
}
sessions.end(id)
say({ what: 'ended' })
memory.close()
