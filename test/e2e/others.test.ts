// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { anthropic } from './fakes/anthropic.ts'
import { machine, withClients } from './machine.ts'
import { copilot, gemini, opencode } from './others.ts'

const decide = (name: string, description: string) => ({
  actions: [['record-decision', { name, description, rationale: 'one file' }]],
})

for (const [name, other] of [
  ['gemini', gemini],
  ['copilot', copilot],
  ['opencode', opencode],
] as const)
  withClients(
    ['claude', name],
    `[M5] [X7] what an agent in ${name} records, one in Claude Code is told, and the other way round`,
    async () => {
      const m = machine(['claude', name])
      const [inOther, inClaude] = [await other.model(), await anthropic()]
      inOther.next({ call: other.act, input: decide('storage', 'SQLite is the store') })
      await other.ask(m, inOther, 'decide on the storage')
      expect(inOther.turns[0]!.text.includes('record it with act, and add')).toBe(true) // the agent is told to judge
      // hooks and the server were one session
      const [session, ...more] = m.sessions()
      expect(more).toEqual([])
      expect(session).toMatchObject({ client: name, state: 'ended' })
      expect(m.recorded().find((e) => e.key === 'decision:storage')?.session_id).toBe(session!.id)
      inClaude.next({ call: 'mcp__tidemark__act', input: decide('format', 'dates are ISO 8601') })
      await claude(m, inClaude, 'go on')
      expect(inClaude.turns[0]!.text).toContain('decision:storage: SQLite is the store')
      const before = inOther.turns.length
      await other.ask(m, inOther, 'go on')
      expect(inOther.turns[before]!.text).toContain('decision:format: dates are ISO 8601')
    },
  )
