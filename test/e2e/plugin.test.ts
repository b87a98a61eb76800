// @module-tag long
import { join } from 'node:path'
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { machine, withClients } from './machine.ts'

const PLUGIN = join(import.meta.dirname, '..', '..', 'plugin')

withClients(
  ['claude'],
  '[M3] [X6] [X7] Claude Code with the plugin and nothing wired: briefed, one session, and a claimed file is refused',
  async () => {
    const m = machine([])
    const file = m.path('src/app.ts')
    m.tidemark('session', 'start', 'reviewer-1')
    m.tidemark('claim', 'src/**', '--session', 'reviewer-1')
    m.tidemark(
      'act',
      JSON.stringify([
        ['record-decision', { name: 'storage', description: 'SQLite is the store', rationale: 'one file' }],
      ]),
    )
    const model = await anthropic()
    model.next(
      {
        call: 'mcp__plugin_tidemark_tidemark__act',
        input: { actions: [['record-decision', { name: 'by-plugin', description: 'x', rationale: 'y' }]] },
      },
      { call: 'Read', input: { file_path: file } },
      { call: 'Edit', input: { file_path: file, old_string: '41', new_string: '42' } },
    )
    const ran = await claude(m, model, 'go on', [
      '--plugin-dir',
      PLUGIN,
      '--allowedTools',
      'mcp__plugin_tidemark_tidemark,Edit,Read',
    ])
    expect(model.turns[0]!.text).toContain('decision:storage: SQLite is the store')
    expect(results(model.turns.at(-1)!).at(-1)!.text).toContain('src/app.ts is claimed by reviewer-1')
    expect(m.read('src/app.ts')).toBe('export const answer = 41\n')
    expect(
      m
        .sessions()
        .map((s) => s.id)
        .filter((id) => id !== 'reviewer-1'),
    ).toEqual([ran.session])
    expect(m.recorded().find((e) => e.key === 'decision:by-plugin')?.session_id).toBe(ran.session)
  },
)
