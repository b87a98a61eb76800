import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { machine } from '../../../test/client-machine.ts'
import { runs } from '../../../test/runs.ts'
import { sha256 } from '../../model/digest.ts'
import { mcpTools } from '../../surfaces/mcp/call.ts'
import { SHARED } from './common/command.ts'
import { sharedHook } from './common/hook-command.ts'
import { readJson } from './common/json.ts'
import { findOnPath, launcherOf, mainWorkTree } from './common/path.ts'
import { READ_TOOLS } from './common/types.ts'
import { CLIENTS } from './index.ts'
import { applyWiring, checkWiring, planUnwiring, planWiring } from './wiring.ts'

const actions = (changes: { action: string }[]) => changes.map((c) => c.action)
const BOTH = ['claude', 'codex']
const ALL = ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'opencode']
const GUARDED = sharedHook

describe('what is wired', () => {
  test('Claude Code gets a committed .mcp.json without any path of this machine, and its approval in the local settings', () => {
    const m = machine()
    const changes = m.wire(['claude'])
    expect(JSON.parse(m.read('project/.mcp.json'))).toEqual({
      mcpServers: { tidemark: { type: 'stdio', ...SHARED, alwaysLoad: true } },
    })
    expect(JSON.parse(m.read('project/.claude/settings.local.json'))).toEqual({
      enabledMcpjsonServers: ['tidemark'],
      statusLine: { type: 'command', command: GUARDED('claude', 'status-line') },
      // the same words as in the settings of the team
      hooks: JSON.parse(m.read('project/.claude/settings.json')).hooks,
    })
    expect(changes.map((c) => c.scope)).toEqual(['committed', 'committed', 'local'])
    expect(m.read('project/.mcp.json')).not.toContain(m.top)
    expect(existsSync(m.path('home/.claude.json'))).toBe(false)
  })

  test('Claude Code gets full paths in its own file for this machine when tidemark is not on the PATH', () => {
    const m = machine({ 'home/.claude.json': '{"numStartups": 3, "projects": {"/other": {}}}' }, false)
    const last = m.wire(['claude']).at(-1)!
    expect(last).toMatchObject({
      scope: 'local',
      file: m.path('home/.claude.json'),
      why: expect.stringContaining('not on the PATH'),
    })
    expect(JSON.parse(m.read('home/.claude.json'))).toEqual({
      numStartups: 3,
      projects: {
        '/other': {},
        [mainWorkTree(m.ctx.root)]: {
          mcpServers: {
            tidemark: { type: 'stdio', command: process.execPath, args: [m.path('lib/tidemark.js'), 'mcp'] },
          },
        },
      },
    })
    expect(m.read('project/.mcp.json')).not.toContain(m.top)
  })

  test('the entry of this machine is kept under the main work tree, where Claude Code looks from folders and worktrees', () => {
    const m = machine()
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: m.ctx.root })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'x')
    git('worktree', 'add', '-q', '../tree')
    mkdirSync(m.path('project/sub'))
    expect(mainWorkTree(m.path('tree'))).toBe(mainWorkTree(m.ctx.root))
    expect(mainWorkTree(m.path('project/sub'))).toBe(mainWorkTree(m.ctx.root))
  })

  test('Codex gets a marked block in the project', () => {
    const m = machine({ 'project/.codex/config.toml': 'model = "x"\n' })
    m.wire(['codex'])
    expect(m.read('project/.codex/config.toml')).toBe(
      `model = "x"\n\n# tidemark: begin\n[mcp_servers.tidemark]\ncommand = "sh"\nargs = ["-c", ${JSON.stringify(SHARED.args[1])}]\n# tidemark: end\n`,
    )
  })

  test('Codex gets full paths in its home instead when tidemark is not on the PATH, for the project would win over it', () => {
    const m = machine({}, false)
    m.wire(['codex'])
    expect(existsSync(m.path('project/.codex'))).toBe(false)
    expect(m.read('home/.codex/config.toml')).toContain(`command = ${JSON.stringify(process.execPath)}`)
    const there = machine(
      { 'project/.codex/config.toml': '[mcp_servers.tidemark]\ncommand = "tidemark"\nargs = ["mcp"]\n' },
      false,
    )
    expect(actions(there.wire(['codex']))).toEqual(['none', 'create'])
  })

  test('the homes that CODEX_HOME and CLAUDE_CONFIG_DIR name are used', () => {
    const m = machine({}, false)
    m.ctx.env = { ...m.ctx.env, CODEX_HOME: m.path('cx'), CLAUDE_CONFIG_DIR: m.path('cc') }
    m.wire(BOTH)
    expect([existsSync(m.path('cx/config.toml')), existsSync(m.path('cc/.claude.json'))]).toEqual([true, true])
    m.unwire()
    expect([existsSync(m.path('cx')), existsSync(m.path('cc'))]).toEqual([false, false])
  })

  test('only clients that are found are wired, unless they are named', () => {
    expect(planWiring(machine().ctx)).toEqual([])
    expect(planWiring(machine({ 'project/CLAUDE.md': '' }).ctx).map((c) => c.client)).toEqual([
      'claude',
      'claude',
      'claude',
    ])
    expect(planWiring(machine({ 'project/AGENTS.md': '' }).ctx).map((c) => c.client)).toEqual(['codex', 'codex'])
    const both = machine({ 'home/.claude.json': '{}', 'home/.codex/x': '' })
    expect(CLIENTS.filter((c) => c.detect(both.ctx).found).map((c) => c.name)).toEqual(BOTH)
  })

  test('a client is found by its command on the PATH, before it ever ran here', () => {
    const m = machine()
    for (const name of ['codex', 'cursor-agent']) writeFileSync(m.path(`bin/${name}`), '#!/bin/sh\n', { mode: 0o755 })
    expect([...new Set(planWiring(m.ctx).map((c) => c.client))]).toEqual(['codex', 'cursor'])
  })

  test('--personal touches no file that the team shares, and uninstall gives every byte back', () => {
    const m = machine({ 'project/.git/HEAD': 'ref: refs/heads/main\n', 'project/.git/info/exclude': '# mine\n' })
    for (const dir of ['objects', 'refs']) mkdirSync(m.path(`project/.git/${dir}`))
    const before = m.tree()
    m.ctx.personal = true
    expect(m.wire(ALL).filter((c) => c.scope === 'committed')).toEqual([])
    expect(readdirSync(m.ctx.root).sort()).toEqual(['.claude', '.git', '.tidemark'])
    expect(readdirSync(m.path('project/.claude'))).toEqual(['settings.local.json'])
    expect(m.read('project/.git/info/exclude')).toBe('# mine\n/.claude/settings.local.json\n')
    expect(checkWiring(m.ctx).filter((f) => /not wired|no hooks|run twice/.test(f.text))).toEqual([])
    expect(actions(m.wire(ALL)).every((a) => a === 'none')).toBe(true)
    m.unwire()
    expect(m.tree()).toEqual(before)
  })

  test('--personal beside what the team has: nothing runs twice', () => {
    const m = machine()
    m.wire(ALL)
    m.ctx.personal = true
    m.wire(ALL)
    expect(checkWiring(m.ctx).filter((f) => /run twice/.test(f.text))).toEqual([])
  })

  test('an unknown client is refused with the nearest', () => {
    expect(() => planWiring(machine().ctx, ['claud'])).toThrow(/did you mean claude/)
    expect(() => planWiring(machine().ctx, ['codx'])).toThrow(/did you mean codex/)
  })

  test.each([true, false])('wiring twice changes nothing the second time (on the PATH: %s)', (onPath) => {
    const m = machine({}, onPath)
    m.wire(ALL)
    const before = m.tree()
    expect(actions(m.wire(ALL)).every((a) => a === 'none')).toBe(true)
    expect(m.tree()).toEqual(before)
  })

  test('planning writes nothing', () => {
    const m = machine({ 'project/.mcp.json': '{}' }, false)
    const before = m.tree()
    planWiring(m.ctx, BOTH)
    planUnwiring(m.ctx)
    expect(m.tree()).toEqual(before)
  })

  test('an entry called tidemark that is not ours is left alone and told of, by wiring and by unwiring', () => {
    const mcp = '{"mcpServers":{"tidemark":{"command":"surf-forecast"}}}'
    const toml = '[mcp_servers.tidemark]\nurl = "https://tide.example"\n'
    const m = machine({
      'project/.mcp.json': mcp,
      'project/.codex/config.toml': toml,
      'project/.claude/settings.local.json': '{"enabledMcpjsonServers":["tidemark"]}',
    })
    const before = m.tree()
    expect(m.wire(BOTH).map((c) => [c.action, /left alone/.test(c.why)])).toEqual([
      ['none', true],
      ['none', true],
      ['create', false],
    ])
    expect(m.unwire().filter((c) => c.action !== 'none')).toMatchObject([{ file: m.path('project/.codex/hooks.json') }])
    expect(m.tree()).toEqual(before)
  })

  test('settings that approve every server are not added to; a server switched off stays off', () => {
    for (const settings of ['{"enableAllProjectMcpServers": true}', '{"disabledMcpjsonServers": ["tidemark"]}']) {
      const m = machine({ 'project/.claude/settings.local.json': settings })
      m.wire(['claude'])
      const { statusLine, hooks: _, ...others } = JSON.parse(m.read('project/.claude/settings.local.json'))
      expect([statusLine.type, others]).toEqual(['command', JSON.parse(settings)])
      m.unwire()
      expect(m.read('project/.claude/settings.local.json')).toBe(settings)
    }
  })

  test('an entry of this machine follows tidemark to where it lies now, and goes when it hides a working command', () => {
    const m = machine({ 'home/.claude.json': '{"a": 1}', 'home/.codex/config.toml': 'a = 1\n' }, false)
    const original = m.tree()
    m.wire(BOTH)
    m.ctx.launcher.script = m.path('lib/elsewhere/tidemark.js')
    expect(actions(m.wire(BOTH))).toEqual(['none', 'edit', 'edit', 'edit', 'edit'])
    expect(m.read('home/.claude.json')).toContain('elsewhere')
    expect(m.read('home/.codex/config.toml').match(/tidemark: begin/g)).toHaveLength(1)
    m.ctx.launcher.onPath = true // the script of before is not there
    m.wire(BOTH)
    expect(m.read('home/.claude.json')).toBe('{"a": 1}')
    expect(m.read('home/.codex/config.toml')).toBe('a = 1\n')
    m.unwire()
    expect(m.tree()).toEqual(original)
  })
})

