import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kindOfFile, LAYOUT, ownFiles, type Place } from '../../src/engine/store/file-places.ts'
import { BIN, git, inProcess, type Ran, scratch } from './run.ts'

const SRC = join(import.meta.dirname, '../../src')
const PROBE = join(import.meta.dirname, '../fs-probe.mjs')

/** Sources that write only what the user names, or what another source has in the list. */
const NOT_LISTED = {
  'surfaces/tools/export.ts': 'the file that the user names',
  'session/hooks/session-start.ts': "the client's file of environment variables",
  'travel/hub/sqlite.ts': 'the log of a hub, where who runs it says',
  'engine/store/doorbell.ts': 'the doorbell, as engine/store/db.ts',
}

/** Starts `serve` and ends it once it listens. */
async function served(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => child.kill('SIGTERM'))
  await once(child, 'close')
}

describe('[T60] src/engine/store/file-places.ts lists every file that Tidemark writes', () => {
  test('[T60] every source that writes files is named by the list', () => {
    const writes =
      /(?<!import.*)\b(writeFileSync|renameSync|appendFileSync|linkSync|copyFileSync|cpSync|createWriteStream|mkdtempSync|temporaryDirectory)\(|openSync\([^)]*'[wa]|VACUUM INTO/
    const writers = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts') && writes.test(readFileSync(join(SRC, f), 'utf8')))
      .map((f) => f.split(sep).join('/'))
    const listed = new Set([...LAYOUT.map((k) => k.by), ...Object.keys(NOT_LISTED)])
    expect(writers.filter((w) => !listed.has(w))).toEqual([])
    expect([...listed].filter((by) => !existsSync(join(SRC, by)) && !existsSync(join(SRC, '..', by)))).toEqual([])
  })

  test('[T60] every directory for temporary files is in the list', () => {
    const made = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
      .flatMap((f) => [
        ...readFileSync(join(SRC, f), 'utf8').matchAll(
          /(?:mkdtempSync\(join|temporaryDirectory)\(tmpdir\(\), '([^']+)'/g,
        ),
      ])
      .map((m) => m[1]!)
    expect(made.length).toBeGreaterThan(4)
    expect(made.filter((prefix) => kindOfFile('temporary', `${prefix}a1B2/x.json`) === undefined)).toEqual([])
  })

  test('[T60] every path that the commands write, temporary names included, is in the list', {
    tags: ['long'],
  }, async () => {
    const { dir, home, env } = scratch()
    const top = realpathSync(dirname(dir))
    const [root, plain] = [join(top, 'project'), join(top, 'plain')]
    const temporary = join(top, 'tmp')
    const log = join(top, 'written')
    for (const made of [temporary, plain, join(home, '.claude')]) mkdirSync(made)
    writeFileSync(log, '')
    const probed = {
      ...env,
      HOME: join(top, 'home'),
      TMPDIR: temporary,
      PROBE_LOG: log,
      NODE_OPTIONS: `--import ${PROBE}`,
      CLAUDE_ENV_FILE: join(top, 'exported.env'),
      TIDEMARK_HOOK_MS: '15000',
      EDITOR: `${process.execPath} ${join(top, 'editor.mjs')}`,
    }
    writeFileSync(
      join(top, 'editor.mjs'),
      `import fs from 'node:fs'; const f = process.argv[2]; fs.writeFileSync(f, JSON.stringify({ ...JSON.parse(fs.readFileSync(f, 'utf8')), description: 'edited' }))`,
    )
    git(root, 'init', '-q')
    const run = async (cwd: string, args: string[], input?: string): Promise<Ran> => {
      const ran = await inProcess({ dir: cwd, env: probed }, args, input)
      expect(`${args.join(' ')}: ${ran.code} ${ran.code === 0 ? '' : ran.err}`).toBe(`${args.join(' ')}: 0 `)
      return ran
    }
    const hook = (event: string, rest: object) =>
      run(
        root,
        ['hook', 'claude', event],
        JSON.stringify({ session_id: 's', cwd: root, hook_event_name: event, ...rest }),
      )

    for (const at of [root, plain]) {
      await run(at, ['init', '--client', 'claude,codex,gemini,copilot,cursor,opencode', '--yes'])
      await run(at, ['act', '[["record-decision",{"name":"use-x","rationale":"because"}]]'])
    }
    await run(root, ['edit', 'use-x'])
    await hook('SessionStart', { source: 'startup' })
    await hook('UserPromptSubmit', { prompt: 'we always use tabs' })
    await hook('PostToolUse', { tool_name: 'Edit', tool_input: { file_path: join(root, 'a.ts') }, tool_response: {} })
    await run(root, ['act', '[["write-handoff",{"nextSteps":["go on"]}]]'])
    appendFileSync(join(root, '.tidemark', 'decisions.md'), 'no decision\n')
    await run(root, ['act', '[["record-decision",{"name":"use-y","rationale":"because"}]]'])
    writeFileSync(
      join(top, 'said.jsonl'),
      '{"type":"user","message":{"role":"user","content":"we use z because of w"}}\n',
    )
    await hook('Stop', { transcript_path: join(top, 'said.jsonl') })
    await run(root, ['export', 'markdown', join(top, 'exported.md')])
    await run(root, ['doctor', '--compact', new Date(Date.now() + 60_000).toISOString()])
    await run(root, ['act', '[["purge",{"ref":"use-y","reason":"test"}]]'])
    writeFileSync(join(root, '.git/tidemark/store.db'), 'damaged')
    // what only the damaged file held is named, with exit code 1
    await inProcess({ dir: root, env: probed }, ['doctor', '--restore'])
    await run(root, ['demo'])
    const questions = { name: 'q', unit: 'doc', groups: [{ id: 'g', docs: [{ id: 'd', text: 'red' }], queries: [] }] }
    writeFileSync(join(top, 'said.json'), JSON.stringify(questions))
    await run(root, ['bench', 'recall', join(top, 'said.json'), '--embedder', 'none'])
    await served(root, probed)
    await run(root, ['uninstall'])
    await run(plain, ['uninstall', '--delete-knowledge', '--yes'])

    const places: [string, Place, string?][] = [
      [join(root, '.git/tidemark'), 'store'],
      [join(plain, '.tidemark/store'), 'store'],
      [join(root, '.tidemark'), 'tree'],
      [join(plain, '.tidemark'), 'tree'],
      [join(top, 'home/.local/state/tidemark'), 'state'],
      [join(top, 'home/.local/share/tidemark/models'), 'models'],
      [join(temporary, 'node-compile-cache'), 'compiled'],
      [temporary, 'temporary'],
    ]
    /** Files of clients, which wiring gives back byte for byte, and those that this test names itself. */
    const isOther = (path: string) =>
      kindOfFile('client', basename(path)) !== undefined ||
      /\/(\.mcp\.json|\.claude\.json|opencode\.jsonc?|GEMINI\.md|AGENTS\.md)$/.test(path) ||
      /\/(home|project|plain)\/\.(claude|codex|gemini|copilot|cursor|config\/opencode|opencode|github|vscode)(\/|$)/.test(
        path,
      ) ||
      /^(exported|editor|said|written)/.test(relative(top, path)) ||
      (path.includes('/.git/') && !path.includes('/.git/tidemark'))
    const isListed = (path: string): boolean => {
      const found = places.find(([at]) => path === at || path.startsWith(`${at}/`))
      if (!found || path === found[0]) return found !== undefined
      return kindOfFile(found[1], relative(found[0], path)) !== undefined
    }
    const written = readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .flatMap((line) => {
        const [name = '', ...rest] = line.split(' ')
        return /^(rm|mkdir|mkdtemp|unlink|chmod)/.test(name) ? [] : [rest.join(' ')]
      })
    const left = readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((f) => f.isFile())
      .map((f) => join(f.parentPath, f.name))
    const unknown = [...new Set([...written, ...left])].filter(
      (path) => path.startsWith(top) && !isListed(path) && !isOther(path),
    )
    expect(unknown.map((path) => relative(top, path))).toEqual([])
    // it would be no proof if nothing was seen
    expect(written.filter((p) => /\.partial$/.test(p)).length).toBeGreaterThan(0)
    expect(written.filter((p) => /\.tidemark\/\.tidemark-\d+-\w+\.tmp/.test(p)).length).toBeGreaterThan(0)
    expect(ownFiles('store', join(root, '.git/tidemark')).map((f) => f.kind.path)).toContain('hooks.log')
  })
})
