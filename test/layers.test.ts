import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/** The rooms of docs/architecture.md, from the bottom up: a file imports only from its own room and from those below it. */
const ROOMS = [
  'base', 'model', 'scheme', 'engine', 'find', 'work', 'travel', 'project', 'session', 'surfaces', 'index.ts',
] // biome-ignore format: a list to read at a glance

/** Inside a room the same holds for its floors. */
const FLOORS: Record<string, readonly string[]> = {
  base: ['errors.ts', 'random.ts', 'lookup.ts', 'env.ts', 'secrets', 'files.ts', 'git.ts', 'run-git.ts'],
  engine: ['log', 'store', 'materialize', 'claims', 'feed', 'read', 'replication', 'write', 'memory.ts'],
  find: ['recall', 'graph', 'code'],
  work: ['coordination', 'handoff', 'evolution'],
  travel: ['sync', 'hub', 'formats'],
  project: ['ownership', 'discover', 'verbs', 'open.ts', 'tiers'],
  session: ['briefing', 'hooks', 'clients'],
}
const MOST_ENTRIES = 12

interface Import {
  from: string
  to: string
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
  .map((f) => join(SRC, f))

const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  const found: Import[] = []
  for (const m of text.matchAll(/^\s*(?:import|export)\s+(?:type\s+)?(?:[^'"]*?\sfrom\s+)?'(\.[^']+)'/gm))
    found.push({ from: file, to: resolve(dirname(file), m[1]!) })
  for (const m of text.matchAll(/\bimport\('(\.[^']+)'\)/g))
    found.push({ from: file, to: resolve(dirname(file), m[1]!) })
  return found
})

const place = (file: string) => relative(SRC, file).split(sep)
const roomOf = (file: string) => place(file)[0]!
const floorOf = (file: string) => place(file)[1]!
const isIn = (file: string, folder: string) => `${file}${sep}`.startsWith(join(SRC, folder) + sep)

test('src holds its rooms and nothing else, each room its floors', () => {
  expect(readdirSync(SRC).toSorted()).toEqual(ROOMS.toSorted())
  expect(ROOMS.length).toBeLessThanOrEqual(MOST_ENTRIES)
  for (const [room, floors] of Object.entries(FLOORS))
    expect([...new Set(files.filter((f) => roomOf(f) === room).map(floorOf))].toSorted()).toEqual(floors.toSorted())
})

test('imports go downward only', () => {
  const upward = imports.filter((i) => {
    const [from, to] = [roomOf(i.from), roomOf(i.to)]
    if (from !== to) return ROOMS.indexOf(to) > ROOMS.indexOf(from)
    const floors = FLOORS[from]
    return floors !== undefined && floors.indexOf(floorOf(i.to)) > floors.indexOf(floorOf(i.from))
  })
  expect(upward.map((i) => `${relative(SRC, i.from)} → ${relative(SRC, i.to)}`)).toEqual([])
})

test('there are no import cycles, those of types included', () => {
  const next = Map.groupBy(imports, (i) => i.from)
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) {
      cycles.push([...path.slice(path.indexOf(file)), file].map((f) => relative(SRC, f)).join(' → '))
      return
    }
    if (done.has(file)) return
    for (const i of next.get(file) ?? []) visit(i.to, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

test('every floor says its job at the top of one of its files', () => {
  const floors = [
    ...ROOMS.filter((r) => FLOORS[r] === undefined && !r.endsWith('.ts')),
    ...Object.entries(FLOORS).flatMap(([room, names]) =>
      names.filter((n) => !n.endsWith('.ts')).map((n) => `${room}/${n}`),
    ),
  ]
  const silent = floors.filter((floor) => {
    const name = floor.split('/').at(-1)!
    return !files.some(
      (f) =>
        f.startsWith(join(SRC, floor) + sep) &&
        readFileSync(f, 'utf8')
          .replace(/^\/\*\*\n \* /, '/** ')
          .startsWith(`/** ${name}: `),
    )
  })
  expect(silent).toEqual([])
})

/** opencode keeps its sessions in a database with a schema of its own, which our store has nothing to do with. */
const FOREIGN_SCHEMA = 'session/clients/opencode/sessions.ts'

test('SQL stands in engine/store/ and travel/hub/ alone, but for that of another product', () => {
  const sql =
    /\b(SELECT\s+[\w*(]|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA\s+\w+)/
  const outside = files.filter(
    (f) => !isIn(f, 'engine/store') && !isIn(f, 'travel/hub') && sql.test(readFileSync(f, 'utf8')),
  )
  expect(outside.map((f) => relative(SRC, f))).toEqual([FOREIGN_SCHEMA])
})

test('no statement has numbered parameters, which the SQLite of Node 22.16 to 22.19 and 24.0 to 24.6 does not bind', () => {
  const numbered = files.filter((f) => isIn(f, 'engine/store') && /[=(,\s]\?\d/.test(readFileSync(f, 'utf8')))
  expect(numbered.map((f) => relative(SRC, f))).toEqual([])
})

test('time and chance are passed in: Date.now and Math.random stand in env.ts and where a process begins', () => {
  const allowed = ['base/env.ts', 'surfaces', 'engine/store']
  const found = files.filter(
    (f) => !allowed.some((place) => isIn(f, place)) && /\bDate\.now\(|\bMath\.random\(/.test(readFileSync(f, 'utf8')),
  )
  expect(found.map((f) => relative(SRC, f))).toEqual([])
})

test('each file that docs/architecture.md names is there, and each constant stands in the file named with it', () => {
  const page = readFileSync(resolve(SRC, '../docs/architecture.md'), 'utf8')
  const all = files.map((f) => place(f).join('/'))
  const there = (path: string) =>
    existsSync(resolve(SRC, '..', path)) ? resolve(SRC, '..', path) : files[all.findIndex((f) => f === path || f.endsWith(`/${path}`))] // biome-ignore format: a row
  const named = [...page.matchAll(/`([\w./-]+\.tsx?)`/g)]
    .map(([, path]) => path!)
    .filter((p) => !/(?:^|\/)x\.tsx?$/.test(p))
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((path) => !there(path))).toEqual([])
  const constants = [...page.matchAll(/`([A-Z_]{4,})` (?:of|in) `([\w./-]+\.tsx?)`/g)]
  expect(constants.length).toBeGreaterThan(4)
  const lacks = ([, name, path]: string[]) => !readFileSync(there(path!)!, 'utf8').includes(`const ${name}`)
  expect(constants.filter(lacks).map(([text]) => text)).toEqual([])
})
