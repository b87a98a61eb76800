import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseHandoff } from '../../src/work/handoff/page.ts'
import { readBlocks } from '../../src/work/handoff/views/swarm.ts'
import { project, tidemark } from '../cli/run.ts'

test('[P4] [X6] TC-002: the test-writer claims and finishes, the implementer reads that and picks up', async () => {
  const { at, run } = await project()
  const file = join(at.dir, '.tidemark/swarm-state.md')
  const blocks = () => readBlocks(readFileSync(file, 'utf8')).blocks
  await run('session', 'start', 'writer', '--role', 'test-writer')
  await run('claim', 'specs/auth.md', '--role', 'test-writer', '--session', 'writer')
  expect([...blocks().get('test-writer')!.lines]).toEqual([
    ['status', 'active'],
    ['claimed', 'specs/auth.md'],
  ])
  await run('session', 'start', 'impl', '--role', 'implementer')
  const early = await tidemark(at, ['claim', 'specs', '--role', 'implementer', '--session', 'impl'])
  expect(early.code).toBe(1)
  expect(early.err).toMatch(/specs\/auth\.md is claimed by writer[\s\S]*; --wait 30 waits for it/)
  await run(
    ...['release', '--role', 'test-writer', '--status', 'complete', '--result', '12 tests written, all RED'],
    ...['--handoff', 'ready for implementer', '--session', 'writer'],
  )
  const written = blocks().get('test-writer')!
  expect([...written.lines]).toEqual([
    ['status', 'complete'],
    ['claimed', 'specs/auth.md'],
    ['result', '12 tests written, all RED'],
    ['handoff', 'ready for implementer'],
  ])
  expect(await run('claims')).toContain('12 tests written, all RED')
  const claimed = await run(
    ...['claim', 'tests/auth.test.ts', 'src/auth/', '--role', 'implementer', '--depends-on', 'test-writer'],
    ...['--session', 'impl'],
  )
  expect(claimed).not.toContain('note:')
  expect([...blocks().keys()]).toEqual(['test-writer', 'implementer'])
  expect([...blocks().get('implementer')!.lines]).toEqual([
    ['status', 'active'],
    ['claimed', 'tests/auth.test.ts, src/auth'],
    ['depends-on', 'test-writer'],
  ])
  // an agent that only reads and writes files finishes its block by hand
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(
      'status: active\nclaimed: tests',
      'status: complete\nresult: 12 of 12 green\nclaimed: tests',
    ),
  )
  expect(await run('remember', 'the tests are green')).toContain('taken over: implementer is complete')
  expect(await run('claims')).toContain('12 of 12 green')
})

test('[P4] TC-001: what is left at 80 % of the context is there for the next session', async () => {
  const { at, run } = await project()
  await run('session', 'start', 'first')
  await run('task', 'start', 'auth middleware', '--session', 'first')
  await run('act', '[["record-decision", {"name": "use-jwt", "rationale": "stateless"}]]', '--session', 'first')
  await run(
    'act',
    '[["write-handoff", {"contextUsed": 80, "inProgress": ["step 3 of 7"], "nextSteps": ["fix the JWKS cache"]}]]',
    ...['--session', 'first'],
  )
  await run('session', 'end', 'first')
  await run('session', 'start', 'second')
  const [handoff] = JSON.parse(await run('handoff', 'show', '--json', '--session', 'second')) as { markdown: string }[]
  expect(parseHandoff(handoff!.markdown)).toMatchObject({
    title: 'auth middleware',
    contextUsed: '80%',
    inProgress: ['step 3 of 7'],
    nextSteps: ['fix the JWKS cache'],
  })
  expect(await run('brief', '--session', 'second')).toContain('fix the JWKS cache')
  expect(readFileSync(join(at.dir, '.tidemark/decisions.md'), 'utf8')).toContain(' | use-jwt | stateless\n')
})

test('[P4] many processes at once: each decision has its line, each handoff its page, and nothing counts as an edit', {
  tags: ['long'],
}, async () => {
  const { at } = await project()
  const processes = 6
  const each = 4
  const worker = async (p: number) => {
    for (let i = 0; i < each; i++) {
      const name = `d-${p}-${i}`
      const actions = [
        ['record-decision', { name, rationale: `r ${i}` }],
        ['write-handoff', { nextSteps: [`step ${i}`] }],
      ]
      const ran = await tidemark(at, ['act', JSON.stringify(actions), '--session', `s${p}`])
      expect(ran).toMatchObject({ code: 0, err: '' })
      expect(ran.out).not.toContain('by hand')
    }
  }
  await Promise.all(Array.from({ length: processes }, (_, p) => worker(p)))
  const dir = join(at.dir, '.tidemark')
  const lines = readFileSync(join(dir, 'decisions.md'), 'utf8').trim().split('\n').slice(2)
  const names = lines.map((l) => l.split(' | ')[1]!)
  expect(names.sort()).toEqual(
    Array.from({ length: processes * each }, (_, n) => `d-${Math.floor(n / each)}-${n % each}`).sort(),
  )
  const pages = readFileSync(join(dir, 'handoff.md'), 'utf8')
  expect(pages.match(/^1\. step 3$/gm)).toHaveLength(processes)
  expect(readdirSync(dir).filter((f) => f.includes('edited') || f.startsWith('.new'))).toEqual([])
})

test('[P4] lines that somebody adds by hand while processes write are all recorded, each once', {
  tags: ['long'],
}, async () => {
  const { at, run } = await project()
  const view = join(at.dir, '.tidemark/decisions.md')
  await run('act', '[["record-decision", {"name": "first", "rationale": "r"}]]')
  const worker = async (p: number) => {
    for (let i = 0; i < 4; i++) {
      const name = `d-${p}-${i}`
      const ran = await tidemark(at, ['act', JSON.stringify([['record-decision', { name, rationale: 'r' }]])])
      expect(ran).toMatchObject({ code: 0, err: '' })
      appendFileSync(view, `by-hand-${p}-${i} | of ${p}\n`)
    }
  }
  await Promise.all([0, 1, 2].map(worker))
  await run('remember', 'this is the last word')
  const names = JSON.parse(await run('list', 'decision', '--limit', '100', '--json')) as { name: string }[]
  const wanted = [0, 1, 2].flatMap((p) => [0, 1, 2, 3].flatMap((i) => [`d-${p}-${i}`, `by-hand-${p}-${i}`]))
  expect(names.map((d) => d.name).sort()).toEqual([...wanted, 'first'].sort())
  const lines = readFileSync(view, 'utf8').trim().split('\n').slice(2)
  expect(lines.map((l) => l.split(' | ')[1]!).sort()).toEqual([...wanted, 'first'].sort())
})
