import { expect, test } from 'vitest'
import { trace } from '../../src/surfaces/tools/trace.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const decide = (m: TestMemory, name: string, description: string) => m.act([['record-decision', { name, description }]])
const link = (m: TestMemory, from: string, type: string, to: string) => m.act([['link-entities', { from, type, to }]])

/** Sessions replaced refresh tokens, which replaced JWT, a week after another. */
function build(): TestMemory {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5, 9) })
  decide(m, 'use-jwt', 'JWT for API auth')
  m.act([['record-fact', { fact: 'Tokens live for an hour at most', category: 'constraint' }]])
  link(m, 'Tokens live for an hour at most', 'constrains', 'use-jwt')
  m.clock.days(7)
  decide(m, 'add-refresh-tokens', 'Refresh tokens')
  m.act([['supersede', { old: 'use-jwt', new: 'add-refresh-tokens' }]])
  m.clock.days(7)
  decide(m, 'use-sessions', 'Sessions in Redis')
  m.act([['supersede', { old: 'add-refresh-tokens', new: 'use-sessions' }]])
  m.act([['record-observation', { observation: 'Logins doubled' }]])
  link(m, 'use-sessions', 'led-to', 'Logins doubled')
  return m
}

const run = async (m: TestMemory, args: Record<string, unknown>) =>
  trace.run({ memory: m.memory, project: m.project }, args)

test('[G1] [G3] trace draws what an entity replaced, what limits it and what came of it, with the chain as an evolution', async () => {
  const m = build()
  expect((await run(m, { ref: 'use-sessions' })).text).toBe(
    [
      'use-sessions  (decision, 2026-01-19, active)',
      'evolution: use-jwt → add-refresh-tokens → use-sessions',
      '├─ supersedes add-refresh-tokens  (decision, 2026-01-12, superseded)',
      '│  └─ supersedes use-jwt  (decision, 2026-01-05, superseded)',
      '│     └─ constrained by Tokens live for an hour at most  (fact, 2026-01-05)',
      '└─ led to Logins doubled  (observation, 2026-01-19)',
    ].join('\n'),
  )
  expect((await run(m, { ref: 'use-jwt', depth: 1 })).text).toContain('└─ superseded by add-refresh-tokens')
})

test('[G1] [K11] trace as of a moment shows the graph of that moment', async () => {
  const m = build()
  expect((await run(m, { ref: 'use-jwt', 'as-of': '2026-01-12' })).text).toBe(
    [
      'use-jwt  (decision, 2026-01-05, superseded)',
      'evolution: use-jwt → add-refresh-tokens',
      '├─ constrained by Tokens live for an hour at most  (fact, 2026-01-05)',
      '└─ superseded by add-refresh-tokens  (decision, 2026-01-12, active)',
    ].join('\n'),
  )
})

test('[G1] trace follows only the relations that are named, and refuses one that is none', async () => {
  const m = build()
  const { json } = await run(m, { ref: 'use-sessions', relations: 'supersedes' })
  expect((json as { trace: { name: string }[] }).trace.map((r) => r.name)).toEqual(['use-jwt', 'add-refresh-tokens'])
  await expect(run(m, { ref: 'use-sessions', relations: 'superseeds' })).rejects.toThrow('there is no relation')
})

test('[G1] a trace cuts cycles, and does not walk on to what merely shares a source', async () => {
  const m = openTestMemory()
  for (const name of ['a', 'b', 'c', 'shared']) decide(m, name, name)
  link(m, 'a', 'constrains', 'b')
  link(m, 'b', 'constrains', 'a')
  link(m, 'a', 'cites', 'shared')
  link(m, 'c', 'cites', 'shared')
  const { json } = await run(m, { ref: 'a', depth: 9 })
  expect((json as { trace: { name: string }[] }).trace.map((r) => r.name)).toEqual(['b', 'shared'])
})

test('[G1] a link that is only proposed, rejected or retired is not walked', async () => {
  const m = openTestMemory()
  for (const name of ['a', 'b', 'c']) decide(m, name, name)
  m.act([['link-entities', { from: 'a', type: 'cites', to: 'b', standing: 'proposed' }]])
  const id = String(m.act([['link-entities', { from: 'a', type: 'cites', to: 'c' }]]).results[0]!.id)
  m.act([['unlink-entities', { from: 'a', type: 'cites', to: 'c' }]])
  expect(id).toContain('relationship:')
  expect((await run(m, { ref: 'a' })).text).toContain('no link says what it rests on or what came of it')
  expect((await run(m, { ref: 'a', relations: 'supports' })).text).toContain('no link of these relations is at it')
})
