// @module-tag long
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { waitingChanges } from '../../src/engine/replication/waiting.ts'
import { markStore } from '../../src/engine/store/owner.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { BIN, files, git } from '../cli/run.ts'
import { answers as answersOfOld } from '../compat/answers.ts'
import { frozen } from '../compat/frozen.ts'
import { dump, folded, read, seeded } from './harness.ts'

/** How many commands are killed in all; a few of each unless told otherwise. */
const KILLS = Number(process.env.TIDEMARK_KILLS ?? 16)
const SEED = Number(process.env.TIDEMARK_SEED ?? 3)
/** Calls by which a process changes files. */
const CALLS = ['write', 'pwrite64', 'fsync', 'fdatasync', 'rename', 'unlink', 'link', 'ftruncate', 'mkdir', 'rmdir']
const SECRET = 'the-name-that-had-to-go'
const FORMER = 'another-name-that-went-before'

const random = seeded(SEED)
const below = (n: number) => new DataView(random(4).buffer).getUint32(0) % n

let top: string
let template: string
let shared: string
let asked: string
let templateHome: string
/** Every run happens here, so that nothing depends on the path. */
let dir: string
let home: string
let env: NodeJS.ProcessEnv

interface Ran {
  code: number | null
  out: string
  err: string
}

/** What is run: the CLI, or a script of the library's. */
const program = (args: readonly string[]) => (args[0] === '-e' ? args : [BIN, ...args])

