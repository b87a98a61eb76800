// @module-tag long
import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { estimateTokens } from '../../src/find/recall/token-estimate.ts'
import { seeded } from '../convergence/harness.ts'
import { call, stdioClient } from '../mcp/harness.ts'
import { SEED } from '../runs.ts'
import { claudeEnv } from './claude.ts'
import { anthropic, results } from './fakes/anthropic.ts'
import { binary, type Machine, machine, withClients } from './machine.ts'

/** `TIDEMARK_HOUR=60` is the hour itself; without it the ten are in a hurry. */
const MINUTES = Number(process.env.TIDEMARK_HOUR ?? 1)
const MODULES = 5
const FUNCTIONS = 4
/** What an agent does between two prompts. */
const STEPS = 4

interface Place {
  readonly path: string
  readonly f: number
}

/** What an agent could do: `done`, or why not. `told` is all that it read of others meanwhile. */
interface Tried {
  readonly is: 'done' | 'refused' | 'outdated'
  readonly told: string
}

interface Agent {
  readonly name: string
  /** A person asks for the next thing: what the agent reads of others with it. */
  prompt(text: string): Promise<string>
  edit(place: Place, from: string, to: string): Promise<Tried>
  /** A shell command, if the agent has a shell that Tidemark sees. */
  shell?(command: string): Promise<Tried>
  /** Its changes of these files are committed. */
  committed?(paths: readonly string[]): Promise<void>
}

const sourceOf = (path: string) =>
  Array.from(
    { length: FUNCTIONS },
    (_, f) =>
      `export function f${f}(input) {\n  const before = input\n  const step = '${path}:${f}-start'\n  return [before, step]\n}\n`,
  ).join('\n\n\n// the next one is another matter\n\n\n')
const lineOf = (step: string) => `  const step = '${step}'`

/** The project of the ten: its files as they are, what git has of them, and what was ever committed. */
function project(m: Machine) {
  const git = (...args: string[]) => {
    for (let again = 20; ; again--)
      try {
        return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: m.root, env: m.env, encoding: 'utf8', stdio: 'pipe' }) // biome-ignore format: a call
      } catch (error) {
        if (again === 0 || !String((error as { stderr?: string }).stderr).includes('index.lock')) throw error
        execFileSync('sleep', ['0.05'])
      }
  }
  const paths = Array.from({ length: MODULES }, (_, i) => `src/m${i}.js`)
  for (const path of paths) m.write(path, sourceOf(path))
  git('add', '-A')
  git('commit', '-qm', 'start')
  const kept = new Set<string>()
  const stepsIn = (text: string) => text.split("const step = '").slice(1).map((part) => part.split("'")[0]!) // biome-ignore format: a row
  const note = () => {
    for (const path of paths) for (const step of stepsIn(git('show', `HEAD:${path}`))) kept.add(step)
  }
  note()
  return {
    paths,
    stepsOf: (path: string) => stepsIn(m.read(path)),
    stepAt: ({ path, f }: Place) => stepsIn(m.read(path))[f]!,
    isKept: (step: string) => kept.has(step),
    note,
    /** In one go: what was written in between is not overwritten. */
    write({ path }: Place, from: string, to: string): boolean {
      const text = m.read(path)
      if (!text.includes(lineOf(from))) return false
      m.write(path, text.replace(lineOf(from), lineOf(to)))
      return true
    },
    commit(path: string, message: string) {
      git('commit', '-qm', message, '--allow-empty', '--', path)
      note()
    },
  }
}
type Project = ReturnType<typeof project>

