import { expect, test } from 'vitest'
import { openTestMemory } from '../helpers.ts'

test('[G1] (ancestors) gives the task, activity and goal at which something was recorded, or below which it stands', () => {
  const m = openTestMemory()
  m.act([
    ['start-goal', { originalAsk: 'Add login' }],
    ['start-activity', { description: 'tokens' }],
    ['start-task', { description: 'refresh them' }],
    ['record-decision', { name: 'use-jwt', description: 'JWT' }],
  ])
  expect(m.discover('(map :name (ancestors "use-jwt")) (map :name (ancestors "refresh them"))')).toEqual([
    '("refresh them" "tokens" "Add login")',
    '("tokens" "Add login")',
  ])
})

test('[G1] a reference to nothing, a relation that is none, and an option that is none are answered with the nearest', () => {
  const m = openTestMemory()
  m.act([['record-decision', { name: 'use-jwt', description: 'JWT' }]])
  const [nothing, relation, option] = m.discover(
    `(trace "use-jtw") (trace "use-jwt" :relations '(superseded)) (path "use-jwt" "use-jwt" :dept 2)`,
  )
  expect(nothing).toBe('(error "trace: nothing is called \\"use-jtw\\"" :hint "did you mean \\"use-jwt\\"?")')
  expect(relation).toMatch(/^\(error "trace: there is no relation \\"superseded\\"" :hint "did you mean supersede/)
  expect(option).toContain('there is no option :dept')
})

test('[G3] [H5] valid time and recorded time are both asked for, and together', () => {
  const m = openTestMemory({ now: Date.UTC(2026, 2, 1, 9) })
  m.act([
    ['record-decision', { name: 'use-jwt', description: 'JWT', validFrom: '2026-01-01', validTo: '2026-01-31' }],
    ['record-decision', { name: 'use-sessions', description: 'Sessions', validFrom: '2026-02-01' }],
    ['record-decision', { name: 'use-tls', description: 'TLS' }],
    ['link-entities', { from: 'use-jwt', type: 'depends-on', to: 'use-tls' }],
  ])
  m.clock.days(7)
  // told late: in March it becomes known what held in January
  m.act([['record-fact', { fact: 'Tokens live for an hour', validFrom: '2026-01-15', validTo: '2026-01-20' }]])
  expect(
    m.discover(`
      (valid-at "2026-01-16" (map :name (get-decisions)))
      (valid-at "2026-02-02" (map :name (get-decisions)))
      (valid-at "2026-02-02" (map :name (neighbours "use-tls")))
      (valid-at "2026-01-16" (map :name (neighbours "use-tls")))
      (valid-at "2026-01-16" (map :name (search-knowledge "tokens hour")))
      (valid-at "2026-01-16" (as-of "2026-03-01" (length (get-facts))))
      (as-of "2026-03-08" (valid-at "2026-01-16" (map :fact (get-facts))))
      (length (get-decisions))`),
  ).toEqual([
    '("use-jwt" "use-tls")', '("use-sessions" "use-tls")', '()', '("use-jwt")',
    '("Tokens live for an hour")', '0', '("Tokens live for an hour")', '3',
  ])
}) // biome-ignore format: a table

test('[G1] two that constrain each other are linked, with a note that they may conflict', () => {
  const m = openTestMemory()
  for (const name of ['a', 'b']) m.act([['record-decision', { name, description: name }]])
  expect(m.act([['link-entities', { from: 'a', type: 'constrains', to: 'b' }]]).notes).toEqual([])
  const { notes } = m.act([['link-entities', { from: 'b', type: 'constrains', to: 'a' }]])
  expect(notes).toEqual([expect.stringContaining('each of the two constrains the other')])
  m.act([JSON.parse(notes[0]!.slice(notes[0]!.indexOf('["link-entities"')))])
  expect(m.discover(`(map :relation (neighbours "a"))`)).toEqual(['("conflicts-with, constrains, constrained-by")'])
})
