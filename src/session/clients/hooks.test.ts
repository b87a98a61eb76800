import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { machine } from '../../../test/client-machine.ts'
import { sha256 } from '../../model/digest.ts'
import { hookIn, isLocalHook, localHook, sharedHook } from './common/hook-command.ts'
import { spliceOf } from './common/journal.ts'
import { insertJson, readJson } from './common/json.ts'
import { eventsOf } from './index.ts'
import { checkWiring } from './wiring.ts'

const CLAUDE = 'project/.claude/settings.json'
const say = (m: ReturnType<typeof machine>) =>
  checkWiring(m.ctx).map((f) => `${f.state === 'wrong' ? 'bad' : 'ok'} ${f.text}`)

/** What 0.1.0 made of a settings file, and its note of it. */
function approvalOf(own: string) {
  const { text, undo } = insertJson(own, ['enabledMcpjsonServers'], { item: 'tidemark' }, '')
  return { text: { text, hash: sha256(text) }, undo, splice: spliceOf(own, text) }
}

describe('the command of a hook', () => {
  test('is known again in every form, and of which client and event it is', () => {
    const m = machine()
    for (const script of ['/opt/tidemark/bin/tidemark.js', "/o'dd dir/tidemark.js", '/usr/bin/tidemark']) {
      m.ctx.launcher = { onPath: false, node: '/a b/node', script }
      const words = localHook(m.ctx, 'codex', 'Stop')
      expect(hookIn(words)).toEqual({ client: 'codex', event: 'Stop' })
      expect(isLocalHook(words)).toBe(!script.includes("'"))
    }
    expect(hookIn(sharedHook('claude', 'status-line'))).toEqual({ client: 'claude', event: 'status-line' })
    expect(hookIn('echo tidemark hooked')).toBeUndefined()
  })

  test('[M4] of the team: where tidemark is not installed it is silent and no failure; where it is, it becomes it', () => {
    const m = machine()
    const run = (PATH: string) =>
      spawnSync('/bin/sh', ['-c', sharedHook('claude', 'Stop')], { env: { PATH }, encoding: 'utf8' })
    expect(sharedHook('codex', 'Stop')).toBe(
      'if command -v tidemark >/dev/null; then exec tidemark hook codex Stop; fi',
    )
    expect(run(m.path('nothing'))).toMatchObject({ status: 0, stdout: '', stderr: '' })
    writeFileSync(m.path('bin/tidemark'), '#!/bin/sh\necho "$@"; cat; exit 3\n')
    expect(run(m.path('bin') + ':/usr/bin:/bin')).toMatchObject({ status: 3, stdout: 'hook claude Stop\n' })
  })
})

test('hooks of Claude Code stay silent in Copilot CLI, which runs them beside its own', () => {
  const m = machine()
  writeFileSync(m.path('bin/tidemark'), '#!/bin/sh\necho "$@"\n')
  m.ctx.launcher = { onPath: false, node: '/bin/echo', script: '/x/tidemark.js' }
  for (const command of [sharedHook('claude', 'Stop'), localHook(m.ctx, 'claude', 'Stop')]) {
    const run = (env: Record<string, string>) =>
      spawnSync('/bin/sh', ['-c', command], { env: { PATH: m.path('bin'), ...env }, encoding: 'utf8' })
    expect(run({}).stdout).toContain('hook claude Stop')
    expect(run({ COPILOT_CLI: '1' })).toMatchObject({ status: 0, stdout: '', stderr: '' })
  }
  for (const command of [sharedHook('copilot', 'agentStop'), localHook(m.ctx, 'copilot', 'agentStop')])
    expect(
      spawnSync('/bin/sh', ['-c', command], { env: { PATH: m.path('bin'), COPILOT_CLI: '1' }, encoding: 'utf8' })
        .stdout,
    ).toContain('hook copilot agentStop')
})

