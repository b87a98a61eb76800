// @module-tag long
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { describeUnless, testUnless } from '../../../test/needs.ts'
import { GUARDED, SERVE } from './common/command.ts'
import { mainWorkTree } from './common/path.ts'
import type { ClientContext } from './common/types.ts'
import { applyUnwiring, applyWiring, checkWiring, planUnwiring, planWiring } from './wiring.ts'

/**
 * The clients themselves, when they are here: they are heavy (780 MB), so a run that wants them says where they are, after
 * `npm i --prefix DIR @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169`:
 * `TIDEMARK_REAL_CLIENTS=DIR vitest run src/session/clients/real-clients.test.ts`. No login, no model, no network.
 */
const CLIENTS_AT = process.env.TIDEMARK_REAL_CLIENTS

const SERVER = `
import { McpServer } from '${import.meta.resolve('@modelcontextprotocol/server')}'
import { serveStdio } from '${import.meta.resolve('@modelcontextprotocol/server/stdio')}'
if (process.argv[2] !== 'mcp') process.exit(2)
serveStdio(() => {
  const server = new McpServer({ name: 'tidemark', version: '0.0.0' }, {})
  server.registerTool('ping', { description: 'ping' }, async () => ({ content: [{ type: 'text', text: 'pong' }] }))
  return server
})
`

const REPOSITORY = join(import.meta.dirname, '../../..')

let top = ''
afterEach(() => rmSync(top, { recursive: true, force: true }))

function machine(onPath: boolean) {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-real-')))
  const [root, home, bin, lib] = ['project', 'home', 'bin', 'lib'].map((name) => join(top, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const dir of [join(root, 'sub'), join(home, '.codex'), bin, lib]) mkdirSync(dir, { recursive: true })
  const script = join(lib, 'tidemark.mjs')
  writeFileSync(script, `#!${process.execPath}\n${SERVER}`, { mode: 0o755 })
  if (onPath) symlinkSync(script, join(bin, 'tidemark'))
  execFileSync('git', ['init', '-q', root])
  const env = {
    HOME: home,
    PATH: [bin, '/usr/bin', '/bin'].join(':'),
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }
  const ctx: ClientContext = { root, home, env, launcher: { onPath, node: process.execPath, script } }
  const run = (file: string, args: string[], cwd = root) =>
    execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 })
  const claude = (args: string[], cwd = root) =>
    run(join(CLIENTS_AT!, 'node_modules/@anthropic-ai/claude-code/bin/claude.exe'), args, cwd)
  const codex = (args: string[], cwd = root) =>
    run(process.execPath, [join(CLIENTS_AT!, 'node_modules/@openai/codex/bin/codex.js'), ...args], cwd)
  const wire = () => applyWiring(ctx, planWiring(ctx, ['claude', 'codex']))
  const unwire = () => applyUnwiring(ctx, planUnwiring(ctx))
  const trustClaude = () => {
    const file = join(home, '.claude.json')
    const settings = JSON.parse(readFileSync(file, 'utf8'))
    settings.projects[mainWorkTree(root)].hasTrustDialogAccepted = true
    writeFileSync(file, JSON.stringify(settings, null, 2))
  }
  const trustCodex = () =>
    writeFileSync(join(home, '.codex/config.toml'), `[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`)
  const status = (cwd = root) => /^tidemark: .*$/m.exec(claude(['mcp', 'list'], cwd))?.[0]
  return { ctx, root, home, script, run, claude, codex, wire, unwire, trustClaude, trustCodex, status }
}

