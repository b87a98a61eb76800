import { expect, test } from 'vitest'
import { synthesize } from '../../src/work/evolution/synthesis.ts'
import { project } from '../cli/run.ts'
import { openTestMemory } from '../helpers.ts'

const OTHER_WORDS = [
  'no idempotency key, customer charged two times',
  'retry delivered the same event and we booked it twice',
  'one webhook, double invoice',
]

test('[P2] one trouble in other words: the writer is asked, says so, and three are a proposal', async () => {
  const { run } = await project()
  const [first, second, third] = OTHER_WORDS as [string, string, string]
  expect(await run('observe', 'billing', first, '--cost', '2 h')).not.toContain('told before')
  const asked = await run('observe', 'billing', second, '--cost', '1 h')
  expect(asked).toContain(`told before of billing: "${first}" (observation:`)
  const action = asked.slice(asked.indexOf('["link-entities"')).trim()
  await run('act', `[${action}]`)
  const [, earlier] = /\((observation:\w+)\)/.exec(asked)!
  expect(await run('observe', 'billing', third, '--cost', '30 min', '--same-as', earlier!)).not.toContain('told before')
  const said = await run('retro')
  expect(said).toContain('billing: "one webhook, double invoice" 3 times, cost 3.5 h, M-001 (proposed)')
  expect(said).not.toContain('Perhaps one trouble')
})

test('[P1] who acts is asked too; not of what went well, of other operations, or of what the words tell', () => {
  const m = openTestMemory()
  const say = (operation: string, what: string, more: object = { cost: 'cost: 1 h' }) =>
    m.act([['record-observation', { operation, what, ...more }]]).results[0]!.id
  say('billing', OTHER_WORDS[0]!)
  const ask = async (operation: string, what: string, more?: object) => {
    const { askWhetherSame } = await import('../../src/work/evolution/same-trouble.ts')
    return askWhetherSame(m.memory, String(say(operation, what, more)))
  }
  return Promise.all([
    expect(ask('deploy', OTHER_WORDS[1]!)).resolves.toBeUndefined(),
    expect(ask('billing', 'the invoice went out once', { succeeded: true })).resolves.toBeUndefined(),
    expect(ask('billing', 'customer charged two times, no idempotency key')).resolves.toBeUndefined(),
  ])
})

test('[P2] a retro names troubles that stand alone and may be one; those said to be one are not told twice', async () => {
  const { run } = await project()
  for (const what of OTHER_WORDS) await run('observe', 'billing', what, '--cost', '1 h')
  const said = await run('retro', '--dry-run')
  expect(said).toContain('Perhaps one trouble in other words:\n  billing: "one webhook, double invoice" (observation:')
  const [, command] = /tidemark act '(.*)'/.exec(said)!
  await run('act', command!)
  expect(await run('retro', '--dry-run')).toContain('Perhaps one trouble')
})

test('[P2] a link that somebody takes back no longer counts', () => {
  const m = openTestMemory()
  const ids = OTHER_WORDS.map(
    (what) => m.act([['record-observation', { operation: 'billing', what, cost: 'cost: 1 h' }]]).results[0]!.id,
  )
  const linked = ids.slice(1).map((to) => ['link-entities', { from: ids[0], to, type: 'similar-to' }])
  const { batch } = m.act(linked)
  m.act([['undo', { batch }]])
  expect(synthesize(m.memory, m.project)).toEqual([])
  m.act(linked)
  expect(synthesize(m.memory, m.project)).toHaveLength(1)
})
