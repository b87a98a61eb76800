import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { openProject } from '../src/project/open.ts'
import { wholeProcess } from './cold.ts'
import { builtPackage, filledProject } from './project.ts'
import { type Bench, interleave, median, quantile, type Row, ratio } from './table.ts'

const ROUNDS = 40
/** Of an empty process, as its median and as its p95 are on the same machine. */
const TIMES = 2.5

/** Milliseconds of a whole hook process, with its payload on stdin and its answer read. */
function hookProcess(bin: string, client: string, event: string, payload: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const since = performance.now()
    const child = spawn(process.execPath, [bin, 'hook', client, event], { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.on('data', () => {})
    child.stderr.on('data', (d) => (said += d))
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(payload))
    child.on('close', (code) => {
      const ms = performance.now() - since
      if (code === 0 && said === '') resolve(ms)
      else reject(new Error(`hook ${client} ${event} ended with ${code}: ${said}`))
    })
  })
}

export const bench: Bench = {
  name: 'hooks',
  about: 'each hook, cold: whole processes at 10,000 entities, each beside an empty one of the same Node',
  async run() {
    const bin = builtPackage()
    const project = filledProject(10_000)
    const { root } = project
    const memory = openProject(project, { unlisted: true })
    memory.act([
      ['record-fact', { fact: 'Always run the tests before committing', category: 'workflow' }],
      [
        'record-failed-approach',
        { approach: 'editing an old function in migrations.ts', outcome: 'old stores did not open' },
      ],
    ])
    memory.close()
    const edit = (round: number) => ({
      tool_name: 'Edit',
      tool_use_id: `t${round}`,
      tool_input: { file_path: join(root, `src/auth/part-${round % 500}.ts`) },
    })
    const bash = { tool_name: 'Bash', tool_input: { command: 'npm run build' } }
    const asked = 'How does the auth layer of part 110 choose between one file and a queue?'
    const calls: Readonly<Record<string, readonly [client: string, event: string, more: (round: number) => object]>> = {
      'claude SessionStart': ['claude', 'SessionStart', () => ({ source: 'startup' })],
      'claude UserPromptSubmit': ['claude', 'UserPromptSubmit', () => ({ prompt: asked })],
      'claude UserPromptSubmit, a rule in it': [
        'claude',
        'UserPromptSubmit',
        (round) => ({ prompt: `Never use module number ${round + 10} in handlers.` }),
      ],
      'claude PreToolUse, an edit': ['claude', 'PreToolUse', edit],
      'claude PostToolUse, an edit': ['claude', 'PostToolUse', edit],
      'claude PostToolUse, a command': ['claude', 'PostToolUse', () => ({ ...bash, duration_ms: 900 })],
      'claude PostToolUseFailure': ['claude', 'PostToolUseFailure', () => ({ ...bash, error: 'exit 1' })],
      'claude SubagentStart': [
        'claude',
        'SubagentStart',
        (round) => ({ agent_id: `a${round}`, agent_type: 'Explore' }),
      ],
      'claude SubagentStop': ['claude', 'SubagentStop', (round) => ({ agent_id: `a${round}`, agent_type: 'Explore' })],
      'claude status-line': ['claude', 'status-line', (round) => ({ context_window: { used_percentage: round % 60 } })],
      'claude PreCompact': ['claude', 'PreCompact', () => ({ trigger: 'auto' })],
      'claude Stop': ['claude', 'Stop', () => ({})],
      'claude SessionEnd': ['claude', 'SessionEnd', () => ({ reason: 'other' })],
      'codex SessionStart': ['codex', 'SessionStart', () => ({ source: 'startup' })],
      'gemini BeforeAgent': ['gemini', 'BeforeAgent', () => ({ prompt: asked })],
      'copilot preToolUse': [
        'copilot',
        'preToolUse',
        () => ({ toolName: 'edit', toolArgs: { path: 'src/auth/part-3.ts' } }),
      ],
      'cursor afterFileEdit': ['cursor', 'afterFileEdit', () => ({ file_path: join(root, 'src/auth/part-4.ts') })],
      'opencode session.idle': ['opencode', 'session.idle', () => ({})],
    }
    const cases: Record<string, (round: number) => Promise<number>> = {
      'node -e 0': () => wholeProcess(['-e', '0'], '/'),
      "discover '(+ 1 1)'": () => wholeProcess([bin, 'discover', '(+ 1 1)'], root),
    }
    for (const [what, [client, event, more]] of Object.entries(calls)) {
      const id = `bench-${client}`
      const base = { session_id: id, sessionId: id, sessionID: id, conversation_id: id, cwd: root, directory: root }
      cases[what] = (round) => hookProcess(bin, client, event, { ...base, ...more(round) })
    }
    const measured = await interleave(ROUNDS, cases)
    const empty = measured['node -e 0']!
    const mostP95 = TIMES * quantile(empty, 0.95)
    const rows = Object.entries(measured).map(([what, ms]): Row => {
      const times = ratio(ms, empty)
      const p95 = quantile(ms, 0.95)
      const bound = Object.hasOwn(calls, what)
      return {
        what,
        cells: [median(ms), times, p95],
        ...(bound
          ? { bound: `≤ ${TIMES} ×, p95 ≤ ${mostP95.toFixed(0)} ms`, ok: times <= TIMES && p95 <= mostP95 }
          : {}),
      }
    })
    return [
      {
        title: `ms of wall time, ${ROUNDS} rounds`,
        columns: ['median', '× empty', 'p95'],
        rows,
        notes: ['× empty is the median of the ratios to the empty process of the same round'],
      },
    ]
  },
}
