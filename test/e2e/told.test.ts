// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import * as claudes from './fakes/anthropic.ts'
import * as codexes from './fakes/responses.ts'
import { machine, withClients } from './machine.ts'

const decision = [
  'record-decision',
  { name: 'storage', description: 'SQLite is the store', rationale: 'one file, no server' },
]
const failure = [
  'record-failed-approach',
  { approach: 'a JSON file for each entity', lesson: 'writers overwrote each other' },
]

withClients(
  ['claude', 'codex'],
  '[M5] what an agent in Claude Code records, one in Codex is told as its session starts',
  async () => {
    const m = machine(['claude', 'codex'])
    const [inClaude, inCodex] = [await claudes.anthropic(), await codexes.responses()]
    codexAsks(m, inCodex)
    inClaude.next({ call: 'mcp__tidemark__act', input: { actions: [decision, failure] } })
    const wrote = await claude(m, inClaude, 'decide on the storage')
    expect(claudes.results(inClaude.turns.at(-1)!)[0]!.text).toContain('record-decision decision:storage (new)')
    const read = await codex(m, 'go on with the storage')
    const first = codexes.words(inCodex.turns[0]!)
    expect(first).toContain('decision:storage: SQLite is the store; why: one file, no server')
    expect(first).toContain('a JSON file for each entity')
    expect(
      m
        .sessions()
        .map((s) => [s.id, s.client, s.state])
        .sort(),
    ).toEqual(
      [
        [wrote.session, 'claude', 'ended'],
        [read.thread, 'codex', 'ended'],
      ].sort(),
    )
  },
)

withClients(
  ['claude', 'codex'],
  '[M5] what an agent in Codex records, one in Claude Code is told as its session starts',
  async () => {
    const m = machine(['claude', 'codex'])
    const [inClaude, inCodex] = [await claudes.anthropic(), await codexes.responses()]
    codexAsks(m, inCodex)
    inCodex.next({ call: 'mcp__tidemark.act', input: { actions: [decision, failure] } })
    const wrote = await codex(m, 'decide on the storage')
    expect(codexes.outputs(inCodex.turns.at(-1)!)[0]).toContain('record-decision decision:storage (new)')
    const read = await claude(m, inClaude, 'go on with the storage')
    const first = inClaude.turns[0]!.text
    expect(first).toContain('SessionStart hook additional context')
    expect(first).toContain('decision:storage: SQLite is the store; why: one file, no server')
    expect(first).toContain('a JSON file for each entity')
    expect(
      m
        .sessions()
        .map((s) => [s.id, s.client, s.state])
        .sort(),
    ).toEqual(
      [
        [wrote.thread, 'codex', 'ended'],
        [read.session, 'claude', 'ended'],
      ].sort(),
    )
  },
)

withClients(
  ['claude'],
  '[G7] [H3] Claude Code: what the agent records in the user’s words waits for a yes, a headless run uses nothing up, and the first read of a file brings what was understood of it',
  async () => {
    const m = machine(['claude'])
    const model = await claudes.anthropic()
    const file = m.path('src/app.ts')
    const understood = ['record-file', { path: 'src/app.ts', summary: 'Totals are integer cents' }]
    const rule = ['record-fact', { fact: 'Never use floats for money', said: 'money must not be a float' }]
    model.next({ call: 'mcp__tidemark__act', input: { actions: [understood, rule] } })
    await claude(m, model, 'fix the login. money must not be a float, you know')
    expect(model.turns[0]!.text).toContain('record it with act, and add')
    await claude(m, model, 'payments go through the old gateway until March')
    const before = model.turns.length
    model.next({ call: 'Read', input: { file_path: file } }, { call: 'Read', input: { file_path: file } })
    await claude(m, model, 'go on with the discount')
    const [first, read, again] = model.turns.slice(before)
    expect(first!.text).not.toContain('Said in a prompt') // no person typed it: it waits, and is evidence of nothing
    expect(m.recorded().map((e) => e.key)).toContain('fact:never-use-floats-for-money')
    expect(first!.text).not.toContain('integer cents')
    expect(first!.text).not.toContain('Earlier sessions ended') // no person typed this
    expect(read!.text).toContain('Totals are integer cents')
    expect(again!.text.split('Totals are integer cents')).toHaveLength(2)
  },
)
