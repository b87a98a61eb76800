// A working day of one developer with an agent, as hooks see it: what was known in the morning, what was asked, edited
// and run, and what a mate did beside. It says what Tidemark puts before the agent, and what that costs.

import type { Memory } from '../src/engine/memory.ts'
import type { Project } from '../src/engine/store/project.ts'
import { bounded, spelling } from '../src/session/clients/common/dialect.ts'
import { DIALECTS } from '../src/session/clients/index.ts'
import { type HookCall, NOTHING } from '../src/session/hooks/call.ts'
import { carried } from '../src/session/hooks/carry-over.ts'
import { respond } from '../src/session/hooks/run.ts'
import type { ClientName } from '../src/work/coordination/clients.ts'
import { sessionsOf } from '../src/work/coordination/sessions.ts'

const fact = (text: string, category: string, more: object = {}) => ['record-fact', { fact: text, category, ...more }]
const decision = (name: string, description: string, rationale: string, topics: string[]) => [
  'record-decision',
  { name, description, rationale, topics, impact: 6 },
]
const failed = (approach: string, outcome: string, lesson: string) => [
  'record-failed-approach',
  { approach, outcome, lesson },
]
const learning = (title: string, body: string) => ['record-learning', { title, body, severity: 'medium' }]

/** What is weighty enough for no briefing; a prompt has to ask for it. */
const old = (name: string, description: string, rationale: string) => [
  'record-decision',
  { name, description, rationale, impact: 2 },
]
const OLDER: readonly unknown[] = [
  old('round-per-rate', 'VAT is rounded once per rate, not per line', 'the tax office sums by rate'),
  old(
    'credit-note-rate',
    'A credit note takes the VAT rate of the invoice it belongs to',
    'the tax was paid at that rate',
  ),
  old('role-in-token', 'The role of a user stands in the session token', 'no query for each request'),
  old('hide-ids', 'What somebody may not see answers 404', 'a 403 told which customers there are'),
  old('page-limit', 'A page has at most 200 rows', 'larger ones ran into the timeout of the gateway'),
  old('retry-backoff', 'The payment worker retries after 1, 5 and 25 minutes', 'the provider blocks faster ones'),
  old('changelog-by-hand', 'The changelog is written by hand', 'generated ones were read by nobody'),
  old('lint-warnings', 'eslint warnings fail the build', 'there were 400 of them once'),
  old('message-catalogue', 'Messages have ids of their area', 'translators work by area'),
  old('customer-numbers', 'Customers have a number besides their id', 'they say it on the phone'),
  old('pdf-fonts', 'PDFs embed their fonts', 'a printer took another one'),
  old('queue-in-postgres', 'The queue is a table with SKIP LOCKED', 'one thing less to run'),
  old('soft-delete', 'Customers are never deleted, only closed', 'invoices must keep their recipient'),
  old('time-zones', 'Moments are UTC, days are of the customer', 'due dates were off by one'),
  old('search-trigram', 'Customer search uses trigrams', 'names are misspelt'),
  old('csv-semicolon', 'CSV exports use semicolons', 'spreadsheets of our customers expect them'),
  old('money-type', 'Sums are of type Cents', 'euros and cents were mixed up'),
  old(
    'view-refresh',
    'The view of totals is refreshed after each posting',
    'a list of invoices without it took seconds',
  ),
  learning('psql shows numeric without trailing zeros', 'Compare cents, not text.'),
  learning('The lint cache lies after a change of its rules', 'Run eslint without the cache.'),
  [
    'record-insight',
    { summary: 'Most differences of one cent come from rounding VAT per line of an invoice', category: 'invoice' },
  ],
  [
    'record-pattern',
    {
      name: 'cursor-comparison',
      description: 'A row comparison (created, id) < (c, i) for the next page',
      type: 'api',
    },
  ],
]