describeUnless(!CLIENTS_AT && 'TIDEMARK_REAL_CLIENTS names no directory with the clients')(
  'the clients themselves',
  () => {
    test('Claude Code connects by .mcp.json once it trusts the folder, and doctor said what was missing', () => {
      const m = machine(true)
      m.claude(['mcp', 'add', 'other', '--', '/bin/true']) // the folder is known to it from now on
      m.wire()
      expect(m.status()).toBe(`tidemark: sh -c ${SERVE} - ⏸ Pending approval (run \`claude\` to approve)`)
      expect(checkWiring(m.ctx).find((f) => f.state === 'wrong')?.text).toContain('does not trust this folder yet')
      m.trustClaude()
      expect(m.status()).toBe(`tidemark: sh -c ${SERVE} - ✔ Connected`)
      expect(m.status(join(m.root, 'sub'))).toBe(`tidemark: sh -c ${SERVE} - ✔ Connected`)
      expect(
        checkWiring(m.ctx)
          .filter((f) => f.id.startsWith('claude'))
          .every((f) => f.state !== 'wrong'),
      ).toBe(true)
      m.unwire()
      expect(m.status()).toBeUndefined()
    })

    test('Claude Code connects by the entry of this machine when tidemark is not on the PATH, trusted or not', () => {
      const m = machine(false)
      m.wire()
      expect(m.status()).toBe(`tidemark: ${process.execPath} ${m.script} mcp - ✔ Connected`)
      expect(m.status(join(m.root, 'sub'))).toBe(`tidemark: ${process.execPath} ${m.script} mcp - ✔ Connected`)
      expect(m.claude(['mcp', 'get', 'tidemark'])).toContain('Scope: Local config')
      m.unwire()
      expect(m.status()).toBeUndefined()
      expect(readFileSync(join(m.home, '.claude.json'), 'utf8')).not.toContain('"tidemark"')
    })

    test('Codex lists the server from the project once it trusts it, and again none after unwiring', () => {
      const m = machine(true)
      m.wire()
      expect(m.codex(['mcp', 'list'])).toContain('No MCP servers configured yet')
      expect(checkWiring(m.ctx).find((f) => f.id.startsWith('codex') && f.state === 'wrong')?.text).toContain(
        'only in trusted projects',
      )
      m.trustCodex()
      const entry = JSON.parse(m.codex(['mcp', 'get', 'tidemark', '--json']))
      expect(entry).toMatchObject({ enabled: true, transport: { type: 'stdio', ...GUARDED } })
      expect(m.codex(['mcp', 'list'], join(m.root, 'sub'))).toMatch(/^tidemark +sh +-c .* enabled/m)
      expect(
        checkWiring(m.ctx)
          .filter((f) => f.id.startsWith('codex') && f.state === 'wrong')
          .map((f) => f.text),
      ).toEqual([expect.stringContaining('does not run the hooks until you have looked')])
      m.unwire()
      expect(m.codex(['mcp', 'list'])).toContain('No MCP servers configured yet')
    })

    test('Codex lists the server with full paths when tidemark is not on the PATH, also after it rewrote its file', () => {
      const m = machine(false)
      m.trustCodex()
      const before = readFileSync(join(m.home, '.codex/config.toml'), 'utf8')
      m.wire()
      const entry = JSON.parse(m.codex(['mcp', 'get', 'tidemark', '--json']))
      expect(entry.transport).toMatchObject({ command: process.execPath, args: [m.script, 'mcp'] })
      m.codex(['mcp', 'add', 'other', '--', '/bin/true'])
      m.codex(['mcp', 'remove', 'other'])
      m.unwire()
      expect(readFileSync(join(m.home, '.codex/config.toml'), 'utf8').trimEnd()).toBe(before.trimEnd())
    })

    test('Claude Code finds the plugin good, installs it, and starts its server; then init wires nothing by hand', () => {
      const m = machine(true)
      expect(m.claude(['plugin', 'validate', join(REPOSITORY, 'plugin'), '--strict'])).toContain('Validation passed')
      m.claude(['plugin', 'marketplace', 'add', REPOSITORY])
      m.claude(['plugin', 'install', 'tidemark@tidemark'])
      const listed = JSON.parse(m.claude(['plugin', 'list', '--json']))
      expect(listed).toMatchObject([{ id: 'tidemark@tidemark', enabled: true }])
      expect(m.claude(['mcp', 'list'])).toContain(`plugin:tidemark:tidemark: sh -c ${SERVE} - ✔ Connected`)
      expect(planWiring(m.ctx, ['claude'])).toMatchObject([
        { action: 'none', why: expect.stringContaining('installed') },
      ])
      m.claude(['plugin', 'disable', 'tidemark@tidemark'])
      expect(planWiring(m.ctx, ['claude'])[0]!.action).toBe('create')
    })

    test('Codex installs the plugin and lists its server in the project; then init wires nothing by hand', () => {
      const m = machine(true)
      m.codex(['plugin', 'marketplace', 'add', REPOSITORY])
      m.codex(['plugin', 'add', 'tidemark@tidemark'])
      expect(m.codex(['plugin', 'list'])).toMatch(/tidemark@tidemark +installed, enabled/)
      expect(m.codex(['mcp', 'list'])).toMatch(/^tidemark +sh +-c .* enabled/m)
      expect(planWiring(m.ctx, ['codex'])).toMatchObject([
        { action: 'none', why: expect.stringContaining('installed') },
      ])
      m.codex(['plugin', 'remove', 'tidemark@tidemark'])
      expect(planWiring(m.ctx, ['codex'])[0]!.action).toBe('create')
    })

    testUnless(
      !existsSync(join(CLIENTS_AT ?? '', 'node_modules/@google/gemini-cli')) && 'no Gemini CLI among the clients',
    )('Gemini CLI finds the extension good and installs it (skipped without @google/gemini-cli@0.61)', () => {
      const m = machine(true)
      const gemini = (...args: string[]) =>
        m.run(process.execPath, [join(CLIENTS_AT!, 'node_modules/@google/gemini-cli/bundle/gemini.js'), ...args])
      const extension = join(REPOSITORY, 'plugin/gemini')
      gemini('extensions', 'validate', extension) // else it fails
      gemini('extensions', 'install', extension, '--consent', '--skip-settings')
      expect(planWiring(m.ctx, ['gemini'])).toMatchObject([{ why: expect.stringContaining('installed') }])
      gemini('extensions', 'disable', 'tidemark')
      expect(planWiring(m.ctx, ['gemini'])[0]!.action).toBe('create')
    })

    testUnless(
      !existsSync(join(CLIENTS_AT ?? '', 'node_modules/@github/copilot-linux-x64')) &&
        'no Copilot CLI among the clients',
    )('Copilot CLI installs the portable plugin from the marketplace (skipped without @github/copilot@1.0.102)', () => {
      const m = machine(true)
      const copilot = (...args: string[]) =>
        m.run(join(CLIENTS_AT!, 'node_modules/@github/copilot-linux-x64/copilot'), args)
      copilot('plugin', 'marketplace', 'add', REPOSITORY)
      expect(copilot('plugin', 'install', 'tidemark@tidemark')).toContain('Installed 8 skills')
      expect(copilot('mcp', 'list')).toContain('tidemark (local)')
    })

    test('in a trusted project Codex takes the project before the home, which is why such a machine gets no project entry', () => {
      const m = machine(false)
      m.trustCodex()
      m.wire()
      mkdirSync(join(m.root, '.codex'))
      writeFileSync(
        join(m.root, '.codex/config.toml'),
        '[mcp_servers.tidemark]\ncommand = "tidemark"\nargs = ["mcp"]\n',
      )
      expect(JSON.parse(m.codex(['mcp', 'get', 'tidemark', '--json'])).transport.command).toBe('tidemark')
      expect(checkWiring(m.ctx).find((f) => f.id.startsWith('codex') && f.state === 'wrong')?.text).toContain(
        'tidemark is not on the PATH',
      )
    })
  },
)
