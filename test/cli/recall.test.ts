import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, git, inProcess, project } from './run.ts'

async function knowing() {
  const { at, run } = await project()
  await run(
    'act',
    JSON.stringify([
      ['record-decision', { name: 'use-sqlite', description: 'Store everything in one SQLite file', impact: 9 }],
      ['record-decision', { name: 'sign-rs256', description: 'Sign tokens with RS256' }],
      ['record-learning', { title: 'The WAL file must not be watched', severity: 'high' }],
      ['record-question', { question: 'Does the hub need Redis?', topics: ['hub'] }],
    ]),
  )
  return { at, run }
}

test('what one process recorded another recalls, in words of its own, explained, within a budget', async () => {
  const { at, run } = await knowing()
  expect(await run('recall', 'where', 'is', 'everything', 'stored?')).toMatch(/^\(decision "use-sqlite" /)
  expect(await run('recall', 'cryptographic signature')).toMatch(
    /^#\| no text here has cryptographic, signature; the nearest: \|#\n\(decision "sign-rs256" /,
  )
  const explained = await run('recall', 'sqlite file', '--explain')
  expect(explained).toMatch(/relevance [\d.]+ × proximity 1\.00 × recency 1\.00 × importance 1\.\d+; .*holds /)
  const json = JSON.parse(await run('recall', 'sqlite file', '--json', '--limit', '1'))
  expect(json.results).toHaveLength(1)
  const [first] = json.results
  expect(Object.keys(first)).toEqual(expect.arrayContaining(['id', 'kind', 'score', 'parts', 'why', 'text']))
  expect(Object.keys(first.parts)).toEqual(['relevance', 'proximity', 'recency', 'importance'])
  expect(typeof json.omitted).toBe('number')
  expect(JSON.parse(await run('recall', 'sqlite', '--budget', '3', '--json')).results).toEqual([])
  expect(await run('recall', 'sqlite', '--budget', '3')).toBe('')
  expect(await run('recall', 'xylophone quartz')).toBe(
    '#| nothing is known of this; `all` looks at what waits, is superseded or retired too |#\n',
  )
  expect(JSON.parse(await run('recall', 'file', '--kind', 'learning', '--json')).results[0].kind).toBe('learning')
  expect((await inProcess(at, ['recall'])).code).toBe(2)
  const refused = await inProcess(at, ['recall', 'x', '--kind', 'decisionz', '--json'])
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.out).error).toMatchObject({
    code: 'bad-argument',
    message: expect.stringContaining(' kind: '),
  })
})

