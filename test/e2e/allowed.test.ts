// @module-tag long
import { expect } from 'vitest'
import { claudeEnv } from './claude.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { binary, machine, withClients } from './machine.ts'
import { gemini } from './others.ts'

const ask = { input: { text: 'storage' } }
const record = { input: { actions: [['record-decision', { name: 'storage', description: 'SQLite' }]] } }

withClients(
  ['claude'],
  '[X1] Claude Code: after init the tools that read run without asking, act once a person allowed it',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    const run = async () => {
      model.next({ call: 'mcp__tidemark__recall', ...ask }, { call: 'mcp__tidemark__act', ...record })
      await m.run(binary('claude'), ['-p', 'go', '--model', 'claude-haiku-4-5'], claudeEnv(model))
      return results(model.turns.at(-1)!).map((r) => r.error)
    }
    expect(await run()).toEqual([false, true])
    m.tidemark('init', '--yes', '--no-import', '--client', 'claude', '--allow', 'act')
    expect(await run()).toEqual([false, false])
    expect(m.recorded().map((e) => e.key)).toContain('decision:storage')
  },
)

withClients(
  ['gemini'],
  '[X1] Gemini CLI: after init the tools that read run without asking, act once a person allowed it',
  async () => {
    const m = machine(['gemini'])
    const model = await gemini.model()
    const run = async () => {
      model.next({ call: 'mcp_tidemark_recall', ...ask }, { call: gemini.act, ...record })
      const { out } = await gemini.ask({ ...m, run: (f, args, env) => m.run(f, asking(args), env) }, model, 'go')
      return JSON.parse(out).stats.tools.totalSuccess
    }
    expect(await run()).toBe(1)
    m.tidemark('init', '--yes', '--no-import', '--client', 'gemini', '--allow', 'act')
    expect(await run()).toBe(2)
  },
)

/** Without the flag that lets everything pass. */
const asking = (args: readonly string[]) => args.filter((a) => a !== '--approval-mode' && a !== 'yolo')
