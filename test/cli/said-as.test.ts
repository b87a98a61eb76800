import { expect, test } from 'vitest'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { agreeing, files, inProcess, project } from './run.ts'

const OTHER = 'wrong kind? undo it, then tidemark remember --as KIND …'

testUnless(NO_TERMINAL)(
  '[G7] a sentence becomes the kind that its words say, with its fields; the rules of the briefing hold rules alone',
  async () => {
    const { at, run } = await project()
    files(at.dir, { 'src/auth.ts': 'export function login(password: string) {\n  return password.length >= 14\n}\n' })
    const said = async (sentence: string) => {
      const answer = await agreeing(at, 'remember', sentence)
      const [, kind = '', ref = ''] = /^remembered as (.*) (#[a-f][0-9a-f]{2,})$/m.exec(answer) ?? []
      expect(answer).toContain(OTHER)
      return [kind, JSON.parse(await run('show', ref, '--json'))] as const
    }
    expect(await said('Never log card numbers')).toMatchObject([
      'fact (constraint)',
      { kind: 'fact', fact: 'Never log card numbers', category: 'constraint' },
    ])
    expect(await said('We tried optimistic locking and it lost updates')).toMatchObject([
      'failed-approach',
      { kind: 'failed-approach', approach: 'optimistic locking', outcome: 'it lost updates' },
    ])
    expect(await said('We decided to keep one ledger because the audit reads it')).toMatchObject([
      'decision',
      { kind: 'decision', name: 'keep-one-ledger', rationale: 'the audit reads it' },
    ])
    expect(await said('login() in src/auth.ts takes 14 characters')).toMatchObject([
      'learning about src/auth.ts#login',
      { kind: 'learning', locations: ['src/auth.ts#login'] },
    ])
    expect(await said('the customer pays late')).toMatchObject(['learning', { title: 'the customer pays late' }])
    expect(await said('Should invoices show the tax?')).toMatchObject([
      'question',
      { question: 'Should invoices show the tax?' },
    ])
    expect(await run('questions')).toContain('Should invoices show the tax?')
    const brief = await run('brief')
    const rules = brief.slice(brief.indexOf('## Project Rules')).split(/\n## (?!Project)/)[0]!
    expect(rules.match(/^- .*$/gm)).toEqual(['- Never log card numbers'])

    // a note on code goes stale with the symbol that it speaks of
    expect(await run('explain', 'src/auth.ts')).toContain('takes 14 characters')
    files(at.dir, { 'src/auth.ts': 'export function login(password: string) {\n  return password.length >= 16\n}\n' })
    await run('scan')
    expect(await run('list', 'learning')).toMatch(/takes 14 characters.*stale/)
  },
)

test('--as says the kind whatever the words say; --kind is its older name', async () => {
  const { at, run } = await project()
  for (const [flag, kind, found] of [
    ['--as', 'rule', 'proposed as fact #'],
    ['--as', 'insight', 'remembered as insight #'],
    ['--kind', 'learning', 'remembered as learning #'],
  ] as const) {
    const answer = await run('remember', `deploys happen on Tuesdays, said ${kind}`, flag, kind)
    expect(answer).toContain(found)
    expect(answer).not.toContain(OTHER)
  }
  expect((await inProcess(at, ['remember', 'a', '--as', 'lerning'])).err).toContain('did you mean learning?')
})

test('a list without a kind leaves the pieces of documents out, and says how many there are', async () => {
  const { at, run } = await project()
  files(at.dir, { 'docs/guide.md': '# Guide\n\nStart here.\n\n## Install\n\nnpm i\n' })
  await run('remember', '--as', 'learning', 'Prices are cents')
  await run('import', 'docs', 'docs')
  const all = await run('list')
  expect(all).toContain('Prices are cents')
  expect(all).toContain('without 2 chunks: `tidemark list chunk`')
  expect(all).not.toContain('Start here')
  expect(await run('list', 'chunk')).toContain('Start here')
})
