import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import { createProject, type Project } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { markOfAgent } from '../../src/work/coordination/caller.ts'

export const BIN = join(import.meta.dirname, '..', '..', 'bin', 'tidemark.js')
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly ms: number
  /** The answer, where it is JSON. */
  readonly json: { readonly [key: string]: unknown }
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Left open after the payload. */
  readonly open?: boolean
}

/** For what is not about time: a machine on which other tests run is slow. */
export const PATIENT = { TIDEMARK_HOOK_MS: '15000' }

/** Runs `tidemark hook …` as a client does; a payload that is no text is sent as JSON. */
export function runHook(args: readonly string[], payload: unknown, options: RunOptions = {}): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>()
  const since = performance.now()
  const rest = { ...process.env }
  // whose session runs the tests, and what keeps Node from keeping compiled code (a run with coverage does)
  for (const name of [
    'CLAUDE_ENV_FILE',
    'CLAUDE_PROJECT_DIR',
    'TIDEMARK_SESSION',
    'NODE_V8_COVERAGE',
    'NODE_DISABLE_COMPILE_CACHE',
  ])
    delete rest[name]
  const child = spawn(process.execPath, [BIN, 'hook', ...args], {
    cwd: options.cwd ?? '/',
    env: { ...rest, ...options.env },
    stdio: [payload === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout!.on('data', (d) => (out += d))
  child.stderr!.on('data', (d) => (err += d))
  child.stdin?.on('error', () => {})
  if (payload !== undefined) {
    child.stdin!.write(typeof payload === 'string' || payload instanceof Uint8Array ? payload : JSON.stringify(payload))
    if (!options.open) child.stdin!.end()
  }
  child.on('close', (code) => {
    let json = {}
    try {
      json = JSON.parse(out) as object
    } catch {}
    resolve({ code, out, err, ms: performance.now() - since, json })
  })
  return promise
}

/** An agent that runs the tests leaves its marks in their environment: the hooks of this file are a person's. */
export const withoutMarksOfAgents = () =>
  beforeEach(() => {
    const before = { ...process.env }
    for (let name = markOfAgent(); name; name = markOfAgent()) delete process.env[name]
    onTestFinished(() => void Object.assign(process.env, before))
  })

export interface HookProject {
  readonly dir: string
  readonly project: Project
  /** Opens the store of the project; closed with the test. */
  memory(): Memory
}

/** A project of its own in a temporary directory. */
export function hookProject(git = true): HookProject {
  const dir = mkdtempSync(join(PLACE, 'tidemark-hook-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  if (git) mkdirGit(dir)
  const { project } = createProject(dir, { name: 'example' })
  return {
    dir,
    project,
    memory() {
      const memory = openProject(project, { unlisted: true, author: { session: 'test', user: 'tester' } })
      onTestFinished(() => memory.close())
      return memory
    },
  }
}

function mkdirGit(dir: string): void {
  mkdirSync(join(dir, '.git', 'refs', 'heads'), { recursive: true })
  mkdirSync(join(dir, '.git', 'objects'))
  writeFileSync(join(dir, '.git', 'HEAD'), 'ref: refs/heads/main\n')
}

/** What an answer tells the agent, in the dialects of Claude Code and Codex. */
export const contextOf = (ran: Ran): string =>
  String((ran.json.hookSpecificOutput as { additionalContext?: string } | undefined)?.additionalContext ?? '')

/** The files below a directory that hold a text, a line each. */
export function filesWith(dir: string, text: string): string {
  const { status, stdout, stderr } = spawnSync('grep', ['-rlaF', '--', text, dir], { encoding: 'utf8' })
  expect([0, 1], stderr).toContain(status) // anything else is no answer
  return stdout
}