describe('tools that a client runs without asking', () => {
  test('those that only read are the ones of the server', async () => {
    const tools = await mcpTools()
    expect(tools.filter((tool) => tool.readOnly).map((tool) => tool.name)).toEqual([...READ_TOOLS].sort())
  })

  const rules = (...tools: string[]) => tools.map((tool) => `mcp__tidemark__${tool}`)

  test('Claude Code gets a rule for each; what a person allowed once stays with the next init, and goes with uninstall', () => {
    const own = '{\n  "permissions": { "allow": ["Bash(ls:*)"], "deny": [] }\n}\n'
    const file = 'project/.claude/settings.local.json'
    const m = machine({ [file]: own })
    m.ctx.allow = [...READ_TOOLS, 'act']
    m.wire(['claude'])
    const allow = ['Bash(ls:*)', ...rules(...READ_TOOLS, 'act')]
    expect(JSON.parse(m.read(file)).permissions).toEqual({ allow, deny: [] })
    m.ctx.allow = READ_TOOLS
    expect(actions(m.wire(['claude'])).every((a) => a === 'none')).toBe(true)
    const edited = m.read(file).replace('"Bash(ls:*)"', '"Bash(ls:*)", "Read"')
    m.unwire()
    expect(m.read(file)).toBe(own)
    m.wire(['claude'])
    m.write(file, edited)
    m.unwire()
    expect(JSON.parse(m.read(file))).toEqual({ permissions: { allow: ['Bash(ls:*)', 'Read'], deny: [] } })
  })

  test('a rule that the user wrote stays', () => {
    const own = '{"permissions": {"allow": ["mcp__tidemark__recall"]}}'
    const m = machine({ 'project/.claude/settings.local.json': own })
    m.ctx.allow = READ_TOOLS
    m.wire(['claude'])
    m.unwire()
    expect(m.read('project/.claude/settings.local.json')).toBe(own)
  })

  test('Gemini CLI gets a file of rules in its home; one of that name which is not ours is left alone', () => {
    const file = 'home/.gemini/policies/tidemark.toml'
    const m = machine()
    const before = m.tree()
    m.ctx.allow = READ_TOOLS
    m.wire(['gemini'])
    expect(m.read(file)).toContain('toolName = ["brief","recall","discover","open_questions"]\ndecision = "allow"')
    m.ctx.allow = [...READ_TOOLS, 'act']
    m.wire(['gemini'])
    expect(m.read(file)).toContain('"act"')
    delete m.ctx.allow
    expect(actions(m.wire(['gemini'])).every((a) => a === 'none')).toBe(true)
    m.unwire()
    expect(m.tree()).toEqual(before)
    m.write(file, 'mine')
    m.ctx.allow = READ_TOOLS
    m.wire(['gemini'])
    m.unwire()
    expect(m.read(file)).toBe('mine')
  })
})

