import { describe, expect, test } from 'vitest'
import { lookAt, type Signal, signalsOf } from '../../src/find/graph/signals/index.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const signals = (m: TestMemory): Signal[] => signalsOf(lookAt(m.memory, m.project))
const lines = (m: TestMemory) => signals(m).map((s) => s.line)
const decide = (m: TestMemory, name: string, description: string, more: Record<string, unknown> = {}) =>
  m.act([['record-decision', { name, description, ...more }]])
const link = (m: TestMemory, from: string, type: string, to: string, more: Record<string, unknown> = {}) =>
  m.act([['link-entities', { from, type, to, ...more }]])
const except = (m: TestMemory, ruleBroken: string, justification: string, more: Record<string, unknown> = {}) =>
  String(m.act([['record-exception', { ruleBroken, justification, ...more }]]).results[0]!.id)

describe('signals', () => {
  test('[G5] nothing is noticed where there is nothing', () => {
    expect(signals(openTestMemory())).toEqual([])
  })

  test('[G5] two exceptions to one rule, in its words or linked to it; one is none', () => {
    const m = openTestMemory()
    const rule = String(m.act([['record-fact', { fact: 'Use async for I/O' }]]).results[0]!.id)
    except(m, 'Use async for I/O', 'start-up reads one file')
    except(m, 'every change has a test', 'generated code')
    expect(lines(m)).toEqual([])
    except(m, 'use async for I/O', 'the command line ends at once')
    except(m, 'Use async for I/O.', 'tests')
    const other = except(m, 'no waiting', 'migrations')
    link(m, other, 'contradicts', rule)
    except(m, 'Use async for I/O', 'somebody proposed it', { standing: 'proposed' })
    const [found, ...rest] = signals(m)
    expect(rest).toEqual([])
    expect(found).toMatchObject({
      type: 'exceptions',
      line: '⚠️ "Use async for I/O" has 4 exceptions — consider revising rule or documenting exceptions',
      next: `tidemark show ${rule}`,
    })
    expect(found!.entities).toHaveLength(5)
    expect(found!.evidence).toContain('start-up reads one file')
  })

  test('[G5] a decision that was replaced twice is an evolution, with its topic', () => {
    const m = openTestMemory()
    for (const name of ['JWT', 'refresh tokens', 'session management']) decide(m, name, `${name} for the API login`)
    m.act([['supersede', { old: 'JWT', new: 'refresh tokens' }]])
    expect(lines(m)).toEqual([])
    m.act([['supersede', { old: 'refresh tokens', new: 'session management' }]])
    expect(signals(m)).toMatchObject([
      {
        type: 'evolution',
        line: '📈 Auth decisions: JWT → refresh tokens → session management (3-step evolution)',
        next: 'tidemark trace decision:session-management',
      },
    ])
  })

  test('[G5] similar approaches that failed twice', () => {
    const m = openTestMemory()
    const fail = (approach: string, outcome: string, lesson?: string) =>
      m.act([['record-failed-approach', { approach, outcome, ...(lesson && { lesson }) }]])
    fail('Redis cache', 'stale reads')
    fail('Sharding the users table by country', 'hot shard')
    expect(lines(m)).toEqual([])
    m.clock.days(1)
    fail('Redis cluster', 'lost writes', 'network partitions')
    expect(lines(m)).toEqual([
      '🔄 Caching approaches failed twice — last attempt: "Redis cluster", lesson: "network partitions"',
    ])
    fail('Cache in a Redis sentinel', 'failover took a minute')
    expect(signals(m)).toMatchObject([
      {
        line: expect.stringMatching(
          /^🔄 Caching approaches failed 3 times — last attempt: "Cache in a Redis sentinel"/,
        ),
      },
    ])
  })

  test('[G5] two corrections in a topic; a correction has the topics of what it corrects', () => {
    const m = openTestMemory()
    decide(m, 'use-jwt', 'JWT for the API')
    const correct = (wrongBelief: string, rightBelief: string) =>
      String(m.act([['record-correction', { wrongBelief, rightBelief }]]).results[0]!.id)
    correct('logins live for a day', 'they live for an hour')
    const second = correct('it is signed with HS256', 'it is signed with RS256')
    expect(lines(m)).toEqual([])
    link(m, second, 'corrects', 'use-jwt')
    expect(signals(m)).toMatchObject([
      {
        type: 'corrections',
        line: '⚠️ Auth corrected twice — understanding may be incomplete',
        evidence: [
          'logins live for a day → they live for an hour',
          'it is signed with HS256 → it is signed with RS256',
        ],
        next: `tidemark discover '(decisions-by-topic "auth")'`,
      },
    ])
  })

  test('[G5] three stale decisions in a topic; a curated one never ages, and a touched one is fresh', () => {
    const m = openTestMemory()
    for (const name of ['a', 'b', 'c']) decide(m, name, `Deployment step ${name}`)
    decide(m, 'd', 'Deployment step d', { visibility: 'curated' })
    m.clock.days(29)
    expect(lines(m)).toEqual([])
    m.clock.days(2)
    expect(lines(m)).toEqual([`⚠️ 3 stale decisions in 'deployment' topic — review them, or mark them as curated`])
    decide(m, 'a', 'Deployment step a', { rationale: 'looked at again' })
    expect(lines(m)).toEqual([])
    decide(m, 'a', 'Deployment step a', { revisitTrigger: 'when the canary region is overloaded' })
    m.clock.days(1)
    decide(m, 'e', 'Deployment step e', { revisitTrigger: 'when the canary region is overloaded', topics: ['other'] })
    expect(lines(m)).toEqual([])
    m.clock.days(1)
    m.act([['record-observation', { what: 'The canary region was overloaded on Monday' }]])
    expect(signals(m)).toMatchObject([
      {
        type: 'stale',
        evidence: expect.arrayContaining([expect.stringContaining('"when the canary region is overloaded" matches')]),
      },
    ])
  })

  test('[G5] what an import brought is not about documents, and not stale before a month has gone', () => {
    const m = openTestMemory()
    const source = 'import decisions docs/adr'
    const old = { validFrom: '2026-01-04', topics: undefined }
    for (const [n, name] of ['Whole cents', 'Tea in bags', 'One queue of jobs'].entries())
      m.act([['record-decision', { ...old, name, description: name, locations: [`docs/adr/000${n}.md`] }]], { source })
    for (const name of ['JWT', 'Passkeys', 'Login by mail'])
      m.act(
        [['record-decision', { ...old, name, description: `${name} for the login`, locations: ['docs/adr/1.md'] }]],
        {
          source,
        },
      )
    expect(lines(m)).toEqual([])
    m.clock.days(31)
    expect(lines(m)).toEqual([`⚠️ 3 stale decisions in 'auth' topic — review them, or mark them as curated`])
  })

  test('[G5] a decision that conflicts with a rule that binds, by its words or by a link, until somebody settles it', () => {
    const m = openTestMemory()
    m.act([['record-fact', { fact: 'Use Jest for unit tests' }]])
    m.act([['record-fact', { fact: 'Requests end within a second' }]])
    decide(m, 'vitest', 'Use Vitest for unit tests')
    decide(m, 'export-all', 'The export streams everything in one request')
    link(m, 'export-all', 'conflicts-with', 'Requests end within a second')
    expect(lines(m).sort()).toEqual([
      '⚠️ Decision "export all" may conflict with rule "Requests end within a second"',
      '⚠️ Decision "vitest" may conflict with rule "Use Jest for unit tests"',
    ])
    m.act([['supersede', { old: 'Use Jest for unit tests', new: 'vitest' }]])
    expect(lines(m)).toEqual(['⚠️ Decision "export all" may conflict with rule "Requests end within a second"'])
  })

  test('[G5] two that constrain each other', () => {
    const m = openTestMemory()
    decide(m, 'b', 'Two')
    decide(m, 'a', 'One')
    link(m, 'a', 'constrains', 'b')
    expect(lines(m)).toEqual([])
    link(m, 'b', 'constrains', 'a')
    const [found] = signals(m)
    expect(found).toMatchObject({
      line: '⚠️ "a" and "b" constrain each other — decide which one gives way',
      severity: 'high',
    })
    m.act(JSON.parse(found!.next.match(/'(.*)'/)![1]!))
    expect(lines(m)).toEqual([])
  })

  test('[G5] similar decisions of another project are told; without one nothing is asked', () => {
    const m = openTestMemory()
    const other = openTestMemory({ name: 'api-gateway', seed: 7 })
    decide(m, 'limit-requests', 'Rate limiting of API requests with a token bucket')
    decide(other, 'rate-limiting', 'API requests are limited with a token bucket per client')
    decide(other, 'blue', 'The logo is blue')
    decide(m, 'for-update', 'Lock the row for an update')
    decide(
      other,
      'versions',
      'Caret ranges with a lock file. Renovate opens an update of each package on Mondays, groups the minor ones, and a person has to select which of the larger ones go out with the next release of the mobile apps.',
    )
    const others = () => [{ id: 'x1', name: 'api-gateway', decisions: other.memory.reader.list('decision') }]
    expect(signalsOf(lookAt(m.memory, m.project, { others })).map((s) => s.line)).toEqual([
      '🔗 Similar decisions in `api-gateway`: rate limiting',
    ])
  })

  test('[G5] the same finding has the same id on every replica, and keeps it as it grows', () => {
    const build = (seed: number) => {
      const m = openTestMemory({ seed })
      except(m, 'Use async for I/O', 'start-up')
      except(m, 'Use async for I/O', 'tests')
      return m
    }
    const [a, b] = [build(1), build(2)]
    const [one] = signals(a)
    expect(signals(b)[0]!.id).toBe(one!.id)
    a.clock.days(1)
    except(a, 'Use async for I/O', 'migrations')
    expect(signals(a)[0]).toMatchObject({ id: one!.id, entities: expect.arrayContaining([...one!.entities]) })
    const then = a.memory.asOf(a.clock.now - 3_600_000)
    expect(signalsOf(lookAt(a.memory, a.project, { reader: then, now: a.clock.now }))[0]!.entities).toEqual(
      one!.entities,
    )
  })
})
