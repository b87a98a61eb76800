import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { drawing } from '../../bench/secrets-set.ts'
import { createProject } from '../../src/engine/store/project.ts'
import { discover } from '../../src/project/discover/discover.ts'
import { openProject } from '../../src/project/open.ts'
import { openMemory } from '../../src/surfaces/library.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { inProcess } from '../cli/run.ts'
import { PATIENT, runHook } from '../hooks/run.ts'
import { call, httpClient, listening, stdioClient } from '../mcp/harness.ts'

const draw = drawing(50)
const token = draw(36)
const password = `Maple${draw(9)}7`
const told = `Maple_${draw(2, 'digit')}${draw(4, 'lower')}`
const letters = `q${draw(15, 'ABCDEFGHabcdefghijkmnopqrstuvwxyz')}`
const pem = [1, 2, 3, 4].map(() => draw(64, 'b64'))

/** Secrets with a part of each that must not be found anywhere. */
const SECRETS: readonly (readonly [name: string, secret: string, part: string])[] = [
  ['a token', `ghp_${token}`, token.slice(4, 24)],
  ['a password by its name', `DB_PASSWORD=${password}`, password],
  ['a connection string of pairs', `Host=db.net;Username=app;Password=${letters};SSL Mode=Require`, letters],
  ['a connection string', `postgres://app:${password}@db.internal:5432/app`, password],
  [
    'a private key',
    `-----BEGIN RSA PRIVATE KEY-----\n${pem.join('\n')}\n-----END RSA PRIVATE KEY-----`,
    pem[2]!.slice(0, 30),
  ],
  ['a password that is told', `the password of the staging box is ${told}, keep it`, told],
]

interface Place {
  dir: string
  home: string
  /** Of the command line and of hooks. */
  env: Record<string, string>
  /** The store, open in this process for as long as `work` runs. */
  open<T>(work: (memory: ReturnType<typeof openProject>) => T): T
  edit(file: string, change: (text: string) => string): void
}