/** An agent whose client calls our hooks as Claude Code does: every one is a process of its own. */
async function withHooks(m: Machine, p: Project, name: string): Promise<Agent> {
  const client = spawn('sleep', ['100000'], { stdio: 'ignore' })
  onTestFinished(() => void client.kill())
  const hook = async (event: string, more: object) => {
    const child = spawn('tidemark', ['hook', 'claude', event], {
      cwd: m.root,
      env: { ...m.env, CLAUDE_PID: String(client.pid) },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
    child.stdin.end(JSON.stringify({ session_id: name, cwd: m.root, hook_event_name: event, ...more }))
    await new Promise((resolve) => child.on('close', resolve))
    const said = (out === '' ? {} : JSON.parse(out)).hookSpecificOutput ?? {}
    const told: string = [said.permissionDecisionReason, said.additionalContext].filter(Boolean).join('\n')
    return { refused: said.permissionDecision === 'deny' || said.permissionDecision === 'ask', told }
  }
  const tool = async (tool_name: string, tool_input: object, act: () => boolean): Promise<Tried> => {
    const about = { tool_name, tool_input, tool_use_id: `t${Math.random()}` }
    const before = await hook('PreToolUse', about)
    if (before.refused) return { is: 'refused', told: before.told }
    const done = act()
    const after = await hook(done ? 'PostToolUse' : 'PostToolUseFailure', { ...about, tool_response: {} })
    return { is: done ? 'done' : 'outdated', told: `${before.told}\n${after.told}` }
  }
  await hook('SessionStart', { source: 'startup' })
  return {
    name,
    prompt: async (prompt) => {
      await hook('Stop', { stop_hook_active: false, last_assistant_message: 'That step is done.' })
      return (await hook('UserPromptSubmit', { prompt })).told
    },
    edit: (place, from, to) =>
      tool('Edit', { file_path: m.path(place.path), old_string: lineOf(from), new_string: lineOf(to) }, () =>
        p.write(place, from, to),
      ),
    shell: (command) =>
      tool('Bash', { command }, () => {
        execFileSync('sh', ['-c', command], { cwd: m.root, env: m.env, stdio: 'ignore' })
        return true
      }),
  }
}

/** An agent of a framework: it has our server and no hooks, claims what it will change and releases it when it has committed. */
async function withServer(m: Machine, p: Project, name: string): Promise<Agent> {
  // each has a client process of its own
  const start = `require('node:child_process').spawn('tidemark', ['mcp'], { stdio: 'inherit' })`
  const client = await stdioClient(m.root, {
    name,
    command: [process.execPath, '-e', start],
    env: { ...m.env, TIDEMARK_STATE: '' },
  })
  const act = (...actions: unknown[][]) => call(client, 'act', { actions })
  expect((await call(client, 'brief', {})).isError).toBe(false)
  return {
    name,
    prompt: async (text) => {
      const { text: said, isError } = await act(['start-activity', { description: text }])
      expect([said, isError]).toEqual([expect.stringMatching(/^start-activity /), false])
      return said.split('\n').slice(2).join('\n') // the answer to its own call is no news
    },
    async edit(place, from, to) {
      const { text, isError } = await act(['claim', { paths: [`${place.path}#f${place.f}`], note: to }])
      if (isError) return { is: 'refused', told: text }
      return { is: p.write(place, from, to) ? 'done' : 'outdated', told: text }
    },
    async committed(paths) {
      const places = paths.flatMap((path) => Array.from({ length: FUNCTIONS }, (_, f) => `${path}#f${f}`))
      for (const place of places) await act(['release', { paths: [place] }])
    },
  }
}

/** Claude Code itself, in one long headless session. */
async function withClaude(m: Machine, name: string): Promise<Agent> {
  const model = await anthropic()
  const tools = 'mcp__tidemark,Bash,Edit,Read'
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const child = spawn(binary('claude'), [...args, '--model', 'claude-haiku-4-5', '--allowedTools', tools], {
    cwd: m.root,
    env: { ...m.env, ...claudeEnv(model) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const ended = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{') && JSON.parse(line).type === 'result') for (const done of ended) done()
  })
  const ask = async (content: string) => {
    const done = Promise.withResolvers<void>()
    ended.add(done.resolve)
    child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
    await done.promise
    ended.delete(done.resolve)
    const { text } = model.turns.at(-1)!
    model.turns.splice(0, model.turns.length - 1)
    const own = text.slice(text.lastIndexOf(JSON.stringify(content).slice(1, -1)))
    return own.split('hook additional context: ').slice(1).map((part) => part.split('</system-reminder>')[0]).join('\n') // biome-ignore format: a row
  }
  let asked = 0
  const tried = async (): Promise<Tried> => {
    const said = await ask(`go on with ${++asked}`)
    const last = results(model.turns.at(-1)!).at(-1)!
    if (!last.error) return { is: 'done', told: said }
    const isRefused = /is (?:claimed|being edited) by/.test(last.text)
    return { is: isRefused ? 'refused' : 'outdated', told: `${said}\n${isRefused ? last.text : ''}` }
  }
  return {
    name,
    prompt: ask,
    edit({ path }, from, to) {
      const file_path = m.path(path)
      model.next(
        { call: 'Read', input: { file_path } },
        { call: 'Edit', input: { file_path, old_string: lineOf(from), new_string: lineOf(to) } },
      )
      return tried()
    },
    shell(command) {
      model.next({ call: 'Bash', input: { command, description: 'by the shell' } })
      return tried()
    },
  }
}

withClients(
  ['claude'],
  `[X6] [E2] ten agents on overlapping work for ${MINUTES} min: no uncommitted work is lost, each collision is told before it is written`,
  async () => {
    const m = machine(['claude'])
    const p = project(m)
    m.tidemark('scan')
    const agents = await Promise.all([
      ...Array.from({ length: 5 }, (_, i) => withServer(m, p, `server${i}`)),
      ...Array.from({ length: 3 }, (_, i) => withHooks(m, p, `hooks${i}`)),
      ...Array.from({ length: 2 }, (_, i) => withClaude(m, `claude${i}`)),
    ])
    const until = performance.now() + MINUTES * 60_000
    const wrong: string[] = []
    const count: Record<string, number> = {}
    const counted = (what: string) => (count[what] = (count[what] ?? 0) + 1)
    const tokens = new Map(agents.map(({ name }) => [name, { news: 0, told: 0, prompts: 0 }]))

    async function live(agent: Agent, seed: number) {
      const bytes = seeded(SEED + seed)
      const below = (n: number) => ((bytes(1)[0]! << 8) | bytes(1)[0]!) % n
      /** Where it was told that others are at work, and what stood there. It knows of that until it is committed. */
      const warned = new Map<string, string>()
      let again: Place | undefined
      const mine = new Set<string>()
      const costs = tokens.get(agent.name)!
      const others = (step: string) => !step.startsWith(`${agent.name}-`) && !p.isKept(step)
      for (let n = 1; performance.now() < until; n++) {
        if (n % STEPS === 1) {
          costs.news += estimateTokens(await agent.prompt(`step-${n} of ${agent.name}`))
          costs.prompts++
        }
        const path = p.paths[below(10) < 6 ? seed % MODULES : below(MODULES)]!
        const place = again ?? { path, f: below(FUNCTIONS) }
        again = undefined
        const what = below(20)
        if (agent.shell && what === 0) {
          const atStake = p.stepsOf(path).filter(others)
          const { is } = await agent.shell(`git checkout -- ${path}`)
          counted(`checkout ${is}`)
          // a write that came between may have committed it
          if (is === 'done' && atStake.some((s) => others(s) && !p.stepsOf(path).includes(s)))
            wrong.push(`${agent.name} threw away ${atStake} of ${path}`)
        } else if (what <= 3 && mine.size > 0) {
          for (const done of mine) p.commit(done, `${agent.name} ${n}`)
          await agent.committed?.([...mine])
          mine.clear()
          counted('commits')
        } else {
          const from = p.stepAt(place)
          const to = `${agent.name}-${n}`
          const isTheirs = others(from)
          const where = `${place.path}#f${place.f}`
          const isWarned = isTheirs && warned.has(where) && others(warned.get(where)!)
          const bySed = agent.shell && what === 4
          const { is, told } = await (bySed
            ? agent.shell!(`sed -i "s/'${from.replace('/', '.')}'/'${to}'/" ${place.path}`)
            : agent.edit(place, from, to))
          costs.told += estimateTokens(told)
          if (is === 'done') mine.add(place.path)
          const isClaimed = is === 'refused' && told.includes(' is claimed by ')
          const known = is === 'done' && isWarned
          counted(
            `${isTheirs ? 'collisions' : 'edits'} ${is}${isClaimed ? ' by a claim' : known ? ' after it was told' : ''}`,
          )
          if (is === 'refused' && !isClaimed && below(3) === 0) again = place
          if (is === 'refused' || known) {
            // without a place it is told of the file
            const steps = /\((?:in|at) /.test(told) ? [] : p.stepsOf(place.path)
            for (const [f, step] of steps.entries()) warned.set(`${place.path}#f${f}`, step)
            warned.set(where, from)
          }
          if (is === 'done' && !known && isTheirs && others(from))
            wrong.push(`${agent.name} overwrote ${from} of ${where}, and had read: ${told.slice(0, 300)}`)
        }
        await pause(MINUTES < 10 ? 2_000 + below(6_000) : 5_000 + below(20_000))
      }
    }
    await Promise.all(agents.map((agent, i) => live(agent, i)))
    const each = (n: number, prompts: number) => Math.round(n / prompts)
    const costs = [...tokens].map(([name, { news, told, prompts }]) => `${name} ${each(news, prompts)} + ${each(told, prompts)}`) // biome-ignore format: a row
    process.stderr.write(`[X6] seed ${SEED}, ${MINUTES} min: ${JSON.stringify(count)}\n`)
    process.stderr.write(`[X6] tokens with a prompt + with the ${STEPS} steps after it: ${costs.join(', ')}\n`)
    expect(wrong).toEqual([])
    for (const what of ['edits done', 'collisions refused', 'collisions refused by a claim', 'commits'])
      expect([what, count[what] ?? 0]).not.toEqual([what, 0])
  },
  60_000 * (MINUTES + 3),
)