/** What the person had agreed to, and what earlier sessions had found out. */
const KNOWN: readonly unknown[] = [
  fact('Always run npm test before committing', 'workflow'),
  fact('Money is integer cents, never a float', 'constraint', { locations: ['src/invoice'] }),
  fact('Errors that a customer sees are in src/messages.ts', 'convention'),
  fact('Never edit files under src/generated', 'constraint', { locations: ['src/generated'] }),
  fact('Use pnpm, never npm install', 'tool'),
  decision('use-postgres', 'Invoices are kept in PostgreSQL', 'accounting asks for joins and audits', ['storage']),
  decision('cursor-paging', 'Lists are paged by a cursor of (created, id)', 'offsets skipped rows while others wrote', [
    'api',
  ]),
  decision('jwt-in-cookie', 'The session token is a JWT in an HttpOnly cookie', 'scripts on the page cannot read it', [
    'auth',
  ]),
  decision('idempotency-keys', 'Payment calls carry an idempotency key', 'a retry charged a customer twice in March', [
    'payment',
  ]),
  decision('outbox', 'Mails are sent from an outbox table by a worker', 'a rolled back order had sent its mail', [
    'mail',
  ]),
  decision('zod-at-the-edge', 'Requests are parsed by zod at the edge alone', 'inner code gets types it can trust', [
    'api',
  ]),
  decision(
    'vat-by-country',
    'VAT rates come from a table with the dates from which they hold',
    'Germany changed its rate for half a year',
    ['invoice'],
  ),
  decision(
    'feature-flags-in-db',
    'Feature flags are rows, read once a minute',
    'a deploy for a flag took twenty minutes',
    ['deploy'],
  ),
  failed('caching invoices in Redis', 'stale totals after a credit note', 'the totals are a materialised view now'),
  failed('mocking the clock of PostgreSQL in tests', 'now() went on', 'pass the moment as a parameter'),
  failed('streaming the PDF while it was made', 'half files on errors', 'write to a temporary file, then send it'),
  learning('Stripe sends webhooks twice', 'Their ids are kept for a week and the second one is dropped.'),
  learning('The staging database is restored on Sundays', 'Test accounts are gone on Monday morning.'),
  [
    'record-correction',
    {
      wrongBelief: 'credit notes are negative invoices',
      rightBelief: 'credit notes are documents of their own with a number range',
    },
  ],
  ['record-question', { question: 'Do we need invoices in Polish?', context: 'sales asked' }],
  [
    'record-file-understanding',
    {
      path: 'src/invoice/total.ts',
      summary: 'Sums lines in cents and rounds VAT per rate',
      importantSymbols: ['totalOf'],
    },
  ],
]

type Step =
  | { say: string }
  | { edit: string }
  | { run: string; fails?: string }
  | { mate: readonly unknown[] }
  | { comes: 'compact' | 'resume' }

const say = (text: string): Step => ({ say: text })
const edit = (path: string): Step => ({ edit: path })
const run = (command: string, fails?: string): Step => ({ run: command, ...(fails === undefined ? {} : { fails }) })

/** A session each: the morning, a small thing at noon, the afternoon. */
const SESSIONS: readonly (readonly Step[])[] = [
  [
    say('hi, where did we leave the paging of the invoice list?'),
    say('ok let us finish it. the list endpoint should take a cursor and a limit'),
    edit('src/api/invoices.ts'),
    run('pnpm test src/api', '2 failed'),
    say('the second page repeats the last row of the first, look at the comparison'),
    edit('src/api/invoices.ts'),
    run('pnpm test src/api'),
    say('yes'),
    say('please always sort by created and then by id'),
    say('now the same for customers'),
    edit('src/api/customers.ts'),
    {
      mate: [
        [
          'record-decision',
          { name: 'pdf-by-worker', description: 'PDFs are made by the worker', rationale: 'requests timed out' },
        ],
      ],
    },
    say('does the limit have a maximum?'),
    say('make it 200'),
    edit('src/api/paging.ts'),
    run('pnpm test'),
    say('can you explain the type of Page<T> to me?'),
    say('fine. what did we decide about the session token and cookies? the customer list needs the role'),
    edit('src/auth/role.ts'),
    {
      mate: [
        ['claim', { paths: ['src/pdf/**'], note: 'worker' }],
        ['share-set', { key: 'staging', value: 'mate has it until noon' }],
      ],
    },
    say('add a test for a customer without the role'),
    edit('test/api/customers.test.ts'),
    run('pnpm test', '1 failed'),
    say('the status should be 404, not 403, so that nobody learns which ids there are'),
    edit('src/api/customers.ts'),
    run('pnpm test'),
    say('great, commit this'),
    run('git commit -am "Page customers by cursor"'),
    say('update the changelog too'),
    edit('CHANGELOG.md'),
    say('thanks'),
  ],
  [
    say('what does the eslint warning in src/messages.ts mean?'),
    say('fix it'),
    edit('src/messages.ts'),
    run('pnpm lint'),
    say('good'),
  ],
  [
    say('a customer got an invoice whose VAT is off by one cent, total 119.01 instead of 119.00. find out why'),
    say('the invoice is from August 2020'),
    run('psql -c "select * from vat"'),
    say('so which rate is taken for a credit note of an old invoice?'),
    edit('src/invoice/total.ts'),
    run('pnpm test src/invoice', '3 failed'),
    say('no, round per rate and not per line'),
    say('and which rate does the credit note of such an invoice take?'),
    edit('src/invoice/total.ts'),
    run('pnpm test src/invoice'),
    {
      mate: [
        ['supersede', { old: 'feature-flags-in-db', new: 'pdf-by-worker', reason: 'flags went with the worker' }],
        ['release', { paths: ['src/pdf/**'] }],
      ],
    },
    say('can we cache the totals of invoices? the list takes 900 ms'),
    say('ok leave it. use the view'),
    edit('src/invoice/list.ts'),
    say('never call the payment provider from a test'),
    say('write the failing test first'),
    edit('test/invoice/list.test.ts'),
    run('pnpm test src/invoice', '1 failed'),
    say('go on'),
    edit('src/invoice/list.ts'),
    run('pnpm test src/invoice'),
    { comes: 'compact' },
    say('what is left?'),
    say('do the retries of the payment worker send the same idempotency key?'),
    edit('src/payment/retry.ts'),
    run('pnpm test src/payment'),
    { comes: 'resume' },
    say('rename retryPayment to chargeAgain'),
    edit('src/payment/retry.ts'),
    run('pnpm test'),
    say('commit'),
    run('git commit -am "Charge again with the same key"'),
    say('write a short summary for the pull request'),
    say('that is all for today'),
  ],
]

