// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { outputs, responses, words as said } from './fakes/responses.ts'
import { machine, withClients } from './machine.ts'
import { terminal } from './tui.ts'

const work = [
  ['record-decision', { name: 'storage', description: 'SQLite is the store', rationale: 'one file' }],
  ['claim', { paths: ['src/store/**'], note: 'the store' }],
  ['write-handoff', { inProgress: ['the store, step 2 of 5'], nextSteps: ['write the migration'] }],
]
const worked = { call: 'mcp__tidemark__act', input: { actions: work } }
const handedOn = (text: string): boolean =>
  /SessionStart hook additional context: <tidemark-data>[^<]*the store, step 2 of 5[^<]*write the migration[^<]*SQLite is the store/.test(
    text,
  )

withClients(
  ['claude'],
  '[X7] [P4] Claude Code: a compaction keeps the thread, and the handoff and the briefing come again',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    model.next(worked)
    const { session } = await claude(m, model, 'work on the store')
    await claude(m, model, '/compact', ['--resume', session])
    const before = model.turns.length
    await claude(m, model, 'go on', ['--resume', session])
    const next = model.turns[before]!
    expect(handedOn(next.text)).toBe(true)
    expect(
      m
        .hooks()
        .map((h) => h.event)
        .slice(6, 10),
    ).toEqual(['SessionStart', 'SubagentStop', 'SessionStart', 'SessionEnd'])
    expect(m.sessions().map((s) => s.id)).toEqual([session])
  },
)

withClients(
  ['claude'],
  '[X7] [P4] Claude Code: when it compacts by itself in the midst of work, the next request holds the handoff',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    model.next(
      worked,
      { call: 'Bash', input: { command: 'echo working', description: 'works' }, used: 96_000 },
      { call: 'Bash', input: { command: 'tidemark claims', description: 'looks' } },
    )
    const { session } = await claude(m, model, 'work on the store', [], { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' })
    expect(m.hooks().map((h) => h.event)).toContain('PreCompact')
    expect(handedOn(model.turns.at(-1)!.text)).toBe(true)
    expect(results(model.turns.at(-1)!).at(-1)!.text).toContain('src/store/**')
    expect(m.sessions().map((s) => s.id)).toEqual([session])
  },
)

withClients(
  ['codex'],
  '[X7] [P4] Codex: when it compacts by itself in the midst of work, the next request ends with the handoff',
  async () => {
    const m = machine(['codex'])
    const model = await responses()
    codexAsks(m, model)
    model.next(
      { call: 'mcp__tidemark.act', input: { actions: work }, used: 50_000 },
      { call: 'exec_command', input: { cmd: 'tidemark claims' } },
    )
    const { thread } = await codex(m, 'work on the store', ['-c', 'model_auto_compact_token_limit=40000'])
    const events = m.hooks().map((h) => h.event)
    expect(events.slice(events.indexOf('PreCompact'))).toEqual([
      'PreCompact',
      'SessionStart',
      'PreToolUse',
      'PostToolUse',
      'Stop',
      'SessionEnd',
    ])
    expect(outputs(model.turns[1]!)).toEqual([]) // what the tool said is gone
    const last = said(model.turns[1]!)
    expect(last).toMatch(
      /<tidemark-data>[^<]*the store, step 2 of 5[^<]*write the migration[^<]*SQLite is the store[^<]*<\/tidemark-data>\n\nTidemark: when the user[^<]*$/,
    )
    expect(last).not.toContain('Keep these references')
    expect(outputs(model.turns[2]!)[0]).toMatch(new RegExp(`src/store/\\*\\* Codex .*${thread.slice(0, 8)}`))
    expect(m.sessions().map((s) => s.id)).toEqual([thread])
  },
)

withClients(
  ['claude'],
  '[X7] [P4] Claude Code in a terminal: after /clear the new id goes on with the session, through every door',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    model.next(worked)
    const t = terminal(m, model)
    const seen = (event: string, n = 1) => m.hooks().filter((h) => h.event === event).length >= n
    await t.until('started', () => seen('SessionStart'))
    await t.until('drawn', () => seen('status-line'))
    await t.type('work on the store')
    await t.until('done with the first prompt', () => seen('Stop'))
    await t.type('/clear')
    await t.until('cleared', () => seen('SessionStart', 2))
    const before = model.turns.length
    model.next(
      {
        call: 'mcp__tidemark__act',
        input: {
          actions: [['record-decision', { name: 'after', description: 'after the clear', rationale: 'it was' }]],
        },
      },
      { call: 'Bash', input: { command: 'tidemark session show; tidemark claims', description: 'looks' } },
    )
    await t.type('go on')
    await t.until('done with the second prompt', () => seen('Stop', 2))
    const [first, second] = m
      .hooks()
      .filter((h) => h.event === 'SessionStart')
      .map((h) => h.session)
    expect(second).not.toBe(first)
    expect(handedOn(model.turns[before]!.text)).toBe(true)
    const live = m.sessions().filter((s) => s.state !== 'ended')
    expect(live.map((s) => s.id)).toEqual([second])
    expect(results(model.turns.at(-1)!).at(-1)!.text).toMatch(
      new RegExp(`src/store/\\*\\* Claude .*${second!.slice(0, 8)}`),
    )
    // the server's process was started for the session before
    expect(m.recorded().find((e) => e.key === 'decision:after')?.session_id).toBe(second)
    await t.type('/exit')
    await t.ended
    expect(m.sessions().map((s) => s.state)).toEqual(['ended', 'ended'])
  },
)

withClients(['claude'], '[X7] Claude Code in a terminal: /compact prints no command of ours', async () => {
  const m = machine(['claude'])
  const model = await anthropic()
  model.next(worked)
  const t = terminal(m, model)
  const seen = (event: string, n = 1) => m.hooks().filter((h) => h.event === event).length >= n
  await t.until('drawn', () => seen('status-line'))
  await t.type('work on the store')
  await t.until('done', () => seen('Stop'))
  await t.type('/compact')
  await t.until('compacted', () => seen('SessionStart', 2) && /Compacted|Conversation compacted/.test(t.screen()))
  expect(t.screen()).not.toContain('tidemark hook')
  expect(t.screen()).not.toContain('hook claude')
  await t.type('/exit')
  await t.ended
})

withClients(
  ['claude'],
  '[Y1] [G7] Claude Code in a terminal: the agent is asked what an earlier session left, the person about a rule, and their yes records it',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    const t = terminal(m, model)
    const seen = (event: string, n = 1) => m.hooks().filter((h) => h.event === event).length >= n
    await t.until('drawn', () => seen('status-line'))
    await t.type('add a price. never use floats for money')
    await t.until('asked', () => /never use floats for money.{0,9}confirm/.test(t.screen()))
    await t.until('done', () => seen('Stop'))
    await t.type('yes')
    await t.until('recorded', () => m.recorded().length > 0)
    expect(m.recorded().map((e) => e.key)).toEqual(['fact:never-use-floats-for-money'])
    await t.type('/exit')
    await t.ended
  },
)