test('[H4] pages that git has answer too, as they are now, before what holds less of the question', async () => {
  const { at, run } = await knowing()
  const page = (said: string) => `# Shop\n\nA shop.\n\n## Open the till\n\nThe key lies in the drawer.\n\n${said}\n`
  files(at.dir, {
    'README.md': page('Turn it left. SQLite runs then.'),
    'docs/other.md': '# Other\n\nThe till of others.\n',
  })
  files(at.dir, { 'vendor/README.md': page('Turn it left, they say.'), 'notes.md': page('Turn it left, said nobody.') })
  files(at.dir, { '.tidemark/view.md': page('Turn it left, says a view.') })
  git(at.dir, 'add', '-f', 'README.md', 'docs', 'vendor', '.tidemark/view.md')
  const found = '(page "Turn it left. SQLite runs then." :at "README.md:5" :section "Shop › Open the till")\n'
  expect(await run('recall', 'which way is the till turned')).toBe(
    `#| pages of the project say, as they are now: |#\n${found.replace('"Turn it left. SQLite runs then."', '"The key lies in the drawer. Turn it left. SQLite runs then."')}`,
  )
  files(at.dir, { 'README.md': page('Turn it right.') })
  const json = JSON.parse(await run('recall', 'which way is the till turned', '--json'))
  expect(json.pages).toEqual([
    { path: 'README.md:5', section: 'Shop › Open the till', text: 'The key lies in the drawer. Turn it right.' },
  ])
  const both = await run('recall', 'sqlite file')
  expect(both).toMatch(/^\(decision "use-sqlite"/)
  expect(await run('recall', 'till', '--kind', 'decision')).not.toContain('(page ')
  await run('import', 'docs', 'README.md')
  const imported = await run('recall', 'which way is the till turned')
  expect(imported).toContain('(chunk ')
  expect(imported).not.toContain(':at "README.md')
})

test('[H4] a single result is told, however long its line is', async () => {
  const { run } = await project()
  const long = '目录的缓存每天晚上填充，每次导入时清空。'.repeat(12)
  await run('act', JSON.stringify([['record-learning', { title: long.slice(0, 90), body: long }]]))
  expect(await run('recall', '目录的缓存', '--limit', '1')).toMatch(/^\(learning /)
})

test('[H1] scopes from the command line: the task that is current, named tasks and goals, presets', async () => {
  const { at, run } = await knowing()
  const s = ['--session', 's1']
  await run('goal', 'start', 'Faster login', ...s)
  await run('task', 'start', 'cache tokens', ...s)
  await run('act', '[["record-learning", {"title": "Tokens are cached for a minute"}]]', ...s)
  const where = async (...args: string[]) =>
    (
      JSON.parse(await run('recall', 'tokens', '--json', ...args)).results as {
        id: string
        parts: { proximity: number }
      }[]
    ).map((r) => [r.id.split(':')[0], r.parts.proximity])
  expect((await where('--scope', 'micro', ...s)).sort()).toEqual([
    ['learning', 1],
    ['task', 1],
  ])
  expect(await where('--preset', 'fresh', ...s)).toEqual(await where('--scope', 'micro', ...s))
  expect(await where(...s)).toContainEqual(['decision', 0.2])
  expect(await where('--scope', 'macro', ...s)).toContainEqual(['decision', 1])
  expect(await where()).toContainEqual(['decision', 1])
  expect(await where('--goal', 'Faster login')).not.toContainEqual(['decision', 1])
  expect(await where('--task', 'cache tokens')).toContainEqual(['decision', 0.2])
  expect((await inProcess(at, ['recall', 'x', '--scope', 'mikro'])).code).toBe(2)
  expect((await inProcess(at, ['recall', 'x', '--scope', 'micro'])).err).toContain('task start')
  expect((await inProcess(at, ['recall', 'x', '--goal', 'no such goal'])).code).toBe(1)
})

test('[H1] a piece of another project is told from the sentence on that answers, as one of this project is', async () => {
  const { at, run } = await project()
  const other = { ...at, dir: `${at.dir}-other` }
  git(at.dir, 'init', '-q', other.dir)
  await inProcess(other, ['init', '--client', 'none', '--yes'])
  const filler = 'It was written for the people who run the service at night. '.repeat(20)
  const page = `# Queries\n\n${filler}\nThe time limit of a query is one second.\n${filler}\n`
  writeFileSync(join(other.dir, 'queries.md'), page)
  await inProcess(other, ['import', 'docs', 'queries.md'])
  const told = await run('recall', 'time limit of a query', '--in', other.dir, '--budget', '90')
  expect(told).toContain('"…The time limit of a query is one second.')
})

test('[H1] other projects are looked into only when they are named', async () => {
  const { at, run } = await knowing()
  const other = { ...at, dir: `${at.dir}-other` }
  git(at.dir, 'init', '-q', other.dir)
  await inProcess(other, ['init', '--client', 'none', '--yes'])
  await inProcess(other, [
    'act',
    '[["record-decision", {"name": "use-zstd", "description": "Compress archives with zstd"}]]',
  ])
  expect(await run('recall', 'compress archives with zstd')).not.toContain('use-zstd')
  const found = JSON.parse(await run('recall', 'compress archives with zstd', '--in', other.dir, '--json'))
  expect(found.results[0]).toMatchObject({ id: 'decision:use-zstd', project: 'project-other' })
  expect(await run('recall', 'compress archives with zstd', '--all-projects')).toContain('in project project-other')
  const { relevance, proximity, recency, importance } = found.results[0].parts
  expect(found.results[0].score).toBe(relevance * proximity * recency * importance)
  await inProcess(other, ['act', '[["retire", {"ref": "use-zstd", "reason": "gzip now"}]]'])
  const retired = ['recall', 'compress archives with zstd', '--in', other.dir]
  expect(await run(...retired)).not.toContain('use-zstd')
  expect(await run(...retired, '--preset', 'debug')).toContain('use-zstd')
  await run(
    'act',
    '[["define-kind", {"name": "recipe", "about": "how to cook", "fields": {"name": {"type": "text", "about": "its name"}}}]]',
  )
  expect(await run(...retired, '--kind', 'recipe')).toContain('nothing is known')
  expect((await inProcess(at, ['recall', 'x', '--in', '/nowhere'])).code).toBe(1)
})

test('the configuration of the project counts, and what is wrong in it is told', async () => {
  const { at, run } = await knowing()
  const { readFileSync, writeFileSync } = await import('node:fs')
  const file = `${at.dir}/.tidemark/config.json`
  const before = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...before, recall: { limit: 1, embedder: { use: 'none' } } }))
  expect(JSON.parse(await run('recall', 'tokens file sqlite', '--json')).results).toHaveLength(1)
  expect(await run('recall', 'cryptographic verification')).toBe(
    '#| nothing is known of this; `all` looks at what waits, is superseded or retired too |#\n',
  )
  writeFileSync(file, JSON.stringify({ ...before, recall: { limt: 1, weights: { task: 'much' } } }))
  const refused = await inProcess(at, ['recall', 'x'])
  expect(refused.code).toBe(1)
  for (const said of ['limt', 'limit', 'weights.task']) expect(refused.err).toContain(said)
})

test('recall in the Scheme, and as of a moment', async () => {
  const { run } = await knowing()
  expect(await run('discover', '(map :name (recall "tokens" :limit 1 :kind \'decision))')).toBe('("sign-rs256")\n')
  expect(await run('discover', '(recall "tokens" :scope \'nowhere)')).toContain('(error "recall')
  expect(await run('discover', '(as-of "2020-01-01" (recall "tokens"))')).toBe('()\n')
  expect(await run('discover', '(:why (car (recall "tokens")))')).toContain('holds token')
})
