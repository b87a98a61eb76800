import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/** The order of docs/architecture.md: a folder or file imports only from itself and from what stands before it. */
const ORDER = [
  'errors.ts', 'random.ts', 'env.ts', 'secrets', 'files.ts', 'git.ts', 'model', 'scheme', 'log', 'store', 'materialize', 'claims', 'feed', 'read', 'replication', 'write', 'memory.ts',
  'recall', 'graph', 'code', 'coordination', 'handoff', 'evolution', 'briefing', 'sync', 'hub', 'formats', 'ownership', 'discover', 'verbs', 'open.ts', 'tiers', 'hooks', 'clients',
  'library.ts', 'tools', 'surfaces', 'index.ts',
] // biome-ignore format: a list to read at a glance

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

const layerOf = (file: string) => relative(SRC, file).split(sep)[0]!

test('every folder of src has its place in the order', () => {
  expect([...new Set(files.map(layerOf))].filter((l) => !ORDER.includes(l))).toEqual([])
})

test('imports go downward only', () => {
  const upward = imports.filter((i) => ORDER.indexOf(layerOf(i.to)) > ORDER.indexOf(layerOf(i.from)))
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

test('every folder says its job at the top of one of its files', () => {
  const folders = ORDER.filter((l) => files.some((f) => layerOf(f) === l) && !l.endsWith('.ts'))
  const silent = folders.filter(
    (l) => !files.some((f) => layerOf(f) === l && readFileSync(f, 'utf8').startsWith(`/**\n * ${l}: `)),
  )
  expect(silent).toEqual([])
})

test('SQL stands in store/ and hub/ alone', () => {
  const sql =
    /\b(SELECT\s+[\w*(]|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA\s+\w+)/
  const outside = files.filter((f) => !['store', 'hub'].includes(layerOf(f)) && sql.test(readFileSync(f, 'utf8')))
  expect(outside.map((f) => relative(SRC, f))).toEqual([])
})

test('no statement has numbered parameters, which the SQLite of Node 22.16 to 22.19 and 24.0 to 24.6 does not bind', () => {
  const numbered = files.filter((f) => layerOf(f) === 'store' && /[=(,\s]\?\d/.test(readFileSync(f, 'utf8')))
  expect(numbered.map((f) => relative(SRC, f))).toEqual([])
})

test('time and chance are passed in: Date.now and Math.random stand in env.ts and where a process begins', () => {
  const allowed = ['env.ts', 'surfaces', 'store']
  const found = files.filter(
    (f) => !allowed.includes(layerOf(f)) && /\bDate\.now\(|\bMath\.random\(/.test(readFileSync(f, 'utf8')),
  )
  expect(found.map((f) => relative(SRC, f))).toEqual([])
})
