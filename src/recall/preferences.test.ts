import { describe, expect, test } from 'vitest'
import { wishIn } from '../materialize/preference.ts'
import { wishesFor } from './preferences.ts'
import { TUNING } from './relevance.ts'

const lent = (question: string, content: string, speaker: string | null = 'user') =>
  wishesFor(question)?.(wishIn(content, speaker), content.split(' ').length) ?? 0

describe('wishes', () => {
  test('a rule of the user’s is lent something by whatever is asked, not by a question about many things', () => {
    const rule = 'Always name the version when I ask about libraries.'
    expect(lent('Which libraries are used?', rule)).toBe(TUNING.rule)
    expect(lent('When is the deadline?', 'Please never use American dates.')).toBe(TUNING.rule)
    expect(lent('Can you summarize our talks about libraries?', rule)).toBe(0)
    expect(lent('Which libraries are used?', rule, 'assistant')).toBe(0)
    expect(lent('Which libraries are used?', rule, null)).toBe(0)
  })

  test('a word within a sentence is no order, and one in a long text counts less', () => {
    expect(lent('Which libraries?', 'It always worked and I never asked why')).toBe(0)
    const long = `Here is what I did today. ${'I tried another thing. '.repeat(20)} Never mind.`
    expect(lent('Which libraries?', long)).toBeLessThan(TUNING.rule / 2)
  })

  test('a preference matters where counsel or work is asked for, not where a record is', () => {
    const preference = 'I prefer writing in the mornings, can you make me a plan?'
    expect(lent('Can you help me plan my week?', preference)).toBe(TUNING.preference)
    expect(lent('How should I plan my week?', preference)).toBe(TUNING.preference)
    expect(lent('When did I plan my week?', preference)).toBe(0)
    expect(lent('How many plans can you list?', preference)).toBe(0)
    expect(lent('Which plan is the newest?', preference)).toBe(0)
  })
})
