import { execFileSync, spawn } from 'node:child_process'
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
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Client } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { claude } from '../e2e/claude.ts'
import { codex, codexAsks } from '../e2e/codex.ts'
import * as claudes from '../e2e/fakes/anthropic.ts'
import * as codexes from '../e2e/fakes/responses.ts'
import { ended, type Machine, trusted } from '../e2e/machine.ts'
import { call, stdioClient } from '../mcp/harness.ts'
import type { Called, Chatted, Step, Typed } from './page.ts'

const CHECKOUT = join(import.meta.dirname, '..', '..')

/** The ports that a page names: other ones where it runs. */
const PORTS = ['8377', '8378']

/** The machine that has no Tidemark. */
const WITHOUT = 'mate'

/** Sets a process back by so many days, and all that it starts. */
const CLOCK = `const Real = Date, back = Number(process.env.DAYS_AGO) * 864e5
globalThis.Date = class Date extends Real {
  constructor(...said) { said.length === 0 ? super(Real.now() - back) : super(...said) }
  static now() { return Real.now() - back }
}`

export interface World {
  /** Does what a step of a page says, and gives what was to be read, in the order of what the page expects. */
  happen(step: Step): Promise<string[][]>
}

/** A world of its own: machines with a home and a repository `~/shop` each, and one at /srv/shop.git that they share. */
export function world(machines: readonly string[], clients: readonly string[]): World {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-story-')))
  onTestFinished(() => rmSync(top, { recursive: true, force: true, maxRetries: 5 }))
  const bin = join(top, 'bin')
  for (const dir of [bin, join(top, 'tmp'), join(top, 'srv')]) mkdirSync(dir)
  symlinkSync(join(CHECKOUT, 'bin', 'tidemark.js'), join(bin, 'tidemark'))
  writeFileSync(join(top, 'clock.cjs'), CLOCK)
  const ports = PORTS.map((_, i) => String(20_000 + ((2 * process.pid) % 20_000) + i))
  const named = (text: string, from: readonly string[], to: readonly string[]): string =>
    from.reduce((said, port, i) => said.replaceAll(port, to[i]!), text)
  const agents = new Map<string, Client>()

  const there = (text: string): string =>
    named(text.replaceAll(/(?<![\w/])\/(home|srv)\//g, `${top}/$1/`), PORTS, ports)
  const here = (text: string): string => named(text.replaceAll(top, ''), ports, PORTS)
  const home = (name: string): string => join(top, 'home', name)
  const shop = (name: string): string => join(home(name), 'shop')
  const envOf = (name: string, ago = 0): Record<string, string> => ({
    HOME: home(name),
    PATH: `${name === WITHOUT ? '' : `${bin}:`}${dirname(process.execPath)}:/usr/bin:/bin`,
    TMPDIR: join(top, 'tmp'),
    TERM: 'xterm',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    PAGER: 'cat',
    TIDEMARK_USER: name,
    ...(ago > 0 ? { NODE_OPTIONS: `--require ${join(top, 'clock.cjs')}`, DAYS_AGO: String(ago) } : {}),
  })

  for (const name of machines) {
    for (const client of ['claude', 'codex']) mkdirSync(join(home(name), `.${client}`), { recursive: true })
    trusted(home(name), shop(name))
    for (const client of ['claude', 'codex'])
      if (!clients.includes(client)) rmSync(join(home(name), `.${client}`), { recursive: true })
    writeFileSync(
      join(home(name), '.gitconfig'),
      `[user]\nname = ${name}\nemail = ${name}@shop.example\n[init]\ndefaultBranch = main\n`,
    )
    const git = (...args: string[]) => execFileSync('git', args, { cwd: home(name), env: envOf(name), stdio: 'pipe' })
    const remote = join(top, 'srv', 'shop.git')
    if (!existsSync(remote)) git('init', '-q', '--bare', remote)
    git('clone', '-q', remote, 'shop')
    if (name === machines[0]) {
      mkdirSync(join(shop(name), 'src'))
      writeFileSync(join(shop(name), 'src', 'cart.ts'), 'export const total = 0\n')
      git('-C', 'shop', 'add', '.')
      git('-C', 'shop', 'commit', '-qm', 'a shop')
      git('-C', 'shop', 'push', '-q', 'origin', 'HEAD')
    }
  }

  /** On a terminal, as a person does; answers are given to questions as they come. */
  function typed({ machine, ago, command, expected }: Typed): Promise<string[][]> {
    const name = machine || machines[0]!
    const serves = command.endsWith(' &')
    const [script, state] = [join(top, `${name}.sh`), join(top, `${name}.state`)]
    const before = existsSync(state) ? readFileSync(state, 'utf8') : `cd ${shop(name)}`
    const after = `code=$?; { export -p | grep -v 'x \\(NODE_OPTIONS\\|DAYS_AGO\\)='; printf 'cd %q\\n' "$PWD"; } >${state}; exit $code`
    writeFileSync(script, `${before}\n${there(serves ? command.slice(0, -2) : command)}\n${serves ? '' : after}\n`)
    const answers = expected.lines.flatMap((l) => /(?:\[\S\/\S\]|quit\?|\d\?) (\S+)$/.exec(l.trimEnd())?.[1] ?? [])
    const child = spawn('script', ['-qfec', `stty cols 120 rows 50; exec bash ${script}`, '/dev/null'], {
      cwd: top,
      env: envOf(name, ago),
      stdio: ['pipe', 'pipe', serves ? 'ignore' : 'inherit'],
      timeout: 60_000,
    })
    let out = ''
    let answered = 0
    return new Promise((resolve, reject) => {
      const read = () => [
        here(stripVTControlCharacters(out))
          .replaceAll(/\r+\n/g, '\n')
          .replaceAll(/^.*\r/gm, '')
          .replaceAll(/^\S+\.sh: line \d+: /gm, 'bash: ')
          .split('\n'),
      ]
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
        const asked = [...stripVTControlCharacters(out).matchAll(/\[\S\/\S\] |, q quit\? ?|confirm all \d+\? ?/g)]
        // what the page does not answer is left as it is proposed
        for (; answered < asked.length; answered++) {
          const answer = answers[answered]
          child.stdin.write(asked[answered]![0].startsWith('[') ? `${answer ?? ''}\r` : (answer ?? 'q'))
        }
        if (serves && (out.match(/\S[^\n]*\n/g)?.length ?? 0) >= expected.lines.length) resolve(read())
      })
      child.on('error', reject)
      child.on('close', () => resolve(read()))
      if (serves) onTestFinished(() => void child.kill())
    })
  }

  async function called({ agent, tool, input }: Called): Promise<string[][]> {
    const name = machines[0]!
    let client = agents.get(agent)
    if (!client) {
      client = await stdioClient(shop(name), {
        name: agent,
        env: { ...envOf(name), TIDEMARK_STATE: join(home(name), '.local/state/tidemark') },
        command: [join(bin, 'tidemark'), 'mcp'],
      })
      agents.set(agent, client)
    }
    return [here((await call(client, tool, input)).text).split('\n')]
  }

  async function chatted({ client, machine, ago, turns }: Chatted): Promise<string[][]> {
    const name = machine || machines[0]!
    const env = envOf(name, ago)
    const at = {
      root: shop(name),
      home: home(name),
      env,
      run: (file, args, more = {}) => ended(file, args, at.root, { ...env, ...more }),
    } as Pick<Machine, 'root' | 'home' | 'env' | 'run'> as Machine
    const model = await (client === 'claude' ? claudes.anthropic() : codexes.responses())
    if (client === 'codex') codexAsks(at, model)
    const read: string[][] = []
    let session: string | undefined
    for (const { prompt, seen, steps } of turns) {
      const first = model.turns.length
      for (const s of steps)
        if ('say' in s) model.next(s)
        else if ('call' in s)
          model.next({ call: toolOf(client, s.call), input: JSON.parse(there(JSON.stringify(s.input))) })
      const ran =
        client === 'claude'
          ? await claude(at, model, there(prompt), session ? ['--resume', session] : [])
          : await codex(at, there(prompt))
      if ('session' in ran) session = ran.session
      const shown = 'lines' in ran ? ran.lines.map(shownBy).join('\n') : ran.out
      for (const _ of seen) read.push(here(shown).split('\n'))
      let turn = first
      for (const s of steps) {
        if ('call' in s) {
          const asked = model.turns[++turn]
          const answers = !asked
            ? []
            : client === 'claude'
              ? claudes.results(asked).map((r) => r.text)
              : codexes.outputs(asked)
          read.push(here(answers.at(-1) ?? 'no answer').split('\n'))
        } else if ('read' in s)
          read.push(here(model.turns[turn] ? plain(model.turns[turn]!.body) : ran.err).split('\n'))
      }
    }
    return read
  }

  return {
    happen: (step) => (step.is === 'typed' ? typed(step) : step.is === 'called' ? called(step) : chatted(step)),
  }
}

const toolOf = (client: 'claude' | 'codex', tool: string): string =>
  /^[A-Z]|^(exec_command|apply_patch)$/.test(tool)
    ? tool
    : client === 'claude'
      ? `mcp__tidemark__${tool}`
      : `mcp__tidemark.${tool}`

/** Every text of what was asked of the model. */
const plain = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : value === null || typeof value !== 'object'
      ? ''
      : Object.values(value).map(plain).join('\n')

/** What Claude Code shows of a hook to the person. */
function shownBy(line: { readonly [key: string]: unknown }): string {
  if (line.type !== 'system' || line.subtype !== 'hook_response') return ''
  try {
    return (JSON.parse(String(line.stdout ?? line.output)) as { systemMessage?: string }).systemMessage ?? ''
  } catch {
    return ''
  }
}