/** What was put before the agent at one event. */
export interface Put {
  readonly session: string
  readonly event: string
  readonly text: string
  /** How a start came about. */
  readonly source?: string
}

/** Lives the day with one client; `passes` lets time pass between the events. What the client cannot tell at an event comes with the next, as its hooks have it. */
export async function liveDay(memory: Memory, project: Project, client: ClientName, passes = () => {}): Promise<Put[]> {
  const dialect = await DIALECTS[client]()
  const sessions = sessionsOf(memory)
  memory.act(OLDER)
  memory.act(KNOWN)
  sessions.start({ id: 'mate', client: 'codex', user: 'mate' })
  const put: Put[] = []
  const hook = async (session: string, event: HookCall['event'], more: Partial<HookCall> = {}) => {
    passes()
    const name = spelling(dialect, event)
    if (name === undefined) return
    const call = { client, event, session, cwd: project.root, ...more } as HookCall
    const answered = await respond(memory, project, call, () => 60_000)
    if (answered.errors.length > 0) throw new Error(`${event}: ${answered.errors.join('; ')}`)
    const tells = dialect.tells(name, { session_id: session })
    const reply = bounded(carried(memory, session, answered.reply ?? NOTHING, tells))
    const text = [reply.decision === undefined ? undefined : reply.reason, tells ? reply.context : undefined]
    const source = more.source === undefined ? {} : { source: more.source }
    put.push({ session, event, text: text.filter(Boolean).join('\n'), ...source })
  }
  for (const [n, steps] of SESSIONS.entries()) {
    const session = `${client}-${n + 1}`
    await hook(session, 'session-start', { source: 'startup' })
    for (const step of steps) {
      if ('say' in step) await hook(session, 'prompt', { prompt: step.say })
      else if ('mate' in step) memory.act(step.mate, { session: 'mate', agent: 'codex', user: 'mate', by: 'agent' })
      else if ('comes' in step) {
        if (step.comes === 'compact') await hook(session, 'pre-compact', { trigger: 'auto' })
        else await hook(session, 'session-end', { reason: 'other' })
        await hook(session, 'session-start', { source: step.comes })
      } else if ('edit' in step) {
        const tool = { name: 'Edit', paths: [step.edit] }
        await hook(session, 'before-edit', { tool })
        await hook(session, 'after-edit', { tool })
      } else {
        const failing = step.fails !== undefined
        const tool = { name: 'Bash', paths: [], command: step.run, response: step.fails ?? 'ok', failed: failing }
        await hook(session, failing ? 'tool-failed' : 'after-tool', { tool })
      }
    }
    await hook(session, 'stop')
    await hook(session, 'session-end', { reason: 'other' })
  }
  return put
}
