import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemEnv } from '../../src/base/env.ts'
import type { ActOptions } from '../../src/engine/memory.ts'
import { createProject, type Project } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { logHook } from '../../src/session/hooks/log.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { synthesize } from '../../src/work/evolution/synthesis.ts'

const SKILL = `---
name: deploy
---
# Deploy

## Execution steps

1. Build the image
2. Push it to production
3. Announce the release
`

const DAY = 86_400_000
/** Hooks of a day: how long they took, and how many tokens the session was told. */
const HOOKS = [
  ['SessionStart', 61, 1_240],
  ['UserPromptSubmit', 38, 180],
  ['PreToolUse', 33, 90],
  ['PostToolUse', 29, 0],
] as const

/** A project as it is after three weeks of work by two people and three agents: for screenshots and tests. */
export function demoProject(root: string): Project {
  mkdirSync(join(root, '.claude/skills/deploy'), { recursive: true })
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, '.claude/skills/deploy/SKILL.md'), SKILL)
  writeFileSync(
    join(root, 'src/cart.ts'),
    'export const total = (lines: number[]) => lines.reduce((a, b) => a + b, 0)\n',
  )
  const { project } = createProject(root, { name: 'harbour-shop' })
  let now = Date.now() - 21 * DAY
  const memory = openProject(project, { env: { ...systemEnv, now: () => now } })
  const act = (actions: readonly unknown[], o: ActOptions) => {
    now = Math.min(now + 0.7 * DAY, Date.now() - 20 * 60_000)
    return memory.act(actions, o)
  }
  const ana = { user: 'Ana', agent: 'cli', by: 'person' } as const
  const claude = { user: 'Ana', agent: 'claude-code', session: 'claude-4b1f', by: 'agent' } as const
  const codex = { user: 'Ben', agent: 'codex', session: 'codex-77ac', by: 'agent' } as const
  try {
    const cart = { topics: ['cart', 'prices'] }
    const checkout = { topics: ['checkout', 'payments'] }
    act(
      [
        ['start-goal', { originalAsk: 'Customers can pay with a voucher', topics: ['checkout'] }],
        ['start-activity', { description: 'Vouchers in the cart', topics: ['cart'] }],
        ['start-task', { description: 'Add a discount field to the cart' }],
        ['add-task', { description: 'Refuse a voucher that was used before' }],
        ['add-task', { description: 'Show the discount on the receipt' }],
      ],
      claude,
    )
    act(
      [
        ['record-decision', { name: 'prices-in-cents', description: 'Prices are whole cents everywhere', rationale: 'Binary fractions lost a cent on every thirtieth order', impact: 9, confidence: 0.95, locations: ['src/cart.ts'], ...cart }],
        ['record-decision', { name: 'one-table-per-shop', description: 'Each shop has its own orders table', rationale: 'Shops are moved between servers one by one', impact: 6, ...checkout }],
      ], // biome-ignore format: a table
      claude,
    )
    act(
      [
        ['record-fact', { fact: 'Run `make smoke` before every deployment', category: 'workflow' }],
        ['record-fact', { fact: 'Amounts are passed as integers of cents, never as floats', category: 'constraint' }],
        ['record-fact', { fact: 'Use pnpm, never npm', category: 'tool' }],
      ],
      ana,
    )
    act(
      [
        ['record-decision', { name: 'partition-orders-by-month', description: 'One orders table, partitioned by month', rationale: 'Reports across shops took minutes with a table each', optionsConsidered: ['a table per shop', 'a column store beside it'], impact: 7, confidence: 0.8, ...checkout }],
        ['supersede', { old: 'one-table-per-shop', new: 'partition-orders-by-month', reason: 'reports across shops' }],
        ['record-failed-approach', { approach: 'Locking the cart row while the voucher is checked', outcome: 'Two tabs of one customer waited for each other', lesson: 'Take the voucher in one statement, and see whether it was taken', ...cart }],
        ['record-failed-approach', { approach: 'Caching the total of a cart', outcome: 'A discount was shown that no longer held', lesson: 'Compute the total each time; it takes microseconds', ...cart }],
      ], // biome-ignore format: a table
      codex,
    )
    act(
      [
        ['record-correction', { wrongBelief: 'Vouchers are checked in the browser', rightBelief: 'Vouchers are checked by the order service alone', severity: 'high', ...checkout }],
        ['record-learning', { title: 'The sandbox of the payment service answers twice', body: 'Every webhook comes two times in the sandbox. Handlers must be idempotent.', severity: 'high', ...checkout }],
        ['record-insight', { summary: 'Most abandoned carts hold a voucher that had expired', category: 'product', ...cart }],
        ['record-question', { question: 'May a voucher be split over two orders?', context: 'The receipt has one line for it', ...checkout }],
        ['record-question', { question: 'Who is told when a payment stays open for a day?', ...checkout }],
        ['record-principle', { name: 'server-decides', description: 'What costs money is decided on the server', confidence: 0.9, ...checkout }],
        ['record-pattern', { name: 'outbox-for-webhooks', description: 'What a webhook says is written down first and worked on later', confidence: 0.8, location: 'src/webhooks.ts:12', ...checkout }],
        ['record-file', { path: 'src/cart.ts', summary: 'Adds up a cart; amounts are whole cents' }],
        ['record-hypothesis', { statement: 'Showing the expiry of a voucher halves abandoned carts' }],
        ['record-concept', { name: 'voucher', description: 'A code that lowers the price of one order' }],
      ], // biome-ignore format: a table
      claude,
    )
    act(
      [
        ['link-entities', { type: 'implements', from: 'pattern:outbox-for-webhooks', to: 'principle:server-decides' }],
        ['link-entities', { type: 'relates-to', from: 'decision:partition-orders-by-month', to: 'decision:prices-in-cents' }],
        ['link-entities', { type: 'supports', from: 'learning:the-sandbox-of-the-payment-service-answers-twice', to: 'pattern:outbox-for-webhooks' }],
        ['link-entities', { type: 'informs', from: 'failed-approach:caching-the-total-of-a-cart', to: 'decision:prices-in-cents' }],
        ['link-entities', { type: 'about', from: 'file:src/cart.ts', to: 'decision:prices-in-cents' }],
        ['link-entities', { type: 'about', from: 'May a voucher be split over two orders?', to: 'concept:voucher' }],
        ['link-entities', { type: 'about', from: 'goal:customers-can-pay-with-a-voucher', to: 'concept:voucher' }],
        ['link-entities', { type: 'constrains', from: 'Amounts are passed as integers of cents, never as floats', to: 'decision:prices-in-cents' }],
        ['record-fact', { fact: 'Webhook handlers are idempotent', category: 'constraint' }],
        ['record-fact', { fact: 'Receipts are never rendered in the browser', category: 'convention' }],
      ], // biome-ignore format: a table
      claude,
    )
    for (const scope of ['tools/legacy', 'docs/site', 'ci/image'])
      act(
        [
          [
            'record-exception',
            { ruleBroken: 'Use pnpm, never npm', justification: "its lock file is npm's", scope, topics: ['tools'] },
          ],
        ],
        codex,
      )
    act([['record-fact', { fact: 'Migrations are written by hand and reviewed by Ana', category: 'workflow' }]], codex)
    for (const [what, cost] of [
      ['skipped the smoke test', '2 h of debugging'],
      ['rollout was smooth', 'saved: 40 min'],
      ['skipped the smoke test', '40 min'],
      ['rollout was smooth', 'saved: 1 h'],
      ['skipped the smoke test', '3 h'],
    ])
      act([['record-observation', { operation: 'deploy', what, cost }]], codex)
    for (const [what, cost] of [
      ['review found a race', '1 h'],
      ['tests were flaky', '30 min'],
      ['pair of agents split the work', 'saved: 4 h'],
    ])
      act([['record-observation', { operation: 'implement', what, cost }]], claude)
    act([['record-mark', { name: 'first-release', note: 'vouchers for five shops' }]], ana)
    synthesize(memory, project)
    const sessions = sessionsOf(memory)
    for (let day = 9; day > 0; day--) {
      now = Date.now() - day * DAY
      for (const [event, ms, tokens] of HOOKS) {
        logHook(project, { at: now, client: 'claude-code', event, session: 'claude-4b1f', ms: ms + day })
        if (tokens > 0)
          sessions.told('claude-4b1f', { door: event, ids: [], tokens: tokens - 37 * (day % 4), chars: 4 * tokens })
      }
    }
    now = Date.now() - 6 * 60_000
    sessions.start({ id: 'claude-4b1f', client: 'claude-code', user: 'Ana', root, branch: 'vouchers' })
    sessions.start({ id: 'codex-77ac', client: 'codex', user: 'Ben', role: 'test-writer', root, branch: 'vouchers' })
    sessions.start({ id: 'claude-4b1f/reviewer', client: 'claude-code', user: 'Ana', parent: 'claude-4b1f', root })
    sessions.patch('claude-4b1f', { title: 'add a discount field', contextUsed: 62 })
    sessions.patch('codex-77ac', { title: 'tests for vouchers first', contextUsed: 31 })
    sessions.edited('claude-4b1f', 'src/cart.ts')
    now = Date.now() - 4 * 60_000
    memory.act([['claim', { paths: ['src/cart.ts', 'src/voucher/**'], note: 'discount field' }]], claude)
    memory.act([['claim', { paths: ['test/**'], role: 'test-writer', note: 'writes the tests first' }]], codex)
    memory.act(
      [['share-set', { key: 'api-contract', value: { voucher: { code: 'string', cents: 'integer' } } }]],
      claude,
    )
    memory.act([['share-merge', { key: 'api-contract', value: { errors: ['used', 'expired'] } }]], codex)
    memory.act([['share-set', { key: 'test-status', value: { passed: 41, failed: 2 } }]], codex)
    now = Date.now() - 60_000
    sessions.heartbeat('claude-4b1f')
    memory.act([['share-merge', { key: 'test-status', value: { failed: 0, passed: 43 } }]], codex)
    memory.act(
      [
        [
          'record-decision',
          {
            name: 'voucher-taken-in-one-statement',
            description: 'A voucher is taken by one UPDATE that says whether it was free',
            rationale: 'No lock is held while the customer decides',
            impact: 7,
            ...cart,
          },
        ],
        [
          'link-entities',
          {
            type: 'based-on',
            from: 'decision:voucher-taken-in-one-statement',
            to: 'failed-approach:locking-the-cart-row-while-the-voucher-is-checked',
          },
        ],
        [
          'link-entities',
          { type: 'implements', from: 'decision:voucher-taken-in-one-statement', to: 'principle:server-decides' },
        ],
        ['link-entities', { type: 'about', from: 'decision:voucher-taken-in-one-statement', to: 'concept:voucher' }],
      ],
      claude,
    )
  } finally {
    memory.close()
  }
  return project
}
