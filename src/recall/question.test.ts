import { expect, test } from 'vitest'
import { questionTerms } from '../store/terms.ts'
import { asking, isHeading } from './question.ts'
import { TUNING, weigh } from './relevance.ts'

const asks = (question: string) => {
  const terms = questionTerms(question)
  return terms.filter(asking(terms)).map((t) => t.word)
}

test('words of asking are told from what is asked for', () => {
  expect(asks('Can you give me an overview of the budget?')).toEqual(['give', 'overview'])
  expect(asks('List the order in which I brought up garden plans')).toEqual(['list', 'order', 'brought'])
  expect(asks('Which order has an item without a price?')).toEqual([])
})

test('a word of asking counts a little, not nothing', () => {
  const terms = questionTerms('overview budget')
  const { idf, total } = weigh(terms, [3, 3], 100, { spread: 1, heading: false })
  expect(idf[0]! / idf[1]!).toBeCloseTo(TUNING.asking, 10)
  expect(idf[0]).toBeGreaterThan(0)
  expect(total).toBeCloseTo(idf[0]! + idf[1]!, 10)
})

test('a question is told from a heading', () => {
  for (const q of ['Why is it slow?', 'what broke', 'Can you list them', 'tell me more', '为什么？', 'I need a plan'])
    expect(isHeading(q)).toBe(false)
  for (const h of ['dix: fix a leak in ProcFoo', 'token refresh', 'Use RS256', '42', '', '—'])
    expect(isHeading(h)).toBe(true)
})