describe('what is refused, before anything of the client is touched', () => {
  const refused = (m: ReturnType<typeof machine>, why: RegExp) => {
    const before = m.tree()
    const failed = planWiring(m.ctx, BOTH).filter((c) => c.failed)
    expect(failed.map((c) => c.why)).toEqual([expect.stringMatching(why)])
    expect(m.wire([failed[0]!.client])).toEqual(failed)
    expect(m.tree()).toEqual(before)
    // the other one is wired all the same
    expect(m.wire(BOTH).some((c) => c.action === 'create' && c.client !== failed[0]!.client)).toBe(true)
  }

  test('a file that is not valid JSON or TOML', () => {
    refused(machine({ 'project/.mcp.json': '{ "mcpServers": {} // mine\n}' }), /\.mcp\.json is not valid JSON/)
    refused(machine({ 'project/.codex/config.toml': 'a = "' }), /config\.toml is not valid TOML/)
    refused(machine({ 'project/.claude/settings.local.json': '[]' }), /holds no JSON object/)
    refused(machine({ 'home/.claude.json': '{' }, false), /\.claude\.json is not valid JSON/)
  })

  test('a folder where a file should be, and a file where a folder should be', () => {
    refused(machine({ 'project/.mcp.json/x': '' }), /is a folder/)
    const m = machine({ 'project/.codex': 'x' })
    expect(m.wire(['codex'])).toMatchObject([
      { action: 'none', why: expect.stringContaining('.codex is no directory') },
    ])
  })

  test('text that could not be put back byte for byte', () => {
    const m = machine()
    writeFileSync(m.path('project/.mcp.json'), Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
    refused(m, /not UTF-8/)
  })

  test('a file or a folder that is read-only', () => {
    const m = machine({ 'project/.codex/config.toml': '' })
    chmodSync(m.path('project/.codex/config.toml'), 0o444)
    refused(m, /config\.toml is not writable/)
    const n = machine({ 'project/.codex/x': '' })
    chmodSync(n.path('project/.codex'), 0o555)
    refused(n, /is read-only/)
    chmodSync(n.path('project/.codex'), 0o755)
  })

  test('[T25] a symbolic link in a home that leads out of it, or to nothing', () => {
    const m = machine({ 'elsewhere.json': '{}' }, false)
    symlinkSync('../elsewhere.json', m.path('home/.claude.json'))
    refused(m, /symbolic link out of/)
    const o = machine({}, false)
    symlinkSync('nowhere', o.path('home/.claude.json'))
    refused(o, /to nothing/)
  })

  test('a file that changed between the plan and its carrying out', () => {
    const m = machine()
    const plan = planWiring(m.ctx, ['claude'])
    m.write('project/.mcp.json', '{}')
    expect(() => applyWiring(m.ctx, plan)).toThrow(/changed a moment ago/)
    expect(m.read('project/.mcp.json')).toBe('{}')
  })

  test('a folder of ours in which the journal cannot be written', () => {
    const m = machine({ 'project/.tidemark/local': 'x' })
    const before = m.tree()
    expect(() => m.wire(BOTH)).toThrow(/local is no directory/)
    expect(m.tree()).toEqual(before)
  })

  test('a write that fails half-way takes back those before it, and the note of them', () => {
    const m = machine({ 'project/.mcp.json': '{"a": 1}' })
    const before = m.tree()
    // a name that no file may have
    const file = m.path(`project/new/${'n'.repeat(256)}`)
    const last = { client: 'x', file, scope: 'local', action: 'create', before: null, after: 'x', why: '' } as const
    expect(() => applyWiring(m.ctx, [...planWiring(m.ctx, BOTH), last])).toThrow(/ENAMETOOLONG/)
    expect(m.tree()).toEqual(before)
    expect(existsSync(m.path('project/.tidemark/local'))).toBe(false)
  })

  test('a Codex file with its servers in an inline table, to which TOML allows no addition', () => {
    refused(machine({ 'project/.codex/config.toml': 'mcp_servers = {}\n' }), /inline table/)
  })
})

describe('unwiring', () => {
  test.each([true, false])(
    'from nothing back to nothing: files and folders we made are gone (on the PATH: %s)',
    (onPath) => {
      const m = machine({}, onPath)
      const before = m.tree()
      m.wire(BOTH)
      m.unwire()
      expect(m.tree()).toEqual(before)
      expect(existsSync(m.path('project/.tidemark/local'))).toBe(false)
      expect(planUnwiring(m.ctx)).toEqual([])
    },
  )

  test('a link inside the home stays a link, and a mode stays as it was', () => {
    const m = machine({ 'home/dotfiles/claude.json': '{}' }, false)
    symlinkSync('dotfiles/claude.json', m.path('home/.claude.json'))
    chmodSync(m.path('home/dotfiles/claude.json'), 0o640)
    const before = m.tree()
    m.wire(['claude'])
    expect(lstatSync(m.path('home/.claude.json')).isSymbolicLink()).toBe(true)
    expect(m.read('home/dotfiles/claude.json')).toContain('tidemark')
    expect(statSync(m.path('home/dotfiles/claude.json')).mode & 0o777).toBe(0o640)
    m.unwire()
    expect(m.tree()).toEqual(before)
  })

  test.each([
    ['.mcp.json', 'shared/mcp.json', 'claude'],
    ['.mcp.json', '../elsewhere.json', 'claude'],
    ['.mcp.json', 'nowhere', 'copilot'],
    ['.claude', '../elsewhere', 'claude'],
    ['.claude/settings.local.json', '../../elsewhere.json', 'claude'],
    ['.codex', '../elsewhere', 'codex'],
    ['.gemini/settings.json', '../../elsewhere.json', 'gemini'],
    ['.cursor/hooks.json', '../../elsewhere.json', 'cursor'],
    ['.github/hooks', '../../elsewhere', 'copilot'],
    ['opencode.json', '../elsewhere.json', 'opencode'],
    ['.opencode/plugins/tidemark.js', '../../../elsewhere.json', 'opencode'],
  ])(
    '[T20] a client with a link in the project, %s -> %s, is left alone, and the others are wired',
    (link, to, client) => {
      const m = machine({ 'elsewhere.json': '{}', 'elsewhere/x': '', 'project/shared/mcp.json': '{}' })
      mkdirSync(dirname(m.path(`project/${link}`)), { recursive: true })
      symlinkSync(to, m.path(`project/${link}`))
      const before = m.tree()
      const names = ['codex', 'gemini', client]
      expect(m.wire(names).filter((c) => c.client === client)).toMatchObject([
        { action: 'none', client, why: expect.stringContaining(`${link} is a symbolic link`) },
      ])
      expect(checkWiring(m.ctx).filter((f) => f.id.startsWith(client) && f.state !== 'wrong')).toEqual([])
      m.unwire()
      expect(m.tree()).toEqual(before)
    },
  )

  test('[T25] a journal that came with the project says nothing of the home, and names no file that no client writes', () => {
    const m = machine({ 'home/.bashrc': 'mine\n', 'project/.tidemark/x': '' }, false)
    m.wire(['codex'])
    const [hooks, journal] = ['home/.codex/hooks.json', 'project/.tidemark/local/wiring.json']
    const said = JSON.parse(m.read(journal))
    // a machine that is wired alike says what stands in its files; this says that they were evil before
    const entry = said.files[m.path(hooks)]
    const evil = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "evil"}]}]}}'
    const turned = {
      ...entry,
      original: sha256(evil),
      steps: [{ ...entry.steps[0], splice: { at: 0, removed: evil, inserted: m.read(hooks) } }],
    }
    const others = { original: null, written: sha256('mine\n'), steps: [entry.steps[0]], dirs: [m.path('home/empty')] }
    mkdirSync(m.path('home/empty'))
    m.write(journal, JSON.stringify({ ...said, files: { [m.path(hooks)]: turned, [m.path('home/.bashrc')]: others } }))
    const before = m.tree()
    m.unwire()
    expect(m.tree()).toEqual(before)
  })
  const eol = fc.constantFrom('\n', '\r\n')
  const key = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('env', 'permissions', '日本'))
  const plain = fc.jsonValue({ maxDepth: 3 })
  const json = fc
    .record({
      value: fc.dictionary(key, plain, { maxKeys: 4 }),
      servers: fc.option(fc.dictionary(fc.constantFrom('a', 'ö', 'tide'), fc.constant({ command: 'x', args: [] })), {
        nil: undefined,
      }),
      list: fc.option(fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }), { nil: undefined }),
      projects: fc.option(fc.dictionary(fc.constantFrom('/a', '/b'), fc.constant({ mcpServers: {} })), {
        nil: undefined,
      }),
      hooks: fc.option(
        fc.dictionary(
          fc.constantFrom('SessionStart', 'Stop', 'BeforeAgent', 'sessionStart', 'beforeShellExecution'),
          fc.array(fc.constantFrom({ hooks: [{ type: 'command', command: 'mine' }] }, { command: 'x', bash: 'y' }), {
            maxLength: 2,
          }),
        ),
        { nil: undefined },
      ),
      indent: fc.constantFrom('', ' ', '  ', '    ', '\t'),
      eol,
      tail: fc.constantFrom('', '\n', '\n\n'),
      bom: fc.boolean(),
    })
    .map(({ value, servers, list, projects, hooks, indent, eol, tail, bom }) => {
      const own = { mcpServers: servers, mcp: servers, enabledMcpjsonServers: list, projects, hooks }
      const text = JSON.stringify({ ...value, ...own }, null, indent) + tail
      return (bom ? '\uFEFF' : '') + text.replaceAll('\n', eol)
    })
  // every line break of such a text stands between tokens: there comments may stand, and commas too many
  const jsonc = fc
    .tuple(json, fc.infiniteStream(fc.constantFrom('', '', ' // mine, { "a": 1 }', ' /* , } */')), fc.boolean())
    .map(([text, remarks, commas]) => {
      const listed = commas ? text.replace(/([\w"\]}])(\s*\r?\n\s*[}\]])/g, '$1,$2') : text
      return listed.replace(/\r?\n(?=.)/g, (line) => remarks.next().value + line)
    })
  const toml = fc
    .tuple(
      fc.uniqueArray(fc.constantFrom('model = "x"', '# é', '', '[a]', 'b = 1', '[mcp_servers.o]', 'command = "y"'), {
        maxLength: 6,
      }),
      eol,
      fc.boolean(),
    )
    .map(([lines, eol, ended]) => lines.join(eol) + (ended ? eol : ''))
  const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined })
  const world = fc.record({
    'project/.mcp.json': maybe(json),
    'project/.claude/settings.json': maybe(json),
    'project/.claude/settings.local.json': maybe(json),
    'home/.claude.json': maybe(json),
    'project/.codex/config.toml': maybe(toml),
    'home/.codex/config.toml': maybe(toml),
    'project/.codex/hooks.json': maybe(json),
    'home/.codex/hooks.json': maybe(json),
    'project/.gemini/settings.json': maybe(jsonc),
    'home/.gemini/settings.json': maybe(jsonc),
    'project/.cursor/hooks.json': maybe(jsonc),
    'project/.cursor/mcp.json': maybe(json),
    'project/.github/hooks/tidemark.json': maybe(json),
    'home/.copilot/mcp-config.json': maybe(json),
    'project/opencode.json': maybe(jsonc),
    'home/.config/opencode/opencode.jsonc': maybe(jsonc),
  })
  const build = (files: { [path: string]: string | undefined }, onPath: boolean) =>
    machine(
      Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)) as Record<string, string>,
      onPath,
    )

  test('is not stopped by a file of Codex that is broken and has nothing of ours', () => {
    const m = machine({ 'home/.codex/config.toml': 'a = 1\na = 2\n', 'project/.codex/config.toml': 'a = "' })
    const before = m.tree()
    m.wire(['claude'])
    m.unwire()
    expect(m.tree()).toEqual(before)
    expect(m.wire(['codex'])).toMatchObject([{ failed: true, why: expect.stringContaining('is not valid TOML') }])
  })

  test('is not stopped by a broken file of any client that has nothing of ours', () => {
    const m = machine({
      'home/.config/opencode/opencode.json': '{"a": 1,, }',
      'home/.claude.json': '{',
      'home/.gemini/settings.json': '{"a"',
      'home/.cursor/mcp.json': '[,',
      'home/.copilot/mcp-config.json': '{,}',
    })
    const before = m.tree()
    m.wire(['codex'])
    m.unwire()
    expect(m.tree()).toEqual(before)
  })

  test("restores every file byte for byte, whatever was in it: comments, line ends, marks, the user's own hooks", {
    tags: ['property'],
  }, () => {
    fc.assert(
      fc.property(world, fc.boolean(), (files, onPath) => {
        const m = build(files, onPath)
        const before = m.tree()
        m.wire(ALL)
        expect(m.tree()).not.toEqual(before)
        expect(actions(m.wire(ALL)).every((a) => a === 'none')).toBe(true)
        m.unwire()
        expect(m.tree()).toEqual(before)
      }),
      { numRuns: runs(12, 100) },
    )
  })

  test('after the user went on editing, leaves the edits and no trace of us', {
    tags: ['property'],
  }, () => {
    fc.assert(
      fc.property(world, fc.boolean(), (files, onPath) => {
        const m = build(files, onPath)
        const before = m.tree()
        m.wire(ALL)
        const wired = m.tree()
        const touched = Object.keys(wired).filter(
          (path) => wired[path] !== before[path] && /(json|jsonc|toml)$/.test(path),
        )
        for (const path of touched) {
          const text = m.read(path)
          const brace = text.indexOf('{') + 1
          m.write(
            path,
            path.endsWith('.toml')
              ? `${text}\n[mine]\nmine = 1\n`
              : `${text.slice(0, brace)}"mine": [1],${text.slice(brace)}`,
          )
        }
        m.unwire()
        for (const path of touched) {
          const left = m.read(path)
          expect(left).not.toContain('tidemark')
          if (path.endsWith('.toml')) {
            expect(left).toMatch(/\n\[mine\]\nmine = 1\n$/)
            continue
          }
          // hooks of Cursor and Copilot say the version of their form, opencode its schema
          const fresh = /(hooks\/tidemark|\.cursor\/hooks)\.json$/.test(path)
            ? { version: 1 }
            : /opencode\.jsonc?$/.test(path)
              ? { $schema: 'https://opencode.ai/config.json' }
              : {}
          const was = before[path] ? readJson(files[path as keyof typeof files] ?? '', path, true) : fresh
          expect(readJson(left, path, true)).toEqual({ mine: [1], ...was })
        }
      }),
      { numRuns: runs(12, 100) },
    )
  })

  test('of an edited file every byte that is not ours stays', () => {
    const original = '{\n    "mcpServers" : { "a":{"command":"x"} },\n  "odd":   [1,2 ]\n}'
    const m = machine({ 'project/.mcp.json': original })
    m.wire(['claude'])
    m.write('project/.mcp.json', m.read('project/.mcp.json').replace('[1,2 ]', '[1,2,3 ]'))
    m.unwire()
    expect(m.read('project/.mcp.json')).toBe(original.replace('[1,2 ]', '[1,2,3 ]'))
  })

  test('works after Claude Code rewrote its own file', () => {
    const m = machine({ 'home/.claude.json': '{"projects":{}}' }, false)
    m.wire(['claude'])
    const now = JSON.parse(m.read('home/.claude.json'))
    now.projects[mainWorkTree(m.ctx.root)].hasTrustDialogAccepted = true
    m.write('home/.claude.json', JSON.stringify({ numStartups: 1, ...now }, null, 2))
    m.unwire()
    expect(JSON.parse(m.read('home/.claude.json'))).toEqual({
      numStartups: 1,
      projects: { [mainWorkTree(m.ctx.root)]: { hasTrustDialogAccepted: true } },
    })
  })

  test('in a clone without a journal takes out our entries, and deletes a file that held nothing else', () => {
    const m = machine({ 'project/.mcp.json': '{"mcpServers": {"a": {"command": "x"}}}' })
    m.wire(BOTH)
    rmSync(m.path('project/.tidemark'), { recursive: true })
    m.unwire()
    expect(m.read('project/.mcp.json')).toBe('{"mcpServers": {"a": {"command": "x"}}}')
    expect(existsSync(m.path('project/.codex'))).toBe(false)
    expect(existsSync(m.path('project/.claude'))).toBe(false)
  })

  test('in a clone that was initialised again works as well', () => {
    const m = machine()
    m.wire(BOTH)
    rmSync(m.path('project/.tidemark'), { recursive: true })
    m.wire(BOTH)
    m.unwire()
    expect(readdirSync(m.ctx.root).filter((name) => name !== '.tidemark')).toEqual([])
  })

  test('an entry that the user took out by hand is no hindrance, and an entry made over into another is theirs', () => {
    const m = machine({}, true)
    m.wire(BOTH)
    m.write('project/.mcp.json', '{"mcpServers": {}}')
    m.write('project/.codex/config.toml', '[mcp_servers.tidemark]\ncommand = "mine"\n')
    m.unwire()
    expect(existsSync(m.path('project/.mcp.json'))).toBe(false)
    expect(m.read('project/.codex/config.toml')).toBe('[mcp_servers.tidemark]\ncommand = "mine"\n')
  })

  test('an entry that the user made by hand to start tidemark is used, and stays', () => {
    const m = machine({
      'project/.mcp.json': '{"mcpServers":{"tidemark":{"command":"npx","args":["-y","tidemark","mcp"]}}}',
      'project/.codex/config.toml': '[mcp_servers.tidemark]\ncommand = "tidemark"\nargs = ["mcp"]\n',
    })
    const before = m.tree()
    expect(actions(m.wire(BOTH))).toEqual(['none', 'create', 'create', 'none', 'create'])
    expect(m.unwire().map((c) => [c.action, /not made by tidemark/.test(c.why)])).toEqual([
      ['none', true],
      ['delete', false],
      ['delete', false],
      ['none', true],
      ['delete', false],
    ])
    expect(m.tree()).toEqual(before)
  })

  test('an entry as earlier versions shared it is brought up to date, wherever it came from; one that was changed is left', () => {
    const before = {
      'project/.mcp.json':
        '{"mcpServers":{"tidemark":{"type":"stdio","command":"tidemark","args":["mcp"],"alwaysLoad":true}}}',
      'project/.codex/config.toml':
        'a = 1\n\n# tidemark: begin\n[mcp_servers.tidemark]\ncommand = "tidemark"\nargs = ["mcp"]\n# tidemark: end\n',
      'project/.gemini/settings.json': '{"mcpServers":{"tidemark":{"command":"tidemark","args":["mcp"],"trust":true}}}',
      'project/.cursor/mcp.json':
        '{"mcpServers":{"b":{"command":"b"},"tidemark":{"command":"tidemark","args":["mcp"]}}}',
      'project/opencode.json': '{"mcp":{"tidemark":{"type":"local","command":["tidemark","mcp"],"enabled":true}}}',
    }
    const m = machine(before)
    m.wire(ALL)
    expect(Object.keys(before).filter((file) => !m.read(file).includes(JSON.stringify(SHARED.args[1])))).toEqual([
      'project/.gemini/settings.json',
    ])
    expect(m.wire(ALL).map((c) => c.action)).not.toContain('edit')
    m.unwire()
    expect(m.read('project/.codex/config.toml')).toBe('a = 1\n')
    expect(m.read('project/.cursor/mcp.json')).toBe('{"mcpServers":{"b":{"command":"b"}}}')
    expect(m.read('project/.gemini/settings.json')).toBe(before['project/.gemini/settings.json'])
    expect(existsSync(m.path('project/opencode.json'))).toBe(false)
    // nothing that the team shares is touched for one person alone
    const alone = machine(before)
    alone.ctx.personal = true
    alone.wire(ALL)
    for (const [file, text] of Object.entries(before)) expect([file, alone.read(file)]).toEqual([file, text])
  })

  test('our entry goes even when the user added something to it', () => {
    const m = machine({ 'project/.mcp.json': '{"a": 1}', 'project/.codex/config.toml': 'a = 1\n' })
    m.wire(BOTH)
    m.write('project/.mcp.json', m.read('project/.mcp.json').replace('"alwaysLoad"', '"env": {"K": "v"}, "alwaysLoad"'))
    m.write(
      'project/.codex/config.toml',
      m.read('project/.codex/config.toml').replace('args', 'startup_timeout_sec = 9\nargs'),
    )
    m.unwire()
    expect(m.read('project/.mcp.json')).toBe('{"a": 1}')
    expect(m.read('project/.codex/config.toml')).toBe('a = 1\n')
  })

  test('the entry in the Codex home, which serves every project, goes only with the project that made it', () => {
    const m = machine({}, false)
    const other = { ...m.ctx, root: m.path('other') }
    mkdirSync(other.root)
    m.wire(['codex'])
    applyWiring(other, planWiring(other, ['codex']))
    expect(planUnwiring(other).map((c) => [c.action, /another project/.test(c.why)])).toEqual([
      ['none', true],
      ['none', true],
    ])
    m.unwire()
    expect(existsSync(m.path('home/.codex'))).toBe(false)
  })

  test('a damaged journal costs only the knowledge of what was there before', () => {
    const m = machine({ 'project/.mcp.json': '{"a": 1}' })
    m.wire(['claude'])
    m.write('project/.tidemark/local/wiring.json', '{"files": {".mcp.json": nul')
    m.unwire()
    expect(m.read('project/.mcp.json')).toBe('{"a": 1}')
  })

  test('the journal holds no copy of what Claude Code keeps in the home, and only its owner reads it', () => {
    const m = machine({ 'home/.claude.json': '{"oauthAccount": "secret-value", "projects": {}}' }, false)
    m.wire(['claude'])
    expect(m.read('project/.tidemark/local/wiring.json')).not.toContain('secret-value')
    expect(statSync(m.path('project/.tidemark/local/wiring.json')).mode & 0o777).toBe(0o600)
  })
})

