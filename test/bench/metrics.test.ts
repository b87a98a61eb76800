import { expect, test } from 'vitest'
import { judge, percentile, summarize } from '../../bench/evaluate/metrics.ts'

const gold = (...ids: string[]) => new Set(ids)

test('one answer in third place', () => {
  expect(judge(['x', 'y', 'a', 'z'], gold('a'))).toEqual({
    'R@1': 0,
    'R@5': 1,
    'R@10': 1,
    'any@5': 1,
    MRR: 1 / 3,
    'nDCG@10': 0.5, // 1 / log2(4), of at best 1
  })
})

test('two of three answers, in places 1 and 6', () => {
  const q = judge(['a', 'v', 'w', 'x', 'y', 'b', 'z'], gold('a', 'b', 'c'))
  expect(q['R@1']).toBeCloseTo(1 / 3)
  expect(q['R@5']).toBeCloseTo(1 / 3)
  expect(q['R@10']).toBeCloseTo(2 / 3)
  expect(q['any@5']).toBe(1)
  expect(q.MRR).toBe(1)
  // (1 + 1 / log2 7) / (1 + 1 / log2 3 + 1 / log2 4) = 1.356207 / 2.130930
  expect(q['nDCG@10']).toBeCloseTo(0.636439, 5)
})

test('an answer after the tenth counts for MRR alone', () => {
  const ranking = [...Array.from({ length: 11 }, (_, i) => `x${i}`), 'a']
  expect(judge(ranking, gold('a'))).toEqual({
    'R@1': 0,
    'R@5': 0,
    'R@10': 0,
    'any@5': 0,
    MRR: 1 / 12,
    'nDCG@10': 0,
  })
})

test('with more answers than ten places, ten in a row are the best order there is', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `g${i}`)
  const q = judge(ids, gold(...ids))
  expect(q['nDCG@10']).toBeCloseTo(1)
  expect(q['R@10']).toBeCloseTo(10 / 12)
})

test('nothing found is nothing', () => {
  expect(Object.values(judge([], gold('a')))).toEqual([0, 0, 0, 0, 0, 0])
})

test('means are over questions, percentiles over their times', () => {
  const asked = [
    { ...judge(['a'], gold('a')), ms: 1 },
    { ...judge(['x'], gold('a')), ms: 3 },
    { ...judge(['a'], gold('a', 'b')), ms: 2 },
    { ...judge(['x', 'a'], gold('a')), ms: 10 },
  ]
  const s = summarize(asked)
  expect(s['R@1']).toBe(0.375)
  expect(s.MRR).toBe(0.625)
  expect(s['any@5']).toBe(0.75)
  expect([s.p50_ms, s.p95_ms]).toEqual([2, 10])
  expect(summarize([]).MRR).toBe(0)
})

test('a percentile is one of the samples', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  expect([percentile(hundred, 0.5), percentile(hundred, 0.95), percentile([7], 0.95)]).toEqual([50, 95, 7])
})