describe('hooks', () => {
  test('of every client stand in its own form, and those of the team without a path of this machine', () => {
    const m = machine()
    m.wire(['claude', 'codex', 'gemini', 'copilot', 'cursor', 'opencode'])
    const json = (path: string) =>
      readJson(m.read(path), path) as { hooks: Record<string, unknown[]>; version?: number }
    for (const [client, path] of [
      ['claude', CLAUDE],
      ['codex', 'project/.codex/hooks.json'],
      ['gemini', 'project/.gemini/settings.json'],
      ['copilot', 'project/.github/hooks/tidemark.json'],
      ['cursor', 'project/.cursor/hooks.json'],
    ] as const) {
      expect(Object.keys(json(path).hooks)).toEqual(eventsOf(client).map((e) => e.event))
      expect(m.read(path)).not.toContain(m.top)
    }
    const command = (client: 'claude' | 'codex' | 'gemini' | 'copilot' | 'cursor', event: string) =>
      sharedHook(client, event)
    expect(json(CLAUDE).hooks.SessionStart).toEqual([
      { hooks: [{ type: 'command', command: command('claude', 'SessionStart'), timeout: 10 }] },
    ])
    expect(json(CLAUDE).hooks.PreToolUse).toEqual([
      {
        matcher: '^(Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__(plugin_tidemark_)?tidemark__.*)$',
        hooks: [{ type: 'command', command: command('claude', 'PreToolUse'), timeout: 5 }],
      },
    ])
    expect(json('project/.gemini/settings.json').hooks.BeforeAgent).toEqual([
      { hooks: [{ name: 'tidemark', type: 'command', command: command('gemini', 'BeforeAgent'), timeout: 5000 }] },
    ])
    expect(json('project/.github/hooks/tidemark.json')).toMatchObject({
      version: 1,
      hooks: { agentStop: [{ type: 'command', bash: command('copilot', 'agentStop'), timeoutSec: 10 }] },
    })
    expect(json('project/.cursor/hooks.json')).toMatchObject({
      version: 1,
      hooks: { stop: [{ command: command('cursor', 'stop'), timeout: 10 }] },
    })
  })

  test('stand in files of this machine, with full paths, where tidemark is not on the PATH', () => {
    const m = machine({}, false)
    m.wire(['claude', 'codex', 'gemini', 'copilot', 'cursor', 'opencode'])
    for (const path of [
      'project/.claude/settings.local.json',
      'home/.codex/hooks.json',
      'home/.gemini/settings.json',
      'home/.copilot/hooks/tidemark.json',
      'home/.cursor/hooks.json',
      'home/.config/opencode/plugins/tidemark.js',
    ])
      expect(m.read(path)).toContain(m.path('lib/tidemark.js'))
    expect(Object.keys(m.tree()).filter((p) => /project\/\.(codex|gemini|cursor|github|opencode)/.test(p))).toEqual([])
  })

  test("go where the project's own ones are when tidemark came onto the PATH", () => {
    const m = machine({}, false)
    const before = m.tree()
    m.wire(['claude', 'codex', 'gemini'])
    writeFileSync(m.path('bin/tidemark'), '#!/bin/sh\n', { mode: 0o755 })
    m.ctx.launcher.onPath = true
    m.wire(['claude', 'codex', 'gemini'])
    expect(m.read('project/.claude/settings.local.json')).not.toContain('lib/tidemark.js')
    expect(m.read(CLAUDE)).toContain('SessionStart')
    expect(Object.keys(m.tree())).not.toContain('home/.codex/hooks.json')
    expect(say(m).filter((line) => /twice/.test(line))).toEqual([])
    m.unwire()
    rmSync(m.path('bin/tidemark'))
    expect(m.tree()).toEqual(before)
  })

  const OWN =
    '{\r\n\t"hooks": {\r\n\t\t"Stop": [ {"hooks": [{"type":"command","command":"say done"}]} ],\r\n\t\t"PreToolUse": []\r\n\t}\r\n}'

  test("the user's own stay, before and behind ours and within our group, and what they added since stays too", () => {
    const m = machine({ [CLAUDE]: OWN })
    m.wire(['claude'])
    const wired = readJson(m.read(CLAUDE), '') as { hooks: Record<string, { hooks: { command: string }[] }[]> }
    expect(wired.hooks.Stop!.map((g) => g.hooks[0]!.command)).toEqual(['say done', sharedHook('claude', 'Stop')])
    wired.hooks.Stop!.push({ hooks: [{ command: 'later' }] })
    wired.hooks.SessionStart![0]!.hooks.unshift({ command: 'first' })
    m.write(CLAUDE, JSON.stringify(wired, null, 2))
    m.unwire()
    expect(readJson(m.read(CLAUDE), '')).toEqual({
      hooks: {
        Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }, { hooks: [{ command: 'later' }] }],
        PreToolUse: [],
        SessionStart: [{ hooks: [{ command: 'first' }] }],
      },
    })
  })

  test('comments beside ours stay where they stand, when the file was edited between', () => {
    const path = 'project/.gemini/settings.json'
    const own =
      '{\n  // the theme\n  "theme": "dark", // mine\n  "hooks": {\n    "AfterAgent": [], // none yet\n  } // end\n}\n'
    const m = machine({ [path]: own })
    m.wire(['gemini'])
    expect(m.read(path)).toContain('"theme": "dark", // mine\n')
    expect(m.read(path)).toContain('}, // end\n')
    m.write(path, m.read(path).replace('"dark"', '"light"'))
    m.unwire()
    expect(m.read(path)).toBe(own.replace('"dark"', '"light"'))
  })

  test('changed by hand are left so, and taken out in the end', () => {
    const m = machine()
    m.wire(['claude'])
    m.write(CLAUDE, m.read(CLAUDE).replace('"timeout": 10', '"timeout": 30'))
    const changed = m.read(CLAUDE)
    expect(m.wire(['claude']).every((c) => c.action === 'none')).toBe(true)
    expect(m.read(CLAUDE)).toBe(changed)
    m.unwire()
    expect(Object.keys(m.tree())).not.toContain(CLAUDE)
  })

  test('that an earlier version did not have are added, and uninstall still gives the first bytes back', () => {
    const own = '{"a": 1}\n'
    const m = machine({ [CLAUDE]: own })
    m.wire(['claude'])
    for (const file of [CLAUDE, 'project/.claude/settings.local.json']) {
      const without = readJson(m.read(file), '') as { hooks: Record<string, unknown> }
      delete without.hooks.SubagentStop
      m.write(file, `${JSON.stringify(without, null, 2)}\n`)
    }
    expect(say(m)).toContainEqual(expect.stringMatching(/^bad .*another version.*without SubagentStop/))
    m.wire(['claude'])
    expect(m.read(CLAUDE)).toContain('SubagentStop')
    m.unwire()
    expect(readJson(m.read(CLAUDE), '')).toEqual({ a: 1 })
  })

  test('a file that was wired before there were hooks, by the journal of 0.1.0, comes back byte for byte', () => {
    const path = 'project/.claude/settings.local.json'
    const own = '{"permissions": {"allow": []}}'
    const m = machine({ [path]: own })
    m.wire(['claude'])
    const journal = JSON.parse(m.read('project/.tidemark/local/wiring.json'))
    const entry = journal.files['.claude/settings.local.json']
    // what 0.1.0 wrote: the approval alone, in one step without a name
    const { text, undo, splice } = approvalOf(own)
    journal.files = {
      '.claude/settings.local.json': { original: entry.original, written: text.hash, undo, splice, dirs: [] },
    }
    m.write(path, text.text)
    m.write('project/.tidemark/local/wiring.json', JSON.stringify(journal))
    m.wire(['claude'])
    expect(m.read(path)).toContain('status-line')
    m.unwire()
    expect(m.read(path)).toBe(own)
  })
})

