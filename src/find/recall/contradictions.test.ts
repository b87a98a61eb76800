import { expect, test } from 'vitest'
import { figures, HALVES, judged } from '../../../bench/contradictions.ts'
import { contraryPairs, Vocabulary, vocabularyOf } from './contradictions.ts'

test.each(HALVES)(
  '[H6] of labelled pairs of rules, %s, those that contradict each other are found, and hardly another',
  (half) => {
    const { precision, recall } = figures(half)
    expect(precision).toBeGreaterThanOrEqual(0.9)
    expect(recall).toBeGreaterThanOrEqual(0.8)
  },
)

test('[H6] there are over 200 labelled pairs, and the order of the two does not matter', () => {
  const all = HALVES.flatMap((half) => judged(half))
  expect(all.length).toBeGreaterThanOrEqual(200)
  const vocabulary = new Vocabulary()
  for (const { line, found } of all) {
    const [a = '', b = ''] = line.slice(2).split(' | ')
    expect(contraryPairs([b, a], vocabulary).length > 0, line).toBe(found)
  }
})

test('[H6] a project adds alternatives of its own; what is none does no harm', () => {
  const rules = ['Use the blue cluster for deployments', 'Deploy to the green cluster']
  expect(contraryPairs(rules, new Vocabulary())).toEqual([])
  const own = vocabularyOf({ alternatives: { 'deploy deployments': ['blue cluster', 'green cluster'] } })
  expect(contraryPairs(rules, own)).toEqual([[0, 1]])
  for (const alternatives of [[], 7, { a: 'b' }, { a: [1, null] }, null])
    expect(contraryPairs(rules, vocabularyOf({ alternatives }))).toEqual([])
})

test('[H6] a text that is no sentence costs no more than its length', () => {
  const vocabulary = new Vocabulary()
  for (const text of [
    'never use '.repeat(10_000),
    'x'.repeat(100_000),
    `use ${'a-'.repeat(50_000)}`,
    ', not '.repeat(20_000),
  ])
    expect(contraryPairs([text, text], vocabulary)).toEqual([])
})

test('[H6] however a word ends: what one stemmer told apart and the other did not', () => {
  const vocabulary = new Vocabulary()
  for (const [a, b] of [
    ['Never use global registries', 'Use a global registry'],
    ['We used yarn for installs', 'Use pnpm for installing'],
    ['Never commit generated dependencies', 'Always commit each generated dependency'],
  ] as const)
    expect(contraryPairs([a, b], vocabulary), `${a} | ${b}`).toEqual([[0, 1]])
  expect(contraryPairs(['Tell us of each release', 'Never tell users of a release'], vocabulary)).toEqual([])
})

test('[H6] what is ranked lower is not forbidden: only the opposite order, or what is asked for always, is against it', () => {
  const vocabulary = new Vocabulary()
  const ranked = 'Prefer components over partials'
  for (const other of [
    'Partials: Use underscore prefix (e.g., `_trend_change.html.erb`)',
    'Use Partials when: Element is primarily static HTML with minimal logic',
    'Use partials',
    'Always use partials for static HTML',
    'Prefer components over partials when available',
  ])
    expect(contraryPairs([ranked, other], vocabulary), other).toEqual([])
  for (const other of [
    'Prefer partials over components',
    'Use partials instead of components',
    'Always use partials',
    'Never use components',
  ])
    expect(contraryPairs([ranked, other], vocabulary), other).toEqual([[0, 1]])
  expect(contraryPairs(['You must never use partials', 'Use partials'], vocabulary)).toEqual([[0, 1]])
})
