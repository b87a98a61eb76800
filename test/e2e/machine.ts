import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
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
import { dirname, join } from 'node:path'
import { onTestFinished, test } from 'vitest'

const CHECKOUT = join(import.meta.dirname, '..', '..')

/** Where the clients are installed, and which of them are asked for. */
const AT = process.env.TIDEMARK_REAL_CLIENTS ?? ''
const ASKED = (process.env.TIDEMARK_E2E ?? '').split(',').map((name) => name.trim())

const BINARIES = {
  claude: 'node_modules/@anthropic-ai/claude-code/bin/claude.exe',
  codex: 'node_modules/.bin/codex',
  gemini: 'node_modules/.bin/gemini',
  copilot: 'node_modules/.bin/copilot',
  opencode: 'node_modules/.bin/opencode',
} as const
export type ClientName = keyof typeof BINARIES

export const binary = (client: ClientName): string => join(AT, BINARIES[client])

/** Why a test with these clients cannot run here. */
export function whyNot(names: readonly ClientName[]): string | undefined {
  if (names.some((n) => AT === '' || !ASKED.includes(n)))
    return `runs with TIDEMARK_E2E=${names.join(',')} and TIDEMARK_REAL_CLIENTS=DIR`
  const missing = names.filter((n) => !existsSync(binary(n)))
  return missing.length > 0 ? `TIDEMARK_REAL_CLIENTS has no ${missing.join(', ')}` : undefined
}

/**
 * A test with the clients themselves: they are hundreds of megabytes, so it runs where somebody has installed them and
 * asks for them by name. Otherwise the name of the skipped test says what to do.
 */
export function withClients(
  names: readonly ClientName[],
  name: string,
  body: () => Promise<void>,
  timeout = 180_000,
): void {
  const why = whyNot(names)
  if (why) test.skip(`${name} (skipped: ${why})`, body)
  else test(name, { timeout }, body)
}

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface HookNoted {
  readonly client: string
  readonly event: string
  readonly session?: string
  readonly ms: number
  readonly errors?: readonly string[]
}

export interface SessionSaid {
  readonly id: string
  readonly state: string
  readonly client?: string
  readonly parent?: string
  readonly reason?: string
  readonly files: readonly string[]
  readonly contextUsed?: number
}

/** A machine of its own: a home, a repository that Tidemark was set up in, and nothing of this session's environment. */
export interface Machine {
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  path(...parts: string[]): string
  write(path: string, text: string): void
  read(path: string): string
  /** Starts something in the project and waits for its end; whatever its exit code. */
  run(file: string, args: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** The installed product, as the clients' hooks start it. */
  tidemark(...args: string[]): string
  sessions(): SessionSaid[]
  /** What the hooks noted of themselves. */
  hooks(): HookNoted[]
  /** What was recorded, and by which session. */
  recorded(): { key: string; session_id: string }[]
}

export function machine(clients: readonly ClientName[]): Machine {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-e2e-')))
  onTestFinished(() => {
    if (process.env.TIDEMARK_E2E_KEEP) console.log(`kept: ${top}`)
    else rmSync(top, { recursive: true, force: true, maxRetries: 5 })
  })
  const [root, home, bin, tmp] = ['project', 'home', 'bin', 'tmp'].map((name) => join(top, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const dir of [join(root, 'src'), join(home, '.codex'), join(home, '.claude'), bin, tmp])
    mkdirSync(dir, { recursive: true })
  // a copy, as an installation is one: a build beside it changes nothing
  const lib = join(top, 'lib')
  for (const part of ['package.json', 'bin', 'dist', 'assets'])
    cpSync(join(CHECKOUT, part), join(lib, part), { recursive: true })
  symlinkSync(join(CHECKOUT, 'node_modules'), join(lib, 'node_modules'))
  symlinkSync(join(lib, 'bin', 'tidemark.js'), join(bin, 'tidemark'))
  const env: Record<string, string> = {
    HOME: home,
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    TMPDIR: tmp,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: '/dev/null',
    TIDEMARK_HOOK_MS: process.env.TIDEMARK_HOOK_MS ?? '', // a busy machine needs more
  }
  const tidemark = (...args: string[]): string =>
    execFileSync('tidemark', args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  // an agent's shell is a login shell with some clients
  writeFileSync(join(home, '.profile'), `PATH=${bin}:${dirname(process.execPath)}:$PATH\n`)
  execFileSync('git', ['init', '-q', root], { env })
  writeFileSync(join(root, 'src', 'app.ts'), 'export const answer = 41\n')
  trusted(home, root)
  tidemark('init', '--yes', '--no-import', '--client', clients.join(',') || 'none')
  return {
    root,
    home,
    env,
    tidemark,
    path: (...parts) => join(root, ...parts),
    write: (path, text) => writeFileSync(join(root, path), text),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    run: (file, args, more = {}) => ended(file, args, root, { ...env, ...more }),
    sessions: () => JSON.parse(tidemark('session', 'list', '--all', '--json')) as SessionSaid[],
    hooks() {
      const log = join(root, '.git', 'tidemark', 'hooks.log')
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as HookNoted)
    },
    recorded: () =>
      tidemark('events', '--since', '0', '--type', 'knowledge', '--json')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  }
}

/** The folder is trusted, as a person says once when a client asks. */
export function trusted(home: string, root: string): void {
  const claude = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['dummy-local-key'], rejected: [] },
    projects: { [root]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(claude))
  writeFileSync(join(home, '.codex', 'config.toml'), `[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`)
}

/** Starts something and waits for its end, whatever its exit code. */
export function ended(file: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn(file, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (t: string) => (out += t))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (err += t))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, out, err }))
  })
}