function place(): Place {
  const top = mkdtempSync(join(tmpdir(), 'tidemark-routes-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true, maxRetries: 5 }))
  const [dir, home] = [join(top, 'project'), join(top, 'home')]
  mkdirSync(join(dir, '.git', 'refs', 'heads'), { recursive: true })
  mkdirSync(join(dir, '.git', 'objects'))
  mkdirSync(home)
  writeFileSync(join(dir, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  // this process and those it starts are one user at one machine
  vi.stubEnv('HOME', home)
  vi.stubEnv('TIDEMARK_STATE', join(home, 'state'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { project } = createProject(dir, { name: 'example' })
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    TIDEMARK_STATE: join(home, 'state'),
    ...PATIENT,
  }
  return {
    dir,
    home,
    env,
    open(work) {
      const memory = openProject(project, { unlisted: true, author: { session: 's1' } })
      try {
        return work(memory)
      } finally {
        memory.close()
      }
    },
    edit(file, change) {
      const path = join(dir, '.tidemark', file)
      writeFileSync(path, change(readFileSync(path, 'utf8')))
    },
  }
}

/** Files below a directory that hold a text: as it is, or in base64 at any place of three. */
function holding(top: string, text: string): string[] {
  const shapes = [0, 1, 2].map((skip) => {
    const whole = Buffer.from(text.slice(skip)).toString('base64').replace(/=+$/, '')
    return whole.slice(0, -2)
  })
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => join(f.parentPath, f.name))
    .filter((path) => {
      const bytes = readFileSync(path, 'latin1')
      return [text, ...shapes].some((shape) => bytes.includes(shape))
    })
}

/** A refusal is an answer as well, if it does not say the secret again. */
const saying: string[] = []
function refused<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    saying.push(`${String(error)} ${JSON.stringify(error)}`)
    return undefined
  }
}

const acts = (p: Place, ...actions: readonly (readonly [string, Record<string, unknown>])[]) =>
  p.open((m) => {
    for (const redact of [false, true]) for (const action of actions) refused(() => m.act([action], { redact }))
  })

const hook = (p: Place, event: string, payload: object) =>
  runHook(['claude', event], { session_id: 's1', cwd: p.dir, ...payload }, { cwd: p.dir, env: p.env })

/** By every way in which a text may come to be kept. */
const ROUTES: Readonly<Record<string, (p: Place, secret: string) => unknown>> = {
  'act: fields, lists, structure, keys, intent': (p, x) => {
    acts(
      p,
      ['record-decision', { name: 'd', rationale: x, tags: [x], attrs: { deep: [{ er: x }], [x]: 1 } }],
      ['record-fact', { fact: `use ${x}` }],
      ['propose', { action: ['record-fact', { fact: x }], evidence: x }],
      ['record-fact', { fact: 'f', [x]: x }],
      [x, {}],
    )
    p.open((m) => refused(() => m.act({ intent: x, projectId: x, actions: [['record-fact', { fact: 'a' }]] })))
    p.open((m) => refused(() => m.act({ [x]: x, actions: [] })))
    p.open((m) => refused(() => m.act(`[["record-fact", {"fact": ${JSON.stringify(x)}`)))
  },
  'work tree: titles of goals, activities and tasks; handoffs': (p, x) =>
    acts(
      p,
      ['start-goal', { originalAsk: `goal ${x}`, plan: x }],
      ['start-activity', { description: x }],
      ['add-task', { description: x }],
      ['start-task', { description: x }],
      ['write-handoff', { blockers: [x], nextSteps: x, title: x, body: x }],
    ),
  'kinds and relations of the project': (p, x) =>
    acts(
      p,
      ['define-kind', { name: x, about: x, fields: { name: 'text' } }],
      ['define-kind', { name: 'widget', about: x, fields: { name: 'text', [x]: 'text' } }],
      ['define-relation', { name: 'touches', about: x, inverse: x }],
    ),
  'shared context: keys, values, events': (p, x) =>
    acts(
      p,
      ['share-set', { key: x, value: 1 }],
      ['share-set', { key: 'env', value: { any: [x], [x]: x } }],
      ['share-append', { key: 'log', value: [x] }],
      ['share-merge', { key: 'env', value: { more: x } }],
    ),
  'claims: notes, paths, roles': (p, x) =>
    acts(
      p,
      ['claim', { paths: ['src/a.ts'], note: x }],
      ['claim', { paths: [x] }],
      ['claim', { role: x, dependsOn: [x] }],
    ),
  'sessions: id, agent, role, branch, end, what is kept with them': (p, x) =>
    p.open((m) => {
      const sessions = sessionsOf(m)
      refused(() => sessions.start({ id: x }))
      refused(() => sessions.start({ id: 's1', agent: x, client: x, role: x, branch: x, source: x, user: x }))
      refused(() => sessions.heartbeat(x, { client: x }))
      refused(() => sessions.heartbeat('s2', { client: x, role: x }))
      refused(() => sessions.patch(x, { a: 1 }))
      refused(() => sessions.patch('s1', { later: [x], failing: { k: { command: x } } }))
      refused(() => sessions.edited('s1', /[/\n]/.test(x) ? 'a.ts' : `src/${x}.ts`))
      refused(() => sessions.edited(x, 'src/a.ts'))
      refused(() => sessions.end('s1', x))
    }),
  'definitions of a discover session': (p, x) =>
    p.open((m) => {
      const text = JSON.stringify(x)
      for (const program of [
        `(define k ${text})`,
        `(define (f) ${text})`,
        `(define l (list 1 ${text}))`,
        `(define |${x}| 1)`,
      ])
        saying.push(...discover(m, program, { session: 's1' }).map((said) => (said.startsWith('(error') ? said : '')))
    }),
  'the library': async (p, x) => {
    const lib = await openMemory({ projectPath: p.dir })
    try {
      refused(() => lib.act([['record-fact', { fact: x }]], { session: x, redact: true }))
      refused(() => lib.sessions.start({ role: x }))
    } finally {
      lib.close()
    }
  },
  imports: async (p, x) => {
    const files: Record<string, [format: string, text: string]> = {
      'CLAUDE.md': ['claude-md', `# Rules\n\n- Always use ${x}\n- Never panic\n\n## Keys\n\nprivate_key=${x}\n`],
      'docs.json': [
        'documents',
        JSON.stringify([{ id: 'a', text: `before ${x} after`, session: x, speaker: x, project: x }]),
      ],
      'memory.jsonl': [
        'mcp-memory',
        JSON.stringify({ type: 'entity', name: x, entityType: 'note', observations: [`it is ${x}`, `secret: ${x}`] }),
      ],
      'all.json': [
        'json',
        JSON.stringify({ entities: [{ kind: 'fact', fields: { fact: x, attrs: { password: x } } }] }),
      ],
    }
    for (const [name, [format, text]] of Object.entries(files)) {
      writeFileSync(join(p.home, name), text)
      await p.open((m) => m) // a store is there
      const memory = openProject(createProject(p.dir).project, { unlisted: true })
      try {
        importFrom(memory, format, join(p.home, name), { root: p.dir })
      } catch (e) {
        saying.push(String(e))
      }
      memory.close()
      rmSync(join(p.home, name))
    }
  },
  'the command line': async (p, x) => {
    const at = { dir: p.dir, env: p.env }
    for (const args of [
      ['act', JSON.stringify([['record-fact', { fact: x }]])],
      ['act', '--redact', JSON.stringify([['record-fact', { fact: `use ${x}` }]])],
      ['remember', `always ${x}`, '--redact'],
      ['session', 'start', 's9', '--role', x],
      ['session', 'start', x],
      ['session', 'heartbeat', x],
      ['claim', 'src/**', '--note', x, '--session', 's9'],
      ['task', 'add', `use ${x}`],
      ['share', 'set', 'k', x],
      ['discover', '--session', 's9', `(define k ${JSON.stringify(x)})`],
    ])
      await inProcess(at, args)
  },
  'MCP: a tool, and what the client calls itself': async (p, x) => {
    const name = x.replaceAll('\n', ' ')
    const client = await stdioClient(p.dir, { name, env: p.env })
    const answer = await call(client, 'act', { actions: [['record-fact', { fact: x }]] })
    saying.push(answer.text)
    await call(client, 'act', { actions: [['record-fact', { fact: `use ${x}` }]], redact: true })
    await call(client, 'discover', { program: `(define k ${JSON.stringify(x)})` })
    await client.close()
  },
  'HTTP: a tool, MCP': async (p, x) => {
    const server = await listening({ projectPath: p.dir })
    const post = (tool: string, body: object) =>
      fetch(`${server.url}/api/tools/${tool}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    saying.push(await (await post('act', { actions: [['record-fact', { fact: x }]] })).text())
    await post('act', { actions: [['share-set', { key: 'k', value: x }]], redact: true, session: x })
    const client = await httpClient(`${server.url}/mcp`, server.token, { name: x.replaceAll('\n', ' ') })
    await call(client, 'act', { actions: [['record-fact', { fact: `use ${x}` }]], redact: true })
    await client.close()
    await server.close()
  },
  'hooks: prompts, commands that fail, edits, subagents, transcripts, reasons': async (p, x) => {
    await hook(p, 'SessionStart', { source: 'startup' })
    await hook(p, 'UserPromptSubmit', { prompt: `Always use ${x} for the staging database. Never tell anybody.` })
    const failing = {
      tool_name: 'Bash',
      tool_input: { command: `deploy --key '${x}' now` },
      error: `refused: ${x}\nend`,
    }
    for (let n = 0; n < 3; n++) await hook(p, 'PostToolUseFailure', failing)
    await hook(p, 'PostToolUse', {
      tool_name: 'Edit',
      tool_use_id: 't1',
      tool_input: { file_path: join(p.dir, /[/\n]/.test(x) ? 'a.ts' : `src/${x}.ts`) },
    })
    await hook(p, 'SubagentStart', { agent_id: 'a1', agent_type: x })
    await hook(p, 'PreCompact', { trigger: x, custom_instructions: x })
    await hook(p, 'Stop', { last_assistant_message: `I used ${x}. Decision: we keep ${x} in the vault.` })
    await hook(p, 'SessionEnd', { reason: x })
    await hook(p, 'SessionStart', { session_id: x, source: x })
    await hook(p, 'UserPromptSubmit', { session_id: x, prompt: 'Always squash.' })
  },
  'hand edits of views': (p, x) => {
    p.open((m) => {
      m.act([
        ['start-task', { description: 'mend the login' }],
        ['write-handoff', { nextSteps: ['go on'], blockers: ['half done'] }],
      ])
      const { project } = createProject(p.dir)
      refreshViews(m, project)
      p.edit('handoff.md', (text) => text.replace('half done', `half done, with ${x}`).concat(`\n${x}\n`))
      refused(() => readEdits(m, project))
      refused(() => refreshViews(m, project))
      m.act([['record-decision', { name: 'later' }]])
      refused(() => readEdits(m, project))
      refused(() => refreshViews(m, project))
    })
    rmSync(join(p.dir, '.tidemark', 'handoff.md'), { force: true }) // what the person wrote there is theirs, if it is still there
  },
}

/** Routes that start a process for each thing said: `npm test` takes another secret by each of them, not all. */
const SLOW = Object.keys(ROUTES).filter((route) => /^(the command line|MCP|hooks)/.test(route))

for (const [route, go] of Object.entries(ROUTES))
  for (const [n, [what, secret, part]] of SECRETS.entries()) {
    const isLong = SLOW.includes(route) && n !== SLOW.indexOf(route)
    const title = `[A7] [T53] ${route}: ${what} is kept nowhere, and told by no refusal`
    test(title, { tags: isLong ? ['long'] : [] }, async () => {
      const p = place()
      saying.length = 0
      await go(p, secret)
      p.open((m) => m.act([['record-fact', { fact: 'a fact to find' }]]))
      expect(holding(dirname(p.dir), 'a fact to find')).not.toEqual([])
      expect(holding(dirname(p.dir), part)).toEqual([])
      expect(saying.filter((said) => said.includes(part))).toEqual([])
    })
  }
