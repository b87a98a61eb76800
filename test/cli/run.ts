import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { createProject, findProject } from '../../src/engine/store/project.ts'
import { rememberProject } from '../../src/engine/store/project-list.ts'
import { openProject } from '../../src/project/open.ts'
import { run } from '../../src/surfaces/cli/cli.ts'
import { refreshViews } from '../../src/work/handoff/views/refresh.ts'

export const BIN = join(import.meta.dirname, '../../bin/tidemark.js')

export interface Ran {
  code: number
  out: string
  err: string
}

/** An empty directory with an empty HOME, gone after the test. */
export function scratch(): { dir: string; home: string; env: NodeJS.ProcessEnv } {
  const top = mkdtempSync(join(tmpdir(), 'tidemark-cli-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const dir = join(top, 'project')
  const home = join(top, 'home')
  mkdirSync(dir)
  mkdirSync(home)
  // what the test does in its own process, or as a client's hook, it does as the same user of the same machine
  const before = process.env.TIDEMARK_STATE
  process.env.TIDEMARK_STATE = join(home, '.local', 'state', 'tidemark')
  onTestFinished(() => void (process.env.TIDEMARK_STATE = before))
  return { dir, home, env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, TIDEMARK_USER: 'tester' } }
}

/** Writes files below a directory. */
export function files(dir: string, contents: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
}

export const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', dir, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Commands whose end is not the end of their process, or that read what a process is given. */
const OWN_PROCESS = ['hook', 'mcp', 'serve', 'ui', 'hub', 'edit', 'demo', 'bench', '-', '--follow']
let last: Promise<unknown> = Promise.resolve()

/**
 * What a command says and does, run in this process one after another: a process costs ten times as much. For tests that are not
 * about processes: how the program starts, is killed, shares a store with others, or whose client is above it. Input, another
 * user and options of Node need a process, and get it.
 */
export function inProcess(at: At, args: readonly string[], input?: string): Promise<Ran> {
  const isOwnProcess = args.some((arg) => OWN_PROCESS.includes(arg)) || at.env.NODE_OPTIONS !== undefined
  if (isOwnProcess || input !== undefined || at.uid !== undefined) return tidemark(at, args, input)
  const done = last.then(() => runHere(at, args))
  last = done.catch(() => {})
  return done
}

async function runHere(at: At, args: readonly string[]): Promise<Ran> {
  const { stdin, stdout, stderr } = process
  const before = { env: { ...process.env }, cwd: process.cwd(), argv: process.argv, exitCode: process.exitCode }
  const listeners = new Set(stdout.listeners('error'))
  const ran: Ran = { code: -1, out: '', err: '' }
  const into = (name: 'out' | 'err') => (text: string) => {
    ran[name] += text
    return true
  }
  const replaced = [
    [stdin, { isTTY: false }],
    [stdout, { isTTY: false, write: into('out') }],
    [stderr, { isTTY: false, write: into('err') }],
  ] as const
  const restores = replaced.flatMap(([stream, properties]) =>
    Object.entries(properties).map(([name, value]) => {
      const own = Object.getOwnPropertyDescriptor(stream, name)
      Object.defineProperty(stream, name, { value, configurable: true, writable: true })
      return () => (own ? Object.defineProperty(stream, name, own) : Reflect.deleteProperty(stream, name))
    }),
  )
  try {
    setVariables(at.env)
    process.chdir(at.dir)
    process.argv = [process.execPath, BIN, ...args]
    ran.code = await run(args)
  } finally {
    for (const restore of restores) restore()
    for (const listener of stdout.listeners('error')) {
      if (!listeners.has(listener)) stdout.off('error', listener as () => void)
    }
    process.argv = before.argv
    process.exitCode = before.exitCode
    process.chdir(before.cwd)
    setVariables(before.env)
  }
  return ran
}

function setVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (variables[name] === undefined) delete process.env[name]
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) process.env[name] = value
}

