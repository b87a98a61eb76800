// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { outputs, responses } from './fakes/responses.ts'
import { machine, withClients } from './machine.ts'
import { gemini, opencode } from './others.ts'

withClients(
  ['claude'],
  '[X6] [E2] Claude Code: an edit of what another session has claimed is refused, by the shell too, saying whose it is',
  async () => {
    const m = machine(['claude'])
    m.tidemark('session', 'start', 'reviewer-1', '--role', 'reviewer')
    m.tidemark('claim', 'src/**', '--note', 'renaming the answer', '--session', 'reviewer-1')
    const file = m.path('src/app.ts')
    const edit = { call: 'Edit', input: { file_path: file, old_string: '41', new_string: '42' } }
    const model = await anthropic()
    const run = (command: string) => ({ call: 'Bash', input: { command, description: 'the same by the shell' } })
    model.next(
      { call: 'Read', input: { file_path: file } },
      edit,
      run('sed -i s/41/42/ src/app.ts'),
      run('rm src/app.ts'),
    )
    await claude(m, model, 'make it 42')
    const tried = results(model.turns.at(-1)!).slice(-3)
    for (const refused of tried) {
      expect(refused.error).toBe(true)
      expect(refused.text).toContain('src/app.ts is claimed by reviewer-1 (cli, ')
      expect(refused.text).toContain('renaming the answer')
    }
    expect(m.read('src/app.ts')).toBe('export const answer = 41\n')

    m.tidemark('release', '--session', 'reviewer-1')
    model.next({ call: 'Read', input: { file_path: file } }, edit)
    await claude(m, model, 'now make it 42')
    expect(m.read('src/app.ts')).toBe('export const answer = 42\n')
  },
)

withClients(
  ['claude', 'codex'],
  '[X6] what an agent in Codex holds, one in Claude Code cannot edit while it lives, and then can',
  async () => {
    const m = machine(['claude', 'codex'])
    const file = m.path('src/app.ts')
    const edit = { call: 'Edit', input: { file_path: file, old_string: '41', new_string: '42' } }
    const [inCodex, inClaude] = [await responses(), await anthropic()]
    codexAsks(m, inCodex)
    const claimed = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<void>()
    inCodex.next(
      { call: 'mcp__tidemark.act', input: { actions: [['claim', { paths: ['src/app.ts'], note: 'mine for now' }]] } },
      {
        say: 'I hold it',
        get after() {
          claimed.resolve()
          return refused.promise
        },
      },
    )
    const holding = codex(m, 'claim the file')
    await claimed.promise
    inClaude.next({ call: 'Read', input: { file_path: file } }, edit)
    const ran = await claude(m, inClaude, 'make it 42')
    refused.resolve()
    await holding
    const told = results(inClaude.turns.at(-1)!).at(-1)!
    expect(told.error).toBe(true)
    expect(told.text).toContain('claimed by Codex "claim the file" (')
    expect(m.read('src/app.ts')).toBe('export const answer = 41\n')

    inClaude.next(edit)
    await claude(m, inClaude, 'again', ['--resume', ran.session])
    expect(m.read('src/app.ts')).toBe('export const answer = 42\n')
  },
)

withClients(
  ['codex'],
  '[X6] Codex: a patch of what another session has claimed is refused, by its tool and by its shell',
  async () => {
    const m = machine(['codex'])
    m.tidemark('session', 'start', 'reviewer-1', '--role', 'reviewer')
    m.tidemark('claim', 'src/**', '--note', 'renaming the answer', '--session', 'reviewer-1')
    const input = `*** Begin Patch
*** Update File: src/app.ts
@@
-export const answer = 41
+export const answer = 42
*** End Patch
`
    const byTool = { call: 'apply_patch', input: { input } }
    const byShell = { call: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${input}EOF\n` } }
    const model = await responses()
    codexAsks(m, model)
    model.next(byTool, byShell)
    await codex(m, 'make it 42', ['-c', 'model="gpt-5.5"'])
    const refused = outputs(model.turns.at(-1)!)
    expect(refused).toHaveLength(2)
    for (const text of refused) expect(text).toContain('src/app.ts is claimed by reviewer-1 (cli, ')
    expect(m.read('src/app.ts')).toBe('export const answer = 41\n')

    m.tidemark('release', '--session', 'reviewer-1')
    model.next(byTool)
    const { thread } = await codex(m, 'now make it 42', ['-c', 'model="gpt-5.5"'])
    expect(m.read('src/app.ts')).toBe('export const answer = 42\n')
    expect(m.sessions().find((s) => s.id === thread)?.files).toEqual(['src/app.ts'])

    const back = input.replace('-export const answer = 41\n+export const answer = 42', '-answer = 42\n+answer = 41')
    const failing = { call: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${back.replace('42', '43')}EOF\n` } }
    const added = '*** Begin Patch\n*** Add File: b.ts\n+export const b = 1\n*** End Patch\n'
    model.next(failing, { call: 'exec_command', input: { cmd: `cd src && apply_patch <<'EOF'\n${added}EOF\n` } })
    const byItsShell = await codex(m, 'add b', ['-c', 'model="gpt-5.5"'])
    expect(m.read('src/b.ts')).toBe('export const b = 1\n')
    expect(m.sessions().find((s) => s.id === byItsShell.thread)?.files).toEqual(['src/b.ts'])
  },
)

for (const [name, other, shell, edit] of [
  [
    'gemini',
    gemini,
    'run_shell_command',
    { call: 'replace', file: 'file_path', old: 'old_string', text: 'new_string' },
  ],
  ['opencode', opencode, 'bash', { call: 'edit', file: 'filePath', old: 'oldString', text: 'newString' }],
] as const)
  withClients(
    [name],
    `[X6] [E3] ${name}: an edit and a shell command that write what another session has claimed are refused; what it only edits, once`,
    async () => {
      const m = machine([name])
      const file = m.path('src/app.ts')
      m.tidemark('session', 'start', 'reviewer-1', '--role', 'reviewer')
      m.tidemark('claim', 'src/**', '--note', 'renaming the answer', '--session', 'reviewer-1')
      const sed = { call: shell, input: { command: 'sed -i s/41/42/ src/app.ts', description: 'by the shell' } }
      const byTool = {
        call: edit.call,
        input: { [edit.file]: file, [edit.old]: '41', [edit.text]: '42', instruction: 'make it 42' },
      }
      const model = await other.model()
      model.next(sed, byTool)
      await other.ask(m, model, 'make it 42')
      const { text } = model.turns.at(-1)!
      expect(text.split('src/app.ts is claimed by reviewer-1 (cli, ').length - 1).toBeGreaterThanOrEqual(2)
      expect(m.read('src/app.ts')).toBe('export const answer = 41\n')

      m.tidemark('release', '--session', 'reviewer-1')
      const edited = ['claim', { paths: ['src/app.ts'], implicit: true, root: m.root }]
      m.tidemark('act', JSON.stringify([edited]), '--session', 'reviewer-1')
      model.next(sed, sed)
      await other.ask(m, model, 'make it 42 now')
      expect(model.turns.at(-1)!.text).toContain('This is said once, and the same call passes then')
      expect(m.read('src/app.ts')).toBe('export const answer = 42\n')
    },
  )