describe('checking', () => {
  const say = (m: ReturnType<typeof machine>) =>
    checkWiring(m.ctx).map((f) => `${f.state === 'wrong' ? 'bad' : 'ok'} ${f.text}${f.fix ? ` => ${f.fix}` : ''}`)
  const trust = (m: ReturnType<typeof machine>) => {
    m.write(
      'home/.claude.json',
      JSON.stringify({ projects: { [mainWorkTree(m.ctx.root)]: { hasTrustDialogAccepted: true } } }),
    )
    m.write('home/.codex/config.toml', `[projects.${JSON.stringify(m.ctx.root)}]\ntrust_level = "trusted"\n`)
  }

  test('says nothing where no client is', () => {
    expect(checkWiring(machine().ctx)).toEqual([])
  })

  test('finds a good installation good', () => {
    const m = machine()
    trust(m)
    m.wire(BOTH)
    m.write(
      'home/.codex/config.toml',
      `${m.read('home/.codex/config.toml')}[hooks.state."${m.path('project/.codex/hooks.json')}:session_start:0:0"]\ntrusted_hash = "sha256:x"\n`,
    )
    expect(checkWiring(m.ctx).filter((f) => f.state === 'wrong')).toEqual([])
  })

  test('says that a client is not wired: no fault where it never was, one where its entry is gone', () => {
    const m = machine({ 'project/CLAUDE.md': '', 'project/AGENTS.md': '' })
    expect(say(m)).toEqual([
      expect.stringMatching(/^ok Claude Code is not wired.*=> run `tidemark init/),
      expect.stringMatching(/^ok Codex is not wired/),
    ])
    m.wire(['claude'])
    rmSync(m.path('project/.mcp.json'))
    expect(say(m)).toEqual([
      expect.stringMatching(/^bad Claude Code is not wired.*=> run `tidemark init/),
      expect.stringMatching(/^ok Codex is not wired/),
    ])
  })

  test('says that folders are not trusted yet, which both clients ask once', () => {
    const m = machine()
    m.wire(BOTH)
    expect(say(m).filter((s) => /^bad .*(does not trust|only in trusted)/.test(s))).toHaveLength(2)
  })

  test('says that a server is not approved, or switched off', () => {
    const m = machine()
    trust(m)
    m.wire(['claude'])
    m.write('project/.claude/settings.local.json', '{}')
    expect(say(m)[1]).toMatch(/^bad .*Pending approval/)
    m.write('home/.claude/settings.json', '{"enabledMcpjsonServers": ["tidemark"]}')
    expect(say(m)[1]).toMatch(/^ok /)
    m.write('project/.claude/settings.local.json', '{"disabledMcpjsonServers": ["tidemark"]}')
    expect(say(m)[1]).toMatch(/^bad .*switched off/)
  })

  test('says that a bare command is not on the PATH, and that a full path leads nowhere any more', () => {
    const m = machine()
    trust(m)
    m.wire(BOTH)
    rmSync(m.path('bin/tidemark'))
    expect(say(m).filter((s) => /^bad .*not on the PATH.*npm install -g/.test(s))).toHaveLength(4)
    const n = machine({}, false)
    n.wire(BOTH)
    expect(checkWiring(n.ctx).filter((f) => f.state === 'wrong' && !f.text.includes('until you have looked'))).toEqual(
      [],
    )
    rmSync(n.path('lib/tidemark.js'))
    expect(say(n).filter((s) => /^bad .*does not exist any more.*tidemark init/.test(s))).toHaveLength(4)
  })

  test('does not advise another init where the file of the team wins over what init wrote for this machine', () => {
    const m = machine({}, false)
    m.wire(['claude', 'copilot'])
    const [said] = say(m).filter((s) => /^bad .*\.mcp\.json: .*not on the PATH/.test(s))
    expect(said).toContain(
      `=> install it with \`npm install -g tidemark\`: ${m.path('home/.copilot/mcp-config.json')} would`,
    )
    expect(said).not.toContain('tidemark init')
  })

  test('judges from where a client is started: below the root Claude Code reads the local settings alone, Gemini CLI nothing', () => {
    const m = machine()
    m.wire(['claude', 'gemini'])
    m.ctx.from = m.path('project/packages/api')
    mkdirSync(m.ctx.from, { recursive: true })
    const of = (client: string) => checkWiring(m.ctx).filter((f) => f.id.startsWith(client))
    expect(of('claude').map((f) => f.text)).toContainEqual(
      expect.stringContaining('no hooks of Tidemark where it is started in packages/api'), // no repository
    )
    execFileSync('git', ['init', '-q', m.ctx.root])
    expect(of('claude').map((f) => f.text)).toContainEqual(
      `Claude Code calls 10 hooks from ${m.path('project/.claude/settings.local.json')}`,
    )
    expect(of('gemini')).toMatchObject([{ state: 'wrong', text: expect.stringContaining('in packages/api') }])
    rmSync(m.path('project/.claude/settings.local.json')) // as in a fresh clone
    expect(of('claude')).toContainEqual(
      expect.objectContaining({ state: 'wrong', fix: expect.stringContaining('tidemark init') }),
    )
    delete m.ctx.from
    expect(of('claude').map((f) => f.text)).toContainEqual(expect.stringContaining('calls 10 hooks'))
  })

  test('says that a file is broken, and goes on with the next client', () => {
    const m = machine({ 'project/.mcp.json': '{', 'project/AGENTS.md': '' })
    expect(say(m)).toEqual([expect.stringMatching(/not valid JSON/), expect.stringMatching(/Codex is not wired/)])
  })
})

describe('finding a command', () => {
  test('takes the first executable file on the PATH, and no folder or plain file', () => {
    const m = machine({ 'a/tidemark/x': '', 'b/tidemark': '' })
    const PATH = ['a', 'b', 'bin'].map(m.path).join(':')
    expect(findOnPath('tidemark', { PATH })).toBe(m.path('bin/tidemark'))
    expect(findOnPath('nope', { PATH })).toBeUndefined()
    expect(findOnPath('tidemark', {})).toBeUndefined()
  })

  test('a launcher that npx put on the PATH of its child does not count as installed', () => {
    const m = machine({ 'x/node_modules/.bin/tidemark': '' })
    chmodSync(m.path('x/node_modules/.bin/tidemark'), 0o755)
    expect(launcherOf('/s.js', { PATH: m.path('x/node_modules/.bin') }).onPath).toBe(false)
    expect(launcherOf('/s.js', { PATH: m.path('bin') })).toMatchObject({
      onPath: true,
      node: process.execPath,
      script: '/s.js',
    })
  })
})
