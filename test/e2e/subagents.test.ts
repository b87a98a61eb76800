// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { anthropic } from './fakes/anthropic.ts'
import { machine, withClients } from './machine.ts'

withClients(
  ['claude'],
  '[X7] Claude Code: a subagent is a child session, is briefed, and what it records is its own',
  async () => {
    const m = machine(['claude'])
    m.tidemark(
      'act',
      JSON.stringify([
        ['record-decision', { name: 'storage', description: 'SQLite is the store', rationale: 'one file' }],
      ]),
    )
    const model = await anthropic()
    const decision = ['record-decision', { name: 'by-child', description: 'found below', rationale: 'looked' }]
    model.next(
      {
        call: 'Agent',
        input: {
          description: 'look',
          prompt: 'LOOK INTO IT',
          subagent_type: 'general-purpose',
          run_in_background: false,
        },
      },
      { call: 'mcp__tidemark__act', input: { actions: [decision] } },
      { say: 'found it' },
      { say: 'all done' },
    )
    const { session } = await claude(m, model, 'have it looked into')
    const child = m.sessions().find((s) => s.parent !== undefined)
    expect(child).toMatchObject({ parent: session, state: 'ended' })
    expect(model.turns[1]!.text).toContain('LOOK INTO IT')
    expect(model.turns[1]!.text).toContain('decision:storage: SQLite is the store')
    expect(m.recorded().find((e) => e.key === 'decision:by-child')).toMatchObject({
      session_id: child!.id,
    })
  },
)
