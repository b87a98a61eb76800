import { expect, test } from 'vitest'
import { findingsIn, principlesIn } from './analyze.ts'

const many = (n: number, of: (i: number) => { path: string; text: string }) =>
  Array.from({ length: n }, (_, i) => of(i))
const said = (found: Awaited<ReturnType<typeof findingsIn>>) => found.map((f) => f.args.description ?? f.args.fact)

test('a base class, a decorator and a factory call that recur are patterns, with count, places and a confidence', async () => {
  const found = await findingsIn([
    ...many(8, (i) => ({ path: `src/errors/e${i}.ts`, text: `export class E${i} extends AppError {}\n` })),
    ...many(2, (i) => ({ path: `src/errors/other${i}.ts`, text: 'export const x = 1\n' })),
    ...many(6, (i) => ({ path: `src/tools/t${i}.ts`, text: `import {a} from './a'\nexport const t${i} = defineTool({})\n` })),
    ...many(6, (i) => ({ path: `api/v${i}.py`, text: `@app.task\ndef f${i}():\n    pass\n\nclass V${i}(BaseView):\n    @property\n    def x(self): pass\n` })),
  ]) // biome-ignore format: a line for each
  expect(said(found)).toEqual(
    expect.arrayContaining([
      'Classes in src/errors extend `AppError`: 8 of 10 files. Follow it when you add one.',
      'Each file in src/tools exports a value made by `defineTool(…)`: 6 of 6 files. Follow it when you add one.',
      'Classes in api extend `BaseView`: 6 of 6 files. Follow it when you add one.',
      'Declarations in api carry `app.task`: 6 of 6 files. Follow it when you add one.',
    ]),
  )
  const errors = found.find((f) => String(f.args.name).startsWith('AppError'))!
  expect(errors).toMatchObject({ verb: 'record-pattern', confidence: 0.64, args: { location: 'src/errors/e0.ts:1' } })
  expect(found.map((f) => f.confidence)).toEqual(found.map((f) => f.confidence).sort((a, b) => b - a))
})

test('what the language brings, tests, copies, bundles and what is deprecated are no patterns', async () => {
  const found = await findingsIn([
    ...many(9, (i) => ({ path: `src/a${i}.ts`, text: 'export class A extends Error {}\n' })),
    ...many(9, (i) => ({ path: `src/b${i}.test.ts`, text: 'export class A extends Fixture {}\n' })),
    ...many(9, (i) => ({ path: `vendor/c${i}.ts`, text: 'export class A extends Copied {}\n' })),
    ...many(9, (i) => ({ path: `src/d${i}.ts`, text: `export class A extends Packed {}${' '.repeat(2000)}\n` })),
    ...many(9, (i) => ({ path: `src/e${i}.ts`, text: 'export class A extends LegacyThing {}\n' })),
    ...many(4, (i) => ({ path: `src/f${i}.ts`, text: 'export class A extends Rare {}\n' })),
  ])
  expect(found.filter((f) => f.verb === 'record-pattern')).toEqual([])
})

test('how files are named, where tests stand, what is thrown and exported are conventions where nearly all agree', async () => {
  const found = await findingsIn([
    ...many(20, (i) => ({
      path: `src/some-thing-${i}.ts`,
      text: 'export const f = () => { throw new UserError() }\n',
    })),
    ...many(20, (i) => ({ path: `src/some-thing-${i}.test.ts`, text: 'test()\n' })),
  ])
  expect(said(found).sort()).toEqual([
    'Name .ts files in kebab-case',
    'Name test files NAME.test.*',
    'Put tests beside the code they test',
    'Throw UserError for errors',
    'Use named exports, not default ones',
  ])
  const mixed = await findingsIn([
    ...many(15, (i) => ({ path: `src/some-thing-${i}.ts`, text: '' })),
    ...many(15, (i) => ({ path: `src/someThing${i}.ts`, text: '' })),
  ])
  expect(mixed).toEqual([])
})

test('what three decisions or documents say alike is a principle; two say too little', () => {
  const all = [
    { id: 'decision:a', text: 'Keep every mechanism replaceable by its users.' },
    { id: 'chunk:b', text: 'Keep each mechanism replaceable by its users' },
    { id: 'decision:c', text: 'We keep every mechanism replaceable by users.' },
    { id: 'decision:d', text: 'Ship on Fridays.' },
    { id: 'decision:e', text: 'Ship on Fridays.' },
  ]
  const found = principlesIn(all)
  expect(found.map((f) => f.evidence)).toEqual(['said by decision:a, chunk:b, decision:c'])
})