function run(args: readonly string[], before: readonly string[] = []): Ran {
  const [command = '', ...rest] = [...before, process.execPath, ...program(args)]
  const done = spawnSync(command, rest, { cwd: dir, env, encoding: 'utf8' })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

/** Whether strace can look into processes here. */
const traceable = spawnSync('strace', ['-f', '-qq', '-e', 'trace=none', 'true']).status === 0

const straced = (log: string, inject: readonly string[]) => [
  'strace',
  '-f',
  '-qq',
  '-o',
  log,
  '-e',
  `trace=${CALLS.join(',')}`,
  ...inject.flatMap((i) => ['-e', i]),
]

/** How often the main thread of a command makes each call that changes files. */
function countCalls(args: readonly string[]): Map<string, number> {
  const log = join(top, 'trace')
  const done = run(args, straced(log, []))
  expect(done.code, done.err).toBe(0)
  const counts = new Map<string, number>()
  const lines = readFileSync(log, 'utf8').split('\n')
  const main = lines[0]!.split(/\s/)[0]
  for (const line of lines) {
    const [, pid, call = ''] = /^(\d+)\s+(\w+)\(/.exec(line) ?? []
    if (pid === main && CALLS.includes(call)) counts.set(call, (counts.get(call) ?? 0) + 1)
  }
  return counts
}

function randomKill(args: readonly string[], within: number): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, program(args), { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (d) => (out += d))
    child.stderr.on('data', (d) => (err += d))
    setTimeout(() => child.kill('SIGKILL'), below(Math.max(1, Math.round(within * 1000))) / 1000)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

/** Everything below a directory but git's own files, with what it holds. */
function tree(of: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const f of readdirSync(of, { recursive: true, encoding: 'utf8' })) {
    const path = join(of, f)
    if ((f.startsWith('.git/') && !f.startsWith('.git/tidemark')) || !statSync(path).isFile()) continue
    found[f] = readFileSync(path, 'base64')
  }
  return found
}

const storePath = () => join(dir, '.git/tidemark/store.db')

/** What a store knows; undefined where opening refuses it. It has to be sound. */
function knowledge(): { facts: string[]; all: string } | UserError {
  let memory: ReturnType<typeof openProject>
  try {
    memory = openProject(findProject(dir))
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  try {
    expect(memory.faults()).toEqual([])
    expect(folded(memory)).toEqual(read(memory))
    return {
      facts: memory.reader
        .list('fact')
        .map((e) => e.name)
        .sort(),
      all: JSON.stringify(dump(memory)),
    }
  } finally {
    memory.close()
  }
}

const known = () => {
  const now = knowledge()
  if (now instanceof UserError) throw now
  return now
}

interface Scenario {
  /** Besides those of the template. */
  prepare?(): void
  args(): string[]
  /** After a kill: throws if anything is wrong. `before` is what was known before, `done` after an undisturbed run. */
  check(killed: Ran, before: Known, done: Known): void
}
type Known = ReturnType<typeof knowledge>

const factsOf = (k: Known) => (k instanceof UserError ? [] : k.facts)

/** Old or new, sound, nothing acknowledged lost; run again it is new. */
function oldOrNew(killed: Ran, args: readonly string[], before: Known, done: Known): void {
  const now = known()
  expect([factsOf(before), factsOf(done)]).toContainEqual(now.facts)
  if (/"batch":"[^"]/.test(killed.out)) expect(now.facts).toEqual(factsOf(done))
  const again = run(args)
  expect(again.code, again.err).toBe(0)
  expect(known().facts).toEqual(factsOf(done))
}

const sameAnswers =
  (args: string[]): Scenario['check'] =>
  (_killed, before, _done) => {
    expect(known().all).toBe(before instanceof UserError ? '' : before.all)
    const again = run(args)
    expect(again.code, again.err).toBe(0)
    expect(known().all).toBe(before instanceof UserError ? '' : before.all)
  }

let removing: string[]
const ACT = ['act', '[["record-fact",{"fact":"the new one","category":"tool"}]]', '--json']
/** What a person does, in a process without a terminal. */
const asPerson = (actions: object) => [
  '-e',
  `import(${JSON.stringify(join(dirname(BIN), '../dist/index.js'))}).then(({ openMemory }) => {
    const memory = openMemory({ projectPath: '.' })
    const { batch } = memory.act(${JSON.stringify(actions)})
    console.log(JSON.stringify({ batch }))
    memory.close()
  })`,
]
const PURGE = asPerson([['purge', { ref: `fact:${SECRET}`, reason: 'it is secret' }]])
const COMPACT = ['doctor', '--compact', '2099-01-01', '--json']
const REBUILD = ['doctor', '--rebuild', '--json']
const RESTORE = ['doctor', '--restore', '--json']
const INIT = ['init', '--client', 'claude', '--yes']
const SYNC = ['sync', '--json']
const ASKED = 'what a teammate wants erased'
const AGREE = asPerson([['confirm', { ref: `fact:${ASKED.replaceAll(' ', '-')}` }]])
/** How often the store and its files say what a teammate wants erased. */
const holdingAsked = (): string[] =>
  readdirSync(join(dir, '.git/tidemark'), { recursive: true, encoding: 'utf8' }).filter((f) => {
    const path = join(dir, '.git/tidemark', f)
    return statSync(path).isFile() && readFileSync(path).includes(ASKED)
  })
const waits = (): string[] => {
  using memory = openProject(findProject(dir))
  return waitingChanges(memory.db).all.map((w) => w.wants)
}

const SCENARIOS: Record<string, Scenario> = {
  act: {
    args: () => ACT,
    check: (killed, before, done) => oldOrNew(killed, ACT, before, done),
  },
  purge: {
    args: () => PURGE,
    check(killed, before, done) {
      const now = known()
      expect([factsOf(before), factsOf(done)]).toContainEqual(now.facts)
      const erased = /"batch":"[^"]/.test(killed.out)
      if (erased) expect(now.facts).toEqual(factsOf(done))
      // a second one completes the first: what is erased already may be refused as unknown
      run(PURGE)
      run(['doctor'])
      expect(known().facts).toEqual(factsOf(done))
      for (const f of readdirSync(join(dir, '.git/tidemark'), { recursive: true, encoding: 'utf8' })) {
        const path = join(dir, '.git/tidemark', f)
        if (statSync(path).isFile()) expect(readFileSync(path).includes(SECRET), f).toBe(false)
      }
    },
  },
  compact: { args: () => COMPACT, check: sameAnswers(COMPACT) },
  rebuild: { args: () => REBUILD, check: sameAnswers(REBUILD) },
  restore: {
    prepare() {
      const store = readFileSync(storePath())
      store.fill(0xa5, 8192, 8192 + 4096 * 3)
      writeFileSync(storePath(), store)
    },
    args: () => RESTORE,
    check(_killed, _before, done) {
      // until it is finished the store is the damaged one, or none that can be opened: never an empty one
      try {
        const memory = openProject(findProject(dir))
        const isDamaged = memory.faults().length > 0
        memory.close()
        if (!isDamaged) expect(known().facts).toEqual(factsOf(done))
      } catch (error) {
        if (!(error instanceof UserError)) throw error
      }
      const again = run(RESTORE)
      expect(again.code, again.err).toBe(0)
      expect(known().facts).toEqual(factsOf(done))
      expect(readdirSync(dirname(storePath())).filter((f) => f.includes('restoring'))).toEqual([])
    },
  },
  'restore from git': {
    prepare() {
      rmSync(dir, { recursive: true })
      cpSync(shared, dir, { recursive: true })
    },
    args: () => RESTORE,
    check(killed, _before, done) {
      // what stands in its place at any moment is the damaged store, or one that loses nothing to what it comes to
      let isSound = false
      try {
        const memory = openProject(findProject(dir))
        isSound = memory.faults().length === 0
        memory.close()
      } catch (error) {
        if (!(error instanceof UserError)) throw error
      }
      // a sound one comes to the rest by itself, at the next sync
      const again = run(isSound && killed.out.length % 2 === 0 ? ['sync', '--json'] : RESTORE)
      expect(again.code, again.err + again.out).toBe(0)
      run(['doctor'])
      expect(known().facts).toEqual(factsOf(done))
      expect(factsOf(done)).toHaveLength(41) // with the line of CLAUDE.md
      expect(
        run(['list', 'observation'])
          .out.split('\n')
          .filter((line) => line.includes('seen by me')),
      ).toHaveLength(4)
      for (const of of [dirname(storePath()), join(dir, '.tidemark')])
        for (const [f, bytes] of Object.entries(tree(of))) {
          expect(f).not.toContain('restoring')
          for (const word of [SECRET, FORMER]) expect(Buffer.from(bytes, 'base64').includes(word), f).toBe(false)
        }
    },
  },
  'an erasure that others ask for': {
    prepare: () => asAsked(),
    args: () => SYNC,
    check(_killed, before, done) {
      for (const now of [known(), done, before]) expect(factsOf(now)).toContain(ASKED)
      expect(run(SYNC).code).toBe(0)
      expect(known().facts).toEqual(factsOf(done))
      expect(waits()).toEqual(['asks to erase it'])
      expect(holdingAsked()).not.toEqual([])
    },
  },
  'the yes to it': {
    prepare() {
      asAsked()
      expect(run(SYNC).code).toBe(0)
    },
    args: () => AGREE,
    check(killed, before, done) {
      const now = known()
      expect([factsOf(before), factsOf(done)]).toContainEqual(now.facts)
      if (/"batch":"[^"]/.test(killed.out)) expect(now.facts).not.toContain(ASKED)
      if (now.facts.includes(ASKED)) expect(run(AGREE).code).toBe(0)
      run(['doctor'])
      expect(known().facts).toEqual(factsOf(done))
      expect(waits()).toEqual([])
      expect(holdingAsked()).toEqual([])
    },
  },
  migrate: {
    prepare() {
      rmSync(dirname(storePath()), { recursive: true })
      mkdirSync(dirname(storePath()))
      writeFileSync(storePath(), frozen('store-schema-15.db.gz').bytes)
      const db = new DatabaseSync(storePath(), { readOnly: true })
      const id = String(db.prepare("SELECT value FROM meta WHERE key='project'").get()!.value)
      db.close()
      const config = join(dir, '.tidemark/config.json')
      writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), id }))
      markStore(storePath(), id)
    },
    args: () => ['list', '--json'],
    check() {
      const memory = openProject(findProject(dir))
      try {
        expect(memory.faults()).toEqual([])
        expect(JSON.parse(JSON.stringify(answersOfOld(memory)))).toEqual(frozen('store-schema-15.db.gz').expected)
      } finally {
        memory.close()
      }
    },
  },
  init: {
    prepare() {
      rmSync(dir, { recursive: true })
      makeForeign()
    },
    args: () => INIT,
    check(_killed, _before, done) {
      const again = run(INIT)
      expect(again.code, again.err + again.out).toBe(0)
      expect(known().facts).toEqual(factsOf(done))
      const gone = run(removing)
      expect(gone.code, gone.err).toBe(0)
      expect(Object.keys(tree(dir)).sort()).toEqual(Object.keys(foreign).sort())
      expect(tree(dir)).toEqual(foreign)
    },
  },
  uninstall: {
    prepare() {
      rmSync(dir, { recursive: true })
      makeForeign()
      run(INIT)
      run(ACT)
      writeFileSync(join(dirname(storePath()), 'mine.txt'), 'not of Tidemark')
    },
    args: () => removing,
    check() {
      const again = run(removing)
      // done already, or done now; `no project` is how a second one says that nothing is left
      expect([0, 1], again.err).toContain(again.code)
      const mine = relative(dir, join(dirname(storePath()), 'mine.txt'))
      expect(tree(dir)).toEqual({ ...foreign, [mine]: Buffer.from('not of Tidemark').toString('base64') })
    },
  },
}