/** Runs the real command line to its end; a hook has the time that a busy machine takes. */
export function tidemark(
  at: { dir: string; env: NodeJS.ProcessEnv; uid?: number; bin?: string },
  args: readonly string[],
  input?: string | Buffer | Iterable<Buffer>,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [at.bin ?? BIN, ...args], {
      cwd: at.dir,
      env: args[0] === 'hook' ? { TIDEMARK_HOOK_MS: '15000', ...at.env } : at.env,
      ...(at.uid !== undefined ? { uid: at.uid, gid: at.uid } : {}),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout!.setEncoding('utf8').on('data', (t: string) => (out += t))
    child.stderr!.setEncoding('utf8').on('data', (t: string) => (err += t))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, out, err }))
    if (input === undefined) return
    const stdin = child.stdin!
    stdin.on('error', () => {}) // the command refused before it had read everything
    if (typeof input === 'string' || Buffer.isBuffer(input)) stdin.end(input)
    else {
      const chunks = input[Symbol.iterator]()
      const next = (): void => {
        for (;;) {
          const { done, value } = chunks.next()
          if (done || stdin.destroyed) return void stdin.end()
          if (!stdin.write(value)) return void stdin.once('drain', next)
        }
      }
      next()
    }
  })
}

/**
 * Runs the real command line on a pseudo-terminal, where a person answers its questions one after another. What it shows is in
 * `out`. No process of the test is above it: hooks that a test called have made the test known as a client.
 */
export const onTerminal = (at: At, args: readonly string[], ...answers: readonly string[]) =>
  typing(at, args, QUESTION, entered(answers))

/** The same below this process. */
export const onTerminalBelow = (at: At, args: readonly string[], ...answers: readonly string[]) =>
  typing(at, args, QUESTION, entered(answers), false)

/** The same where single keys answer. */
export const pressing = (at: At, args: readonly string[], keys: string) =>
  typing(at, args, /(?:quit|\d)\? /g, [...keys])

/** What a person who says yes to everything has done on a terminal; it is to succeed. */
export async function agreeing(at: At, ...args: readonly string[]): Promise<string> {
  const ran = await onTerminal(at, args, 'y', 'y', 'y')
  expect(ran.code, ran.out).toBe(0)
  return ran.out
}

type At = { dir: string; env: NodeJS.ProcessEnv; uid?: number }

const QUESTION = /\[(y\/N|Y\/n)\] /g
const entered = (answers: readonly string[]) => answers.map((a) => `${a}\r`)
/** Stands before and behind the exit code. */
const MARK = '\x1e'

function typing(
  at: At,
  args: readonly string[],
  question: RegExp,
  answers: readonly string[],
  isApart = true,
): Promise<Ran> {
  const quoted = [process.execPath, BIN, ...args].map((a) => `'${a.replaceAll("'", `'\\''`)}'`).join(' ')
  // an orphan belongs to init; `cat` lives as long as it does, and keeps our end of its input open
  const run = `script -qfec "$0" /dev/null <&3; printf '${MARK}%s${MARK}' $?`
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `exec 3<&0; ${isApart ? `( ( ${run} ) & ) | cat` : run}`, quoted], {
      cwd: at.dir,
      env: { ...at.env, SHELL: '/bin/sh', TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.stdin.destroy())
    child.stdin.on('error', () => {}) // it ended before it had asked everything
    let out = ''
    let answered = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      const asked = out.match(question)?.length ?? 0
      while (answered < asked && answered < answers.length) child.stdin.write(answers[answered++]!)
    })
    child.on('error', reject)
    child.on('close', () => {
      const [shown = '', code = '-1'] = out.split(MARK)
      resolve({ code: Number(code), out: stripVTControlCharacters(shown).replaceAll('\r', ''), err: '' })
    })
  })
}

/** Makes the newest scratch directory a project, as `init --client none` does, without its process. */
export function initProject({ dir }: { dir: string }): void {
  const { project } = createProject(dir)
  const memory = openProject(project)
  rememberProject(project)
  refreshViews(memory, project)
  memory.close()
}

/** What a person has written, by the library: for tests that need it there, and are of something else. */
export function asPerson({ dir }: { dir: string }, ...actions: readonly unknown[]): void {
  const memory = openProject(findProject(dir))
  memory.act(actions, { by: 'person', agent: 'cli' })
  memory.close()
}

/** Rules that a person has laid down. */
export const ruled = (at: { dir: string }, ...facts: readonly string[]): void => {
  for (const fact of facts) asPerson(at, ['record-fact', { fact }])
}

/** A project in a git repository of its own, and the command line in it, which is to succeed without a word on stderr. */
export async function project() {
  const at = scratch()
  git(at.dir, 'init', '-q')
  initProject(at)
  const succeed = async (...args: string[]) => {
    const ran = await inProcess(at, args)
    expect(ran.err).toBe('')
    return ran.out
  }
  return { at, run: succeed }
}
