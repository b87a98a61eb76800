import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { systemEnv } from '../../src/base/env.ts'
import { createProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { tempDir } from '../convergence/harness.ts'
import { userError } from '../helpers.ts'

const MINUTE = 60_000
const YEARS = 10 * 365 * 24 * 60 * MINUTE

/** A project that processes with clocks of their own have open. */
function project() {
  const dir = tempDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { project } = createProject(dir)
  return (skew: number | (() => number)) => {
    const ahead = typeof skew === 'number' ? () => skew : skew
    const env = { ...systemEnv, now: () => Date.now() + ahead(), log: () => {} }
    const memory = openProject(project, { env, unlisted: true })
    onTestFinished(() => memory.close())
    return memory
  }
}

test.each([31 * MINUTE, -31 * MINUTE, 3 * 24 * 60 * MINUTE, YEARS, -YEARS])(
  '[X6] a clock that is %i ms off takes no fresh claim, and says whose it is and for how long',
  async (skew) => {
    const open = project()
    const here = open(0)
    here.act([['claim', { paths: ['src'] }]], { session: 'a' }) // nobody knows its process
    const off = open(skew)
    const { message } = userError(() => off.act([['claim', { paths: ['src/x.ts'] }]], { session: 'b' }))
    expect(message).toMatch(/src is claimed by a for 30 min more, taken just now/)
    sessionsOf(off).start({ id: 'c' })
    sessionsOf(off).heartbeat('c')
    sessionsOf(off).sweep()
    off.act([['claim', { paths: ['docs'] }]], { session: 'c' })
    const held = (memory: typeof here) => claimsOf(memory).held().map((c) => `${c.session} ${c.on}`) // biome-ignore format: one row
    for (const memory of [off, here, open(-skew)]) expect(held(memory)).toEqual(['a src', 'c docs'])
    expect(sessionsOf(here).get('a')!.state).toBe('active')
    here.act([['release', {}]], { session: 'a' })
    off.act([['claim', { paths: ['src/x.ts'] }]], { session: 'b' })
    expect(held(here)).toEqual(['c docs', 'b src/x.ts'])
  },
)

test('[X6] a clock that jumps while a session holds a claim and back again voids nothing', () => {
  let skew = 0
  const memory = project()(() => skew)
  sessionsOf(memory).start({ id: 'a' })
  memory.act([['claim', { paths: ['src'] }]], { session: 'a' })
  for (skew of [-YEARS, 0, 31 * MINUTE, 0]) {
    sessionsOf(memory).heartbeat('a')
    sessionsOf(memory).sweep()
    expect(claimsOf(memory).held().map((c) => c.on)).toEqual(['src']) // biome-ignore format: one row
  }
})
