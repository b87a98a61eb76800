import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shown } from '../../src/scheme/invisible.ts'
import {
  contextText,
  HANDOFF_LINES,
  HANDOFF_PARTS,
  type Handoff,
  handoffPages,
  parseHandoff,
  printHandoff,
} from '../../src/work/handoff/page.ts'

const PAPER = `# Session Handoff
**Written:** 2026-02-16 14:30
**Session context:** 78% used

## In Progress
- Implementing auth middleware (specs/auth.md, step 3 of 7)
- Tests written, 4/12 passing

## Decisions Made
- Chose JWT over session cookies (lighter, stateless)
- Using RS256 not HS256 (key rotation support)

## Blockers
- Keycloak JWKS endpoint returns stale keys (need cache-busting)

## Next Steps
1. Fix JWKS cache issue
2. Complete remaining 8 test cases
3. Run /add:verify
`

const empty: Handoff = { inProgress: [], decisionsMade: [], blockers: [], nextSteps: [] }
const many = (n: number, word: string) => Array.from({ length: n }, (_, i) => `${word} ${i + 1}`)

test('[P4] the page of the concept paper is read and printed byte for byte', () => {
  const read = parseHandoff(PAPER)
  expect(read).toMatchObject({
    written: Date.UTC(2026, 1, 16, 14, 30),
    contextUsed: '78%',
    blockers: ['Keycloak JWKS endpoint returns stale keys (need cache-busting)'],
    nextSteps: ['Fix JWKS cache issue', 'Complete remaining 8 test cases', 'Run /add:verify'],
  })
  expect(read.body).toBeUndefined()
  expect(printHandoff(read)).toBe(PAPER)
})

test('[P4] whatever a handoff says, its page is read back as it was', () => {
  const item = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .map((t) => shown(t).replace(/\s+/g, ' ').trim()) // what goes unseen stands on no page
    .filter((t) => t !== '')
  const list = fc.uniqueArray(item, { maxLength: 8 })
  const handoff = fc.record({ inProgress: list, decisionsMade: list, blockers: list, nextSteps: list })
  fc.assert(
    fc.property(
      handoff,
      fc.option(item, { nil: undefined }),
      fc.option(item.map(contextText), { nil: undefined }),
      fc.option(fc.integer({ min: 0, max: 5e7 }), { nil: undefined }),
      (lists, title, contextUsed, minutes) => {
        const said: Handoff = {
          ...lists,
          ...(title === undefined ? {} : { title }),
          ...(contextUsed === undefined ? {} : { contextUsed }),
          ...(minutes === undefined ? {} : { written: minutes * 60_000 }),
        }
        const page = printHandoff(said)
        expect(parseHandoff(page)).toEqual(said)
        expect(handoffPages(`${page}\n${page}`)).toHaveLength(2)
      },
    ),
  )
})

test('[P4] sections of their own are kept as the body, whatever comes before and after them', () => {
  const page = `# Session Handoff\n\nStill on the branch.\n\n## Notes\n- one\n\n## Next Steps\n1. go on\n`
  const read = parseHandoff(page)
  expect(read).toMatchObject({ body: 'Still on the branch.\n\n## Notes\n- one', nextSteps: ['go on'] })
  expect(parseHandoff(printHandoff(read))).toEqual(read)
})

test('[P4] over 50 lines it is cut, says how much was left out, and keeps the next steps whole', () => {
  const said: Handoff = {
    ...empty,
    inProgress: many(20, 'doing'),
    decisionsMade: many(30, 'decided'),
    nextSteps: many(10, 'then'),
  }
  const page = printHandoff(said)
  const lines = page.trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(HANDOFF_LINES)
  for (const step of said.nextSteps) expect(page).toContain(`. ${step}\n`)
  const shown = parseHandoff(page)
  const left = HANDOFF_PARTS.map(({ field }) => said[field].length - shown[field].length)
  expect(left[3]).toBe(0)
  expect(page).toContain(`(left out to keep it at 50 lines: ${left[0]} of In Progress, ${left[1]} of Decisions Made)`)
  expect(printHandoff(said, 3).trimEnd().split('\n').length).toBeLessThanOrEqual(HANDOFF_LINES)
  const steps = printHandoff({ ...empty, blockers: ['b'], nextSteps: many(90, 'then') })
  expect(steps.trimEnd().split('\n').length).toBeLessThanOrEqual(HANDOFF_LINES)
  expect(steps).toMatch(/left out to keep it at 50 lines: \d+ of Next Steps, 1 of|1 of Blockers, \d+ of Next Steps/)
})

test('[P4] a page written by hand is understood by its headings', () => {
  const read = parseHandoff(
    '# Handoff of Ana\n**Session context**: 81\n## Currently\n* a thing\n  that goes on\n## Decisions\nprose counts\n## Blocked by\n- [ ] x\n## TODO\n1) first\n2) second',
  )
  expect(read).toMatchObject({
    contextUsed: '81%',
    inProgress: ['a thing that goes on'],
    decisionsMade: ['prose counts'],
    blockers: ['[ ] x'],
    nextSteps: ['first', 'second'],
  })
})