let foreign: Record<string, string>

/** A damaged store with all that may lie around it, and its knowledge in git, where it is erased already. */
function makeShared(): void {
  rmSync(dir, { recursive: true })
  makeForeign()
  expect(run(['init', '--client', 'none', '--yes']).code).toBe(0)
  const inStore = (body: (memory: ReturnType<typeof openProject>) => void) => {
    using memory = openProject(findProject(dir), { author: { session: 'before' } })
    body(memory)
  }
  const say = (memory: ReturnType<typeof openProject>, from: number, to: number) => {
    for (let i = from; i < to; i++)
      memory.act([
        ['record-fact', { fact: `fact ${i} ${'x'.repeat(200)}`, category: 'tool' }],
        ...(i % 10 === 0 ? [['record-observation', { what: `seen by me, ${i}` }]] : []),
      ])
  }
  const store = storePath()
  const copyTo = (memory: ReturnType<typeof openProject>, name: string) =>
    memory.db.raw.prepare('VACUUM INTO ?').run(join(dirname(store), name))
  const sync = () => {
    expect(run(['sync', '--json']).code).toBe(0)
    git(dir, 'add', '-A')
    git(dir, 'commit', '-qm', 'knowledge')
  }
  inStore((memory) => {
    memory.act([['record-fact', { fact: FORMER }]])
    say(memory, 0, 20)
    copyTo(memory, 'before-the-first')
    memory.act([['purge', { ref: `fact:${FORMER}`, reason: 'secret' }]])
    memory.act([['record-fact', { fact: SECRET }]])
    memory.maintain()
    say(memory, 20, 40)
  })
  sync()
  inStore((memory) => {
    copyTo(memory, 'before-the-second')
    // of this the store will not know
    memory.act([['purge', { ref: `fact:${SECRET}`, reason: 'secret' }]])
  })
  sync()
  for (const f of readdirSync(dirname(store))) if (/^store\.db(?!\.owner)/.test(f)) rmSync(join(dirname(store), f))
  renameSync(join(dirname(store), 'before-the-first'), `${store}.damaged-7`)
  renameSync(join(dirname(store), 'before-the-second'), store)
  const db = new DatabaseSync(store)
  db.exec(`UPDATE log SET line=zeroblob(99) WHERE seq%3=0; DELETE FROM events WHERE seq%6=0; PRAGMA journal_mode=WAL`)
  db.close()
}

