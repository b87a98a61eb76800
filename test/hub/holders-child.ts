/**
 * A session of the check of claims across work trees and machines: `node holders-child.ts DIR ID SEED OPTIONS`. Claims,
 * renews and releases at random, as `tidemark claim` and `release` do, until it is killed. Says on stdout, at once, what it
 * asks and what it was answered, each with the machine's monotonic time.
 */
import { execFile } from 'node:child_process'
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { systemEnv } from '../../src/base/env.ts'
import { UserError } from '../../src/base/errors.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { claim } from '../../src/surfaces/tools/claim.ts'
import { release } from '../../src/surfaces/tools/release.ts'
import { run } from '../../src/surfaces/tools/run.ts'
import { followHub } from '../../src/travel/sync/hub-follow.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { seeded } from '../convergence/harness.ts'
import { TARGETS } from '../coordination/torture-universe.ts'
import type { Line } from './holders-judge.ts'

const [dir = '', id = '', seed = '1', options = '{}'] = process.argv.slice(2)
const { member, isJoined, bin } = JSON.parse(options) as { member: string; isJoined: boolean; bin: string }

const bytes = seeded(Number(seed))
const below = (n: number) => ((bytes(1)[0]! << 8) | bytes(1)[0]!) % n
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!
const now = () => Number(process.hrtime.bigint()) / 1e6
type Said = Line extends infer L ? (L extends { at: number } ? Omit<L, 'at'> : never) : never
const say = (line: Said) => void writeSync(1, `${JSON.stringify({ at: now(), ...line })}\n`)

const project = findProject(dir)
const memory = openProject(project, { env: { ...systemEnv, log: () => {} }, author: { user: member }, unlisted: true })
sessionsOf(memory).start({ id, client: 'torture', pid: process.pid, root: project.root })
const context = { memory, project, session: id, directory: project.root }
if (isJoined) followHub(memory, project)
say({ t: 'ready' })
flushCompileCache() // a process that is killed keeps nothing

/** What the command line prints, and whether it succeeded. */
const typed = (...args: string[]) =>
  new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [bin, ...args, '--session', id], { cwd: dir }, (error, out, err) =>
      error ? reject(new UserError('refused', out + err)) : resolve(out),
    )
  })

async function claims(): Promise<void> {
  const on = [...new Set([oneOf(TARGETS), ...(below(4) === 0 ? [oneOf(TARGETS)] : [])])]
  const ttl = below(3) === 0 ? (300 + below(3000)) / 1000 : undefined
  const lease = ttl === undefined ? {} : { ttl }
  const via = below(30)
  say({ t: 'claim', on, ...lease })
  if (via < 2) {
    memory.act([['claim', { paths: on, root: project.root, ...lease }]], { session: id })
    return say({ t: 'claimed', on, isPending: isJoined, fences: [] })
  }
  const text =
    via === 2
      ? await typed('claim', ...on, ...(ttl === undefined ? [] : ['--ttl', String(ttl)]))
      : (await run(claim, context, { paths: on.join('\n'), ...lease })).text
  const fences = /granted by the hub, number ([\d, ]+)/.exec(text)?.[1]?.split(', ').map(Number) ?? []
  say({ t: 'claimed', on, isPending: isJoined && fences.length !== on.length, fences, text })
}

for (;;) {
  try {
    const what = below(10)
    if (what < 6) await claims()
    else if (what === 6) sessionsOf(memory).heartbeat(id)
    else {
      const on = below(2) === 0 ? undefined : [oneOf(TARGETS)]
      say({ t: 'release', ...(on && { on }) })
      // an agent may also write it in a batch: then the hub hears of it from whoever stays connected
      if (below(4) === 0) memory.act([['release', on ? { paths: on } : {}]], { session: id })
      else await run(release, context, on ? { paths: on.join('\n') } : {})
      say({ t: 'released' })
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const owner = /is claimed by (\S+)/.exec(error.message)?.[1]
    say({
      t: 'refused',
      isByHub: error.message.includes('as the hub says'),
      ...(owner && { owner }),
      text: error.message,
    })
  }
  await new Promise((resolve) => setTimeout(resolve, below(25)))
}