describe('the status line', () => {
  test("is the user's where they have one, wherever that stands, and ours goes when they get one", () => {
    for (const path of ['home/.claude/settings.json', CLAUDE, 'project/.claude/settings.local.json']) {
      const m = machine({ [path]: '{"statusLine": {"type": "command", "command": "mine"}}' })
      const changes = m.wire(['claude'])
      expect(m.read('project/.claude/settings.local.json')).not.toContain('status-line')
      expect(changes.some((c) => c.why.includes('is yours and stays'))).toBe(true)
      expect(say(m)).toContainEqual(expect.stringMatching(/^ok .*status line in .* is your own/))
    }
    const m = machine()
    m.wire(['claude'])
    expect(m.read('project/.claude/settings.local.json')).toContain('status-line')
    m.write('home/.claude/settings.json', '{"statusLine": {"type": "command", "command": "mine"}}')
    m.wire(['claude'])
    expect(m.read('project/.claude/settings.local.json')).not.toContain('status-line')
  })
})

describe('with the plugin', () => {
  const PLUGINS = {
    claude: ['home/.claude/settings.json', '{"enabledPlugins": {"tidemark@tidemark": true}}'],
    codex: ['home/.codex/config.toml', '[plugins."tidemark@tidemark"]\nenabled = true\n'],
    gemini: ['home/.gemini/extensions/tidemark/gemini-extension.json', '{"name": "tidemark"}'],
  } as const

  test.each(Object.entries(PLUGINS))(
    '%s gets nothing by hand, and what this machine wired goes',
    (client, [path, text]) => {
      for (const onPath of [true, false]) {
        const m = machine({}, onPath)
        const before = m.tree()
        m.write(path, text)
        const withPlugin = m.tree()
        expect(m.wire([client])).toMatchObject([{ action: 'none', why: expect.stringContaining('brings the server') }])
        expect(m.tree()).toEqual(withPlugin)
        rmSync(m.path(path))
        m.wire([client])
        expect(m.tree()).not.toEqual(before)
        m.write(path, text)
        expect(say(m)).toContainEqual(expect.stringMatching(/^bad .* both there/))
        m.wire([client])
        expect(Object.entries(m.tree()).filter(([p, t]) => p !== path && t.includes('hook ' + client))).toEqual([])
        expect(say(m).filter((line) => /both there/.test(line))).toEqual([])
      }
    },
  )

  test("what came with the project is the team's and stays", () => {
    const m = machine()
    m.wire(['claude'])
    rmSync(m.path('project/.tidemark'), { recursive: true })
    rmSync(m.path('project/.claude/settings.local.json'))
    const before = m.tree()
    m.write(PLUGINS.claude[0], PLUGINS.claude[1])
    expect(m.wire(['claude']).map((c) => c.action)).toEqual(['none', 'none', 'none'])
    rmSync(m.path('home/.claude'), { recursive: true })
    expect(m.tree()).toEqual(before)
  })

  test('one that is switched off nearer by does not count', () => {
    const m = machine({
      [PLUGINS.claude[0]]: PLUGINS.claude[1],
      [CLAUDE]: '{"enabledPlugins": {"tidemark@tidemark": false}}',
    })
    expect(m.wire(['claude'])[0]!.action).toBe('create')
  })
})