const asAsked = (): void => {
  rmSync(dir, { recursive: true })
  cpSync(asked, dir, { recursive: true })
}

/** A project that knows a fact, and a segment of a teammate, who asks that it is erased. */
function makeAsked(): void {
  makeForeign()
  expect(run(['init', '--client', 'none', '--yes']).code).toBe(0)
  const project = findProject(dir)
  const inStore = (body: (memory: ReturnType<typeof openProject>) => void) => {
    using memory = openProject(project, { author: { session: 'before' } })
    body(memory)
  }
  inStore((memory) =>
    memory.act([
      ['record-fact', { fact: ASKED }],
      ['record-fact', { fact: 'ours' }],
    ]),
  )
  expect(run(SYNC).code).toBe(0)
  const mine = [join(dirname(storePath())), home].map((from, i) => {
    const to = join(top, `mine-${i}`)
    renameSync(from, to)
    return [to, from] as const
  })
  mkdirSync(home)
  expect(run(SYNC).code).toBe(0)
  inStore((memory) => memory.act([['purge', { ref: `fact:${ASKED.replaceAll(' ', '-')}`, reason: 'not to be here' }]]))
  expect(run(SYNC).code).toBe(0)
  for (const [to, from] of mine) {
    rmSync(from, { recursive: true })
    renameSync(to, from)
  }
}

