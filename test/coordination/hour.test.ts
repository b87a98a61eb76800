import { expect, test } from 'vitest'
import { estimateTokens } from '../../src/find/recall/token-estimate.ts'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory } from '../helpers.ts'

/** Ten agents at work on one project: what each was asked, the folder it works in, and what it finds out. */
const AGENTS = [
  ['add VAT to the cart total', 'src/cart', 'cents are rounded per line'],
  ['show the invoice as a PDF', 'src/invoice', 'fonts have to be embedded'],
  ['rotate refresh tokens at login', 'src/auth', 'clocks of phones are minutes off'],
  ['search products by colour', 'src/search', 'synonyms live in the index'],
  ['send mail when an order ships', 'src/mail', 'the provider drops long subjects'],
  ['import prices from the supplier', 'src/prices', 'their CSV has a byte order mark'],
  ['cache the landing page', 'src/pages', 'cookies defeat the CDN'],
  ['write the audit trail', 'src/audit', 'rows are append-only'],
  ['upgrade the test runner', 'test/unit', 'workers leak handles'],
  ['translate the menus to Danish', 'src/i18n', 'plurals need three forms'],
] as const
const PROMPTS = 12
const MINUTES = 5

test('[X4] an hour of ten agents: news is what concerns the reader, and costs 40 tokens a prompt or less', {
  timeout: 120_000,
}, async () => {
  const t = openTestMemory()
  const hook = async (session: string, event: HookCall['event'], more: Partial<HookCall> = {}) =>
    (await respond(t.memory, t.project, { client: 'claude', event, session, cwd: t.dir, ...more }, () => 60_000)).reply
  const edit = async (session: string, path: string) => {
    const tool = { name: 'Edit', paths: [`${t.dir}/${path}`] }
    await hook(session, 'before-edit', { tool })
    await hook(session, 'after-edit', { tool })
  }
  const id = (i: number) => `agent-${i}`
  for (const [i, [task]] of AGENTS.entries()) {
    await hook(id(i), 'session-start', { source: 'startup' })
    t.act(
      [
        ['add-task', { description: task }],
        ['start-task', { ref: task }],
      ],
      { session: id(i) },
    )
  }
  t.act([['record-decision', { name: 'audit-in-postgres', rationale: 'one database' }]], {
    session: id(7),
    agent: 'claude',
  })
  sessionsOf(t.memory).told(id(6), { door: 'test', ids: ['decision:audit-in-postgres'], tokens: 1, chars: 4 })
  /** What has to be told, by reader: what was done since its prompt before that touches its files, task or what it read. */
  const due = new Map<string, RegExp[]>()
  const owe = (i: number, ...said: RegExp[]) => due.set(id(i), [...(due.get(id(i)) ?? []), ...said])
  const costs: number[] = []
  for (let round = 0; round < PROMPTS; round++)
    for (const [i, [task, folder, found]] of AGENTS.entries()) {
      t.clock.now += (MINUTES * 60_000) / AGENTS.length
      const asked = round === 0 ? `Please ${task}` : `Go on with step ${round}`
      const { context = '' } = await hook(id(i), 'prompt', { prompt: asked })
      const news = /News from other sessions[\s\S]*?<\/tidemark-data>/.exec(context)?.[0] ?? ''
      costs.push(estimateTokens(news))
      for (const said of due.get(id(i)) ?? []) expect(news, `${id(i)} at its prompt ${round}`).toMatch(said)
      due.delete(id(i))
      expect(news).not.toContain('handoff')
      await edit(id(i), `${folder}/part-${round % 3}.ts`)
      const act = (...actions: unknown[][]) => t.act(actions, { session: id(i), agent: 'claude' })
      if (round % 3 === 0) act(['record-decision', { name: `${folder} step ${round}`, rationale: `since ${found}` }])
      if (round % 4 === 1) act(['record-learning', { title: `${found}, seen in step ${round}` }])
      if (round % 4 === 2) act(['claim', { paths: [`${folder}/step-${round}/**`], note: 'half done' }])
      if (round === 4 && i === 3) {
        await edit(id(i), 'src/cart/part-1.ts')
        owe(0, /agent-3.* edited src\/cart\/part-1\.ts/)
      }
      if (round === 5 && i === 2) {
        act([
          'record-decision',
          { name: 'money-as-bigint', rationale: 'a price is an integer', locations: ['src/cart/part-0.ts'] },
        ])
        owe(0, /recorded decision "money-as-bigint"/)
        act(['claim', { paths: ['src/cart/part-0.ts'], note: 'renaming' }])
        owe(0, /agent-2.* claimed src\/cart\/part-0\.ts: renaming/)
      }
      if (round === 6 && i === 7) {
        act(['record-decision', { name: 'audit-in-postgres', rationale: 'a table for each year' }])
        owe(6, /changed decision "audit-in-postgres".*which you read/)
        act(['record-learning', { title: 'Danish menus break in the audit view' }])
        owe(9, /Danish menus break/)
      }
      if (round === 7 && i === 8) {
        act(['share-set', { key: 'freeze', value: 'from 17:00' }])
        for (const other of AGENTS.keys()) if (other !== i) owe(other, /shared freeze = "from 17:00"/)
      }
      await hook(id(i), 'stop', { said: `Step ${round} of ${task} is done; next comes step ${round + 1}.` })
    }
  const mean = costs.reduce((a, b) => a + b, 0) / costs.length
  expect(costs).toHaveLength(AGENTS.length * PROMPTS)
  expect(mean).toBeLessThanOrEqual(40)
})
