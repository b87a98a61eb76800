/**
 * A member's machine in the torture of the hub: `node torture-child.ts DIR NAME LIFE URL TOKEN SEED`. Records, claims
 * and releases at random until it is killed, while it follows the hub. Says on stdout, at once, what was acknowledged.
 */
import { writeSync } from 'node:fs'
import { systemEnv } from '../../src/base/env.ts'
import { UserError } from '../../src/base/errors.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { followHub } from '../../src/travel/sync/hub-follow.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { seeded } from '../convergence/harness.ts'
import { TARGETS } from '../coordination/torture-universe.ts'

const [dir = '', name = '', life = '', url = '', token = '', seed = '1'] = process.argv.slice(2)
const bytes = seeded(Number(seed))
const below = (n: number) => ((bytes(1)[0]! << 8) | bytes(1)[0]!) % n

const project = findProject(dir)
const env = { ...systemEnv, log: () => {} }
const memory = openProject(project, { env, author: { user: name }, unlisted: true })
// names of sessions are one life's: what a dead one held is nobody's until its lease has run out
const sessions = ['a', 'b'].map((s) => `${name}-${life}${s}`)
for (const id of sessions) sessionsOf(memory).start({ id, client: 'torture', pid: process.pid })
followHub(memory, project, { url, token })

const attempt = (action: unknown, session: string) => {
  try {
    memory.act([action], { session })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}

for (let i = 0; ; i++) {
  const text = `${name}.${life}.${i}`
  const session = sessions[below(2)]!
  const what = below(100)
  if (what < 35) {
    const { batch } = memory.act([
      ['record-decision', { name: text, rationale: 'because' }],
      ['record-principle', { name: 'shared', evidence: [text], confidence: below(10) / 10 }],
    ])
    writeSync(1, `${batch} ${text}\n`)
  } else if (what < 80)
    attempt(['claim', { paths: [TARGETS[below(TARGETS.length)]!], ttl: 1 + below(20) / 10 }], session)
  else if (what < 95) attempt(['release', {}], session)
  else if (what < 97) memory.compact(Date.now() - 500)
  // what `tidemark sync` does beside it
  else await exchangeOnce(memory, { url, token, member: '' }).catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, below(60)))
}
