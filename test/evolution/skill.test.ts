import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasStep, stepTexts, withStep } from '../../src/work/evolution/skill.ts'
import { mayBecome, NEXT, type Status, step } from '../../src/work/evolution/status.ts'

test('[P3] every status has its next ones, and the compiler refuses a step that is not in the table', () => {
  expect(step('proposed', 'approved')).toEqual({ from: 'proposed', to: 'approved' })
  // @ts-expect-error nothing is applied that was not approved
  step('proposed', 'applied')
  // @ts-expect-error what was reverted stays so
  step('reverted', 'applied')
  expect(mayBecome('proposed', 'applied')).toBe(false)
  const reached = new Set<Status>(['proposed'])
  for (const from of reached) for (const to of NEXT[from]) reached.add(to)
  expect([...reached].sort()).toEqual(Object.keys(NEXT).sort())
})

test('[P3] the step goes into the execution steps, numbered, wherever they stand', () => {
  const page =
    '# Skill\n\n1. not\n2. these\n\n## Execution steps\n\n1. Build\n   - with care\n2. Push\n\n## After\n\n1. Rest\n'
  expect(withStep(page, 'Test', 'Push')).toBe(page.replace('2. Push', '2. Test\n3. Push'))
  expect(withStep(page, 'Test', 'no such step')).toBe(page.replace('2. Push', '2. Test\n3. Push'))
  expect(withStep(page, 'Test', 'Build')).toBe(page.replace('1. Build\n   - with care\n2. Push', '1. Test\n2. Build\n   - with care\n3. Push')) // biome-ignore format: one line
  expect(withStep('1) A\r\n2) B\r\n', 'T', 'B')).toBe('1) A\r\n2) T\r\n3) B\r\n')
  expect(withStep('1. A\n1. B\n', 'T', 'B')).toBe('1. A\n1. T\n1. B\n')
  expect(withStep('1. A\n\n2. B\n\nEnd.\n', 'T', 'B')).toBe('1. A\n\n2. T\n\n3. B\n\nEnd.\n')
  expect(withStep('```\n1. code\n```\n1. A\n2. B', 'T', 'B')).toBe('```\n1. code\n```\n1. A\n2. T\n3. B')
  // neither a fence of the other kind nor one that is indented as code ends a code sample
  for (const inside of ['```', '    ~~~', '~~'])
    expect(withStep(`~~~\n${inside}\n1. code\n~~~\n1. A\n`, 'T', 'A')).toBe(
      `~~~\n${inside}\n1. code\n~~~\n1. T\n2. A\n`,
    )
  expect(withStep('Do it.', 'T', undefined)).toBe('Do it.\n\n## Execution steps\n\n1. T\n')
  const nine = `${Array.from({ length: 9 }, (_, i) => `${i + 1}. s${i + 1}\n`).join('')}   more\n`
  expect(withStep(nine, 'T', 's9')).toContain('9. T\n10. s9\n    more\n')
})

test('[P3] whatever the page, the step stands in it once and all other lines stay', () => {
  const line = fc.constantFrom(
    '1. a',
    '2. b',
    '3. c',
    '10. j',
    '',
    '   more',
    '# Steps',
    '## Workflow',
    'text',
    '```',
    '- x',
    '1. a',
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 14 }), fc.constantFrom('a', 'b', 'c', undefined), (lines, before) => {
      fc.pre(lines.filter((l) => l === '```').length % 2 === 0) // else all that follows is code
      const text = lines.join('\n')
      const after = withStep(text, 'The new step', before)
      expect(hasStep(text, 'The new step')).toBe(false)
      expect(stepTexts(after).filter((s) => s === 'The new step')).toHaveLength(1)
      const bare = (t: string) => t.split('\n').map((l) => l.trim().replace(/^\d+\. /, '')).filter((l) => l !== '' && l !== '## Execution steps') // biome-ignore format: one line
      const left = bare(after)
      left.splice(left.indexOf('The new step'), 1)
      expect(left).toEqual(bare(text))
    }),
    { numRuns: 500 },
  )
})
