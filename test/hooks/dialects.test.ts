import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Dialect, spelling } from '../../src/session/clients/common/dialect.ts'
import type { Payload } from '../../src/session/clients/common/payload.ts'
import { CLIENTS, DIALECTS } from '../../src/session/clients/index.ts'
import { HOOK_EVENTS, type HookCall, type HookReply } from '../../src/session/hooks/call.ts'
import { CLIENT_NAMES, type ClientName } from '../../src/work/coordination/clients.ts'

const dialects = Object.fromEntries(
  await Promise.all(CLIENT_NAMES.map(async (c) => [c, await DIALECTS[c]()] as const)),
) as Record<ClientName, Dialect>

const BASE = { session_id: 's1', transcript_path: '/t/s1.jsonl', cwd: '/w' }

/** What each client sends (reference/clients.md) and what it means. */
const CASES: readonly [client: ClientName, event: string, payload: object, meant: Partial<HookCall>][] = [
  ['claude', 'SessionStart', { ...BASE, hook_event_name: 'SessionStart', source: 'compact', model: 'm' }, { event: 'session-start', session: 's1', source: 'compact', cwd: '/w', transcript: '/t/s1.jsonl' }],
  ['claude', 'SessionEnd', { ...BASE, reason: 'clear' }, { event: 'session-end', reason: 'clear' }],
  ['claude', 'UserPromptSubmit', { ...BASE, prompt: 'fix it', prompt_id: 'p' }, { event: 'prompt', prompt: 'fix it' }],
  ['claude', 'PreToolUse', { ...BASE, tool_name: 'Edit', tool_input: { file_path: '/w/a.ts', old_string: 'a', new_string: 'b' }, tool_use_id: 'toolu_1' }, { event: 'before-edit', tool: { name: 'Edit', id: 'toolu_1', paths: ['/w/a.ts'] } }],
  ['claude', 'PreToolUse', { ...BASE, tool_name: 'Read', tool_input: { file_path: '/w/a.ts' } }, { event: 'before-tool', tool: { name: 'Read', paths: [] } }],
  ['claude', 'PreToolUse', { ...BASE, tool_name: 'NotebookEdit', tool_input: { notebook_path: '/w/n.ipynb' } }, { event: 'before-edit' }],
  ['claude', 'PostToolUse', { ...BASE, tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: { stdout: 'ok', stderr: '', interrupted: false } }, { event: 'after-tool', tool: { name: 'Bash', paths: [], command: 'npm test', response: 'ok' } }],
  ['claude', 'PostToolUseFailure', { ...BASE, tool_name: 'Bash', tool_input: { command: 'npm test' }, error: 'Exit code 1' }, { event: 'tool-failed', tool: { name: 'Bash', paths: [], command: 'npm test', response: 'Exit code 1', failed: true } }],
  ['claude', 'PreToolUse', { ...BASE, agent_id: 'a7', agent_type: 'Explore', tool_name: 'Write', tool_input: { file_path: 'x' } }, { event: 'before-edit', session: 's1/a7', parent: 's1', agent: 'Explore' }],
  ['claude', 'Stop', { ...BASE, stop_hook_active: true, last_assistant_message: 'done' }, { event: 'stop', said: 'done' }],
  ['claude', 'SubagentStart', { ...BASE, agent_id: 'a7', agent_type: 'Explore' }, { event: 'subagent-start', session: 's1/a7', parent: 's1' }],
  ['claude', 'SubagentStop', { ...BASE, agent_id: 'a9', agent_type: '', stop_hook_active: false }, { event: 'other', session: 's1' }],
  ['claude', 'PreCompact', { ...BASE, trigger: 'auto', custom_instructions: '' }, { event: 'pre-compact', trigger: 'auto' }],
  ['claude', 'PostCompact', { ...BASE, trigger: 'auto', compact_summary: '…' }, { event: 'post-compact' }],
  ['claude', 'status-line', { ...BASE, context_window: { used_percentage: 81.5 }, workspace: { current_dir: '/w/sub' } }, { event: 'status-line', contextUsed: 81.5, cwd: '/w/sub' }],
  ['claude', 'status-line', { ...BASE, context_window: { used_percentage: null } }, { event: 'status-line' }],
  // VS Code fires Claude's hooks in its own words
  ['claude', 'PreToolUse', { timestamp: 't', cwd: '/w', sessionId: 'v1', hookEventName: 'PreToolUse', tool_name: 'replace_string_in_file', tool_input: { filePath: '/w/a.ts' } }, { event: 'before-edit', session: 'v1', tool: { name: 'replace_string_in_file', paths: ['/w/a.ts'] } }],
  ['claude', 'PostToolUse', { sessionId: 'v1', cwd: '/w', tool_name: 'run_in_terminal', tool_input: { command: 'make' } }, { event: 'after-tool', tool: { name: 'run_in_terminal', paths: [], command: 'make' } }],
  ['codex', 'SessionStart', { ...BASE, turn_id: 't', model: 'm', permission_mode: 'default', source: 'startup' }, { event: 'session-start', source: 'startup' }],
  ['codex', 'PreToolUse', { ...BASE, tool_name: 'apply_patch', tool_input: { command: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** Add File: src/b.ts\n+z\n*** End Patch' } }, { event: 'before-edit', tool: { name: 'apply_patch', paths: ['src/a.ts', 'src/b.ts'] } }],
  ['codex', 'PreToolUse', { ...BASE, tool_name: 'Bash', tool_input: { command: "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch\nEOF\n" } }, { event: 'before-edit', tool: { name: 'Bash', paths: ['src/a.ts'] } }],
  ['codex', 'PostToolUse', { ...BASE, tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: 'a\nb' }, { event: 'after-tool', tool: { name: 'Bash', paths: [], command: 'ls', response: 'a\nb' } }],
  ['codex', 'PostToolUse', { ...BASE, tool_name: 'Bash', tool_input: { command: 'make' }, tool_response: 'Exit code: 2\nWall time: 1 s\nOutput:\nno' }, { event: 'tool-failed' }],
  ['codex', 'PostToolUse', { ...BASE, tool_name: 'Bash', tool_input: { command: 'make' }, tool_response: 'Exit code: 0\nOutput:\nexit code 1 is bad' }, { event: 'after-tool' }],
  ['codex', 'Stop', { ...BASE, stop_hook_active: false, last_assistant_message: null }, { event: 'stop' }],
  ['codex', 'PermissionRequest', { ...BASE, tool_name: 'Bash' }, { event: 'other' }],
  ['gemini', 'BeforeAgent', { ...BASE, prompt: '<hook_context>ours</hook_context>\nfix it' }, { event: 'prompt', prompt: 'fix it' }],
  ['gemini', 'BeforeTool', { ...BASE, tool_name: 'replace', tool_input: { file_path: '/w/a.ts' } }, { event: 'before-edit' }],
  ['gemini', 'AfterTool', { ...BASE, tool_name: 'run_shell_command', tool_input: { command: 'make' }, tool_response: { llmContent: 'x', error: { message: 'bad' } } }, { event: 'tool-failed' }],
  ['gemini', 'AfterAgent', { ...BASE, prompt: 'p', prompt_response: 'r', stop_hook_active: false }, { event: 'stop', said: 'r' }],
  ['gemini', 'PreCompress', { ...BASE, trigger: 'auto' }, { event: 'other' }],
  ['gemini', 'PreCompress', { ...BASE, trigger: 'manual' }, { event: 'pre-compact' }],
  ['gemini', 'AfterModel', { ...BASE }, { event: 'other' }],
  ['copilot', 'sessionStart', { sessionId: 'c1', timestamp: 1, cwd: '/w', source: 'new', initialPrompt: 'x' }, { event: 'session-start', session: 'c1', source: 'new' }],
  ['copilot', 'userPromptSubmitted', { sessionId: 'c1', cwd: '/w', prompt: 'hello' }, { event: 'prompt', prompt: 'hello' }],
  ['copilot', 'preToolUse', { sessionId: 'c1', cwd: '/w', toolName: 'edit', toolArgs: '{"path":"a.ts"}' }, { event: 'before-edit', tool: { name: 'edit', paths: ['a.ts'] } }],
  ['copilot', 'postToolUse', { sessionId: 'c1', toolName: 'bash', toolArgs: { command: 'make' }, toolResult: { resultType: 'failure', textResultForLlm: 'no' } }, { event: 'tool-failed', tool: { name: 'bash', paths: [], command: 'make', response: 'no', failed: true } }],
  ['copilot', 'PreToolUse', { hook_event_name: 'PreToolUse', session_id: 'c1', tool_name: 'create', tool_input: { path: 'b.ts' } }, { event: 'before-edit', session: 'c1' }],
  ['copilot', 'agentStop', { sessionId: 'c1', transcriptPath: '/t', stopReason: 'end', stop_hook_active: false }, { event: 'stop', transcript: '/t' }],
  ['copilot', 'sessionEnd', { sessionId: 'c1', reason: 'complete' }, { event: 'session-end', reason: 'complete' }],
  ['cursor', 'sessionStart', { conversation_id: 'k1', generation_id: 'g', workspace_roots: ['/w'], cursor_version: '3' }, { event: 'session-start', session: 'k1', cwd: '/w' }],
  ['cursor', 'beforeSubmitPrompt', { conversation_id: 'k1', prompt: 'hi' }, { event: 'prompt', prompt: 'hi' }],
  ['cursor', 'preToolUse', { conversation_id: 'k1', tool_name: 'Write', tool_input: { file_path: '/w/a' } }, { event: 'before-edit' }],
  ['cursor', 'afterFileEdit', { conversation_id: 'k1', file_path: '/w/a.ts', edits: [{ old_string: 'a', new_string: 'b' }] }, { event: 'after-edit', tool: { name: 'afterFileEdit', paths: ['/w/a.ts'] } }],
  ['cursor', 'beforeShellExecution', { conversation_id: 'k1', command: 'ls', cwd: '/w' }, { event: 'before-tool', tool: { name: 'Shell', paths: [], command: 'ls' } }],
  ['cursor', 'preCompact', { conversation_id: 'k1', trigger: 'auto', context_usage_percent: 85, context_window_size: 1 }, { event: 'pre-compact', contextUsed: 85 }],
  ['cursor', 'stop', { conversation_id: 'k1', status: 'completed', loop_count: 1 }, { event: 'stop' }],
  ['opencode', 'session.created', { sessionID: 'ses_1', directory: '/w', pid: 7 }, { event: 'session-start', session: 'ses_1', cwd: '/w', pid: 7 }],
  ['opencode', 'session.created', { sessionID: 'ses_2', parentID: 'ses_1', agent: 'explore', directory: '/w' }, { event: 'session-start', session: 'ses_1/ses_2', parent: 'ses_1', agent: 'explore' }],
  ['opencode', 'tool.execute.before', { sessionID: 'ses_1', tool: 'edit', callID: 'c', args: { filePath: '/w/a.ts' } }, { event: 'before-edit', tool: { name: 'edit', id: 'c', paths: ['/w/a.ts'] } }],
  ['opencode', 'tool.execute.after', { sessionID: 'ses_1', tool: 'bash', args: { command: 'make' }, output: 'no', metadata: { exit: 2 } }, { event: 'tool-failed' }],
  ['opencode', 'session.idle', { sessionID: 'ses_1', tokens: { input: 70, output: 10, cache: { read: 0, write: 0 } }, limit: 100 }, { event: 'stop', contextUsed: 80 }],
] // biome-ignore format: one case a line

test('a client that can be wired has a dialect', () => {
  expect(CLIENTS.map(({ name }) => name)).toEqual(CLIENT_NAMES)
})

describe('what clients send', () => {
  test.each(CASES)('[M4] %s %s %j', (client, event, payload, meant) => {
    expect(dialects[client].read(event, payload as Payload)).toMatchObject({ client, ...meant })
  })

  test('[M4] our own names of events are understood for every client that has them', () => {
    const finer = new Set(['before-edit', 'after-edit', 'tool-failed'])
    for (const client of CLIENT_NAMES)
      for (const event of HOOK_EVENTS) {
        const name = spelling(dialects[client], event)
        const has = Object.values(dialects[client].events).includes(event)
        if (has || finer.has(event)) expect(name, `${client} ${event}`).toBeDefined()
      }
    expect(spelling(dialects.claude, 'constructor')).toBeUndefined()
    expect(spelling(dialects.claude, 'before-edit')).toBe('PreToolUse')
  })
})

const FULL: HookReply = {
  context: 'to know',
  decision: 'deny',
  reason: 'claimed',
  visible: 'seen',
  line: 'L',
}

/** The keys that a client accepts at the top and within `hookSpecificOutput`, by event. */
function accepted(client: ClientName, event: string): { top: string[]; own?: string[] } {
  const means = dialects[client].events[event]!
  const before = means === 'before-tool' ? ['permissionDecision', 'permissionDecisionReason'] : []
  const nested = { own: ['hookEventName', 'additionalContext', ...before] }
  switch (client) {
    case 'claude':
    case 'codex':
      return { top: ['systemMessage', 'hookSpecificOutput'], ...nested }
    case 'gemini':
      return {
        top: ['decision', 'reason', 'systemMessage', 'hookSpecificOutput'],
        own: ['hookEventName', 'additionalContext'],
      }
    case 'copilot':
      return { top: ['additionalContext', 'hookSpecificOutput', ...before], ...nested }
    case 'cursor':
      return {
        top: ['continue', 'permission', 'user_message', 'agent_message', 'additional_context'],
      }
    case 'opencode':
      return { top: ['context', 'permission', 'reason', 'message'] }
  }
}

function checkAnswer(client: ClientName, event: string, printed: string): void {
  const plain = client === 'claude' && (event === 'PreCompact' || event === 'status-line')
  if (plain) return
  if (printed === '') {
    expect(['claude', 'codex'], 'only these take silence').toContain(client)
    return
  }
  expect(printed).not.toContain('\n')
  const value = JSON.parse(printed) as Record<string, unknown>
  const { top, own } = accepted(client, event)
  expect(top).toEqual(expect.arrayContaining(Object.keys(value)))
  if (value.hookSpecificOutput !== undefined) {
    const inner = value.hookSpecificOutput as Record<string, unknown>
    expect(own).toEqual(expect.arrayContaining(Object.keys(inner)))
    expect(inner.hookEventName).toBe(event)
  }
}

describe('what clients are answered', () => {
  const every = CLIENT_NAMES.flatMap((client) => Object.keys(dialects[client].events).map((e) => [client, e] as const))

  test.each(every)('[M4] %s %s: a full answer, and none, have only fields that it accepts', (client, event) => {
    checkAnswer(client, event, dialects[client].print(event, FULL, {}))
    checkAnswer(client, event, dialects[client].print(event, {}, {}))
    checkAnswer(client, event, dialects[client].print(event, { ...FULL, decision: 'warn' }, { sessionId: 'v' }))
  })

  test('[M4] Codex gets no place for context where its schema has none', () => {
    for (const event of [
      'Stop',
      'SubagentStop',
      'PreCompact',
      'PostCompact',
      'SessionEnd',
      'Interrupt',
      'PermissionRequest',
    ])
      expect(dialects.codex.print(event, FULL, {})).not.toContain('hookSpecificOutput')
    expect(dialects.codex.print('SessionEnd', FULL, {})).toBe('')
  })

  test('[M4] a conflicting edit is refused in the words of each client', () => {
    const deny: HookReply = { decision: 'deny', reason: 'claimed by B' }
    expect(JSON.parse(dialects.claude.print('PreToolUse', deny, {}))).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'claimed by B',
      },
    })
    expect(JSON.parse(dialects.gemini.print('BeforeTool', deny, {}))).toEqual({
      decision: 'deny',
      reason: 'claimed by B',
    })
    expect(JSON.parse(dialects.copilot.print('preToolUse', deny, {}))).toEqual({
      permissionDecision: 'deny',
      permissionDecisionReason: 'claimed by B',
    })
    expect(JSON.parse(dialects.cursor.print('preToolUse', deny, {}))).toMatchObject({
      permission: 'deny',
      agent_message: 'claimed by B',
    })
    expect(JSON.parse(dialects.opencode.print('tool.execute.before', deny, {}))).toEqual({
      permission: 'deny',
      reason: 'claimed by B',
    })
  })

  test('[M7] context is cut below what Claude Code and Codex take whole', () => {
    const long = { context: `${'a line of text, and 漢字\n'.repeat(2_000)}` }
    const at = (out: string) =>
      (JSON.parse(out) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput.additionalContext
    expect(at(dialects.claude.print('SessionStart', long, {})).length).toBeLessThanOrEqual(9_000)
    expect(Buffer.byteLength(at(dialects.codex.print('SessionStart', long, {})))).toBeLessThanOrEqual(9_000)
    expect(at(dialects.codex.print('SessionStart', long, {}))).toMatch(/漢字\n\(cut: .*\)$/)
  })
})

/** Keys that payloads have, with anything in them. */
const KEYS = [
  'session_id', 'sessionId', 'sessionID', 'conversation_id', 'agent_id', 'agent_type', 'tool_name', 'toolName', 'tool_input', 'toolArgs',
  'tool_response', 'toolResult', 'tool_calls', 'prompt', 'cwd', 'source', 'trigger', 'stop_hook_active', 'loop_count', 'workspace_roots',
  'context_window', 'context_usage_percent', 'file_path', 'command', 'tool', 'args', 'tokens', 'limit', 'parentID', '__proto__', 'error',
] // biome-ignore format: a list to read at a glance

const payloads = fc.oneof(
  fc.dictionary(
    fc.constantFrom(...KEYS),
    fc.oneof(fc.jsonValue(), fc.constantFrom('Edit', 'Bash', 'apply_patch', 'write_file')),
  ),
  fc.dictionary(fc.string(), fc.jsonValue()),
)
const replies: fc.Arbitrary<HookReply> = fc.record(
  {
    context: fc.string({ unit: 'binary', maxLength: 12_000 }),
    decision: fc.constantFrom('deny', 'ask', 'warn'),
    reason: fc.string({ unit: 'binary' }),
    visible: fc.string({ unit: 'binary' }),
  },
  { requiredKeys: [] },
)

test.each(CLIENT_NAMES)('[M4] %s: any JSON in, a valid answer out', (client) => {
  const dialect = dialects[client]
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(dialect.events)), payloads, replies, (event, payload, reply) => {
      const call = dialect.read(event, payload as Payload)
      expect(HOOK_EVENTS).toContain(call.event)
      expect(typeof call.session).toBe('string')
      expect(call.tool?.paths.every((p) => typeof p === 'string') ?? true).toBe(true)
      if (call.contextUsed !== undefined) expect(Number.isFinite(call.contextUsed)).toBe(true)
      checkAnswer(client, event, dialect.print(event, reply, payload as Payload))
    }),
    { numRuns: 400 },
  )
})
