// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { outputs, responses } from './fakes/responses.ts'
import { type Machine, machine, withClients } from './machine.ts'

const note = (name: string) => ['record-decision', { name, description: name, rationale: 'because' }]
const inShell = `tidemark act '${JSON.stringify([note('by-shell')])}' && tidemark session show`

/** Who recorded the two decisions. */
function recordedBy(m: Machine): string[] {
  const both = m.recorded().filter((e) => e.key === 'decision:by-server' || e.key === 'decision:by-shell')
  expect(both).toHaveLength(2)
  return [...new Set(both.map((e) => e.session_id))]
}

withClients(
  ['claude'],
  '[X7] Claude Code: hooks, a call of the server and the shell of the agent are one session',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    const file = m.path('src/app.ts')
    model.next(
      { call: 'mcp__tidemark__act', input: { actions: [note('by-server')] } },
      { call: 'Bash', input: { command: inShell, description: 'records' } },
      { call: 'Read', input: { file_path: file } },
      { call: 'Edit', input: { file_path: file, old_string: '41', new_string: '42' } },
      { call: 'Bash', input: { command: 'tidemark session show', description: 'shows' } },
    )
    const ran = await claude(m, model, 'record two things')
    const shown = results(model.turns.at(-1)!)
    expect(shown.at(-1)!.text).toMatch(
      new RegExp(
        `^Claude "record two things" \\(.*\\) ${ran.session.slice(0, 8)} active .* holds src/app.ts · edited 1 file`,
      ),
    )
    expect(recordedBy(m)).toEqual([ran.session])
    const sessions = m.sessions()
    expect(sessions).toHaveLength(1)
    expect(sessions[0]).toMatchObject({ id: ran.session, client: 'claude', state: 'ended', files: ['src/app.ts'] })
  },
)

withClients(
  ['codex'],
  '[X7] Codex: hooks, a call of the server and the shell of the agent are one session',
  async () => {
    const m = machine(['codex'])
    const model = await responses()
    codexAsks(m, model)
    model.next(
      { call: 'mcp__tidemark.act', input: { actions: [note('by-server')] } },
      { call: 'exec_command', input: { cmd: inShell } },
    )
    const ran = await codex(m, 'record two things')
    expect(outputs(model.turns.at(-1)!).at(-1)).toMatch(
      new RegExp(`Codex ".*" \\(.*\\) ${ran.thread.slice(0, 8)} active`),
    )
    expect(recordedBy(m)).toEqual([ran.thread])
    const sessions = m.sessions()
    expect(sessions).toHaveLength(1)
    expect(sessions[0]).toMatchObject({ id: ran.thread, client: 'codex', state: 'ended' })
  },
)
