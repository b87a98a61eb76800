// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { responses } from './fakes/responses.ts'
import { machine, withClients } from './machine.ts'

const handoff = {
  inProgress: ['the answer, step 1 of 2'],
  nextSteps: ['make the answer 42', 'run the tests'],
}

withClients(
  ['claude'],
  '[P4] Claude Code: at 80 % of the context the handoff is there, and the agent completes it',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    model.next(
      { call: 'Bash', input: { command: 'echo working', description: 'works' }, used: 100_000 },
      {
        call: 'Bash',
        input: { command: 'tidemark claim src/app.ts --note answering', description: 'works' },
        used: 160_000,
      },
      { call: 'Bash', input: { command: 'cat .tidemark/handoff.md', description: 'looks' }, used: 161_000 },
      { call: 'mcp__tidemark__act', input: { actions: [['write-handoff', handoff]] }, used: 161_000 },
      { say: 'handed over', used: 161_000 },
    )
    await claude(m, model, 'work on the answer')
    const asked = model.turns.findIndex((t) => t.text.includes("of this session's context is used"))
    expect(asked).toBe(2)
    const page = m.read('.tidemark/handoff.md')
    expect(page).toMatch(/\*\*Session context:\*\* ~?8[01]% used/)
    expect(page).toContain('make the answer 42')
    // before the agent said a word of it, it was there
    expect(results(model.turns[3]!).at(-1)!.text).toMatch(/Session context:\*\* 80% used[\s\S]*Had claimed src\/app.ts/)
  },
)

withClients(
  ['claude'],
  '[P4] Claude Code: an agent that stops at 80 % may stop, and is told with the next prompt, once',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    model.next({ say: 'all done', used: 170_000 }, { say: 'really', used: 170_000 })
    const first = await claude(m, model, 'work on the answer')
    expect(first.lines.at(-1)).toMatchObject({ type: 'result', result: 'all done' })
    expect(model.turns).toHaveLength(1)
    await claude(m, model, 'go on', ['--resume', first.session])
    expect(model.turns).toHaveLength(2)
    expect(model.turns[1]!.text).toContain("85% of this session's context is used")
    expect(model.turns[1]!.text).toContain('Write a handoff now') // it did nothing that one could be put together from
    expect(m.sessions()[0]).toMatchObject({ contextUsed: 85 })
  },
)

withClients(
  ['codex'],
  '[P4] Codex: at 80 % of the context the handoff is there, and the agent completes it',
  async () => {
    const m = machine(['codex'])
    const model = await responses()
    codexAsks(m, model)
    model.next(
      { call: 'exec_command', input: { cmd: 'echo working' }, used: 225_000 },
      { call: 'exec_command', input: { cmd: 'echo working' }, used: 225_000 },
      { call: 'mcp__tidemark.act', input: { actions: [['write-handoff', handoff]] }, used: 225_000 },
    )
    await codex(m, 'work on the answer')
    const asked = model.turns.findIndex((t) => t.text.includes("of this session's context is used"))
    expect(asked).toBeGreaterThan(0)
    expect(m.read('.tidemark/handoff.md')).toContain('make the answer 42')
    expect(m.read('.tidemark/handoff.md')).toContain('87% used')
  },
)