/** A repository as people have them, with files of their own. */
function makeForeign(): void {
  mkdirSync(dir, { recursive: true })
  git(dir, 'init', '-q')
  files(dir, { 'README.md': '# mine\n', 'CLAUDE.md': 'Always use pnpm.\n', '.mcp.json': '{\n  "mcpServers": {}\n}\n' })
  foreign = tree(dir)
}

beforeAll(() => {
  top = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tidemark-kills-'))
  dir = join(top, 'project')
  home = join(top, 'home')
  template = join(top, 'template')
  shared = join(top, 'shared')
  asked = join(top, 'asked')
  templateHome = join(top, 'template-home')
  mkdirSync(home)
  // what the test does in its own process it does as the same user of the same machine
  vi.stubEnv('TIDEMARK_STATE', join(home, '.local/state/tidemark'))
  env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, TIDEMARK_USER: 'tester' }
  makeForeign()
  expect(run(['init', '--client', 'none', '--yes']).code).toBe(0)
  removing = [
    'uninstall',
    '--delete-knowledge',
    ...(run(['uninstall', '--help']).out.includes('--yes') ? ['--yes'] : []),
  ]
  const memory = openProject(findProject(dir), { author: { session: 'before' } })
  for (let i = 0; i < 25; i++)
    memory.act([
      ['record-fact', { fact: `fact ${i} ${'x'.repeat(300)}`, category: 'tool' }],
      ['record-principle', { name: 'shared', evidence: [`saw ${i}`] }],
    ])
  memory.act([['record-fact', { fact: SECRET }]])
  memory.maintain()
  for (let i = 25; i < 35; i++) memory.act([['record-fact', { fact: `fact ${i}`, category: 'tool' }]])
  memory.close()
  cpSync(dir, template, { recursive: true })
  makeShared()
  renameSync(dir, shared)
  makeAsked()
  renameSync(dir, asked)
  cpSync(home, templateHome, { recursive: true })
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(top, { recursive: true, force: true })
})

const names = Object.keys(SCENARIOS)
const each = Math.max(1, Math.round(KILLS / names.length))

test.for(names)(
  `[T77] [A8] %s, killed at its writes and at random: nothing acknowledged is lost, no bad state (${each} kills, seed ${SEED})`,
  {
    timeout: 60_000 + each * 20_000,
  },
  async (name, context) => {
    const s = SCENARIOS[name]!
    const fresh = () => {
      rmSync(dir, { recursive: true, force: true })
      rmSync(home, { recursive: true, force: true })
      cpSync(templateHome, home, { recursive: true })
      cpSync(template, dir, { recursive: true })
      s.prepare?.()
    }
    fresh()
    const hasNone = ['migrate', 'init', 'restore', 'restore from git'].includes(name)
    const before = hasNone ? new UserError('none', '') : knowledge()
    const begun = performance.now()
    const plain = run(s.args())
    const took = performance.now() - begun
    expect(plain.code, plain.err + plain.out).toBe(0)
    const done: Known = name === 'uninstall' ? before : knowledge()
    fresh()
    const calls = traceable ? [...countCalls(s.args())] : []
    const points = calls.flatMap(([call, n]) => Array.from({ length: n }, (_, i) => [call, i + 1] as const))
    let killed = 0
    for (let i = 0; i < each; i++) {
      fresh()
      const atRandom = points.length === 0 || i % 4 === 3
      // every call as often as the others, though most are writes
      const call = calls[below(calls.length)]?.[0]
      const of = points.some(([c]) => c === call) ? points.filter(([c]) => c === call) : points
      const point = atRandom ? undefined : of[below(of.length)]
      if (point) points.splice(points.indexOf(point), 1)
      const ran = point
        ? run(s.args(), straced('/dev/null', [`inject=${point[0]}:signal=KILL:when=${point[1]}`]))
        : await randomKill(s.args(), took * 1.1)
      if (ran.code === null || ran.code > 128) killed++
      try {
        s.check(ran, before, done)
      } catch (error) {
        throw new Error(`${name} killed at ${point ? point.join(' ') : 'random'}: ${(error as Error).stack}`)
      }
    }
    process.stderr.write(
      `[T77] ${name}: ${killed} of ${each} ended by the kill, ${calls.map(([c, n]) => `${n} ${c}`).join(', ')}\n`,
    )
    if (!traceable) context.annotate('strace is not here, or may not trace: killed at random times alone')
  },
)
