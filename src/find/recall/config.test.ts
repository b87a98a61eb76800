import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { userError } from '../../../test/helpers.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { createRegistry } from '../../model/registry.ts'
import { RELATIONS } from '../../model/relations.ts'
import type { SettingProblem } from '../../model/settings.ts'
import { DEFAULTS, type RecallSettings, recallConfig } from './config.ts'
import { resolveOptions } from './options.ts'
import type { RecallOptions } from './types.ts'

const NAMES = KINDS.map((k) => k.name)
const read = (...values: unknown[]) =>
  recallConfig(
    values.map((value, i) => ({ from: `layer${i}`, value })),
    NAMES,
  )
const problems = (...values: unknown[]) => userError(() => read(...values)).details.problems as SettingProblem[]

const registry = createRegistry(KINDS, RELATIONS)
const NOW = Date.parse('2026-11-21T09:30:00Z')
const resolve = (options: object, config = DEFAULTS) =>
  resolveOptions(config, options as RecallOptions, { now: NOW, registry })
const wrong = (options: object) => userError(() => resolve(options)).details.problems as SettingProblem[]

describe('the configuration of recall', () => {
  test('nothing said is the defaults; a later layer stands over an earlier one, key by key', () => {
    expect(read()).toEqual(DEFAULTS)
    expect(read(undefined, {}, { weights: {} })).toEqual(DEFAULTS)
    const config = read(
      {
        weights: { sibling: 0.9, goal: 0.4 },
        limit: 5,
        projects: ['../a'],
        embedder: { use: 'http', url: 'http://localhost:11434/v1', model: 'm' },
      },
      { weights: { sibling: 0.8 }, budget: 900, projects: ['b'], halfLifeDays: { decision: 30 }, historyDepthDays: 90 },
    )
    expect(config.weights).toEqual({ task: 1, sibling: 0.8, activity: 0.5, goal: 0.4, elsewhere: 0.2 })
    expect(config).toMatchObject({
      limit: 5,
      budget: 900,
      projects: ['b'],
      halfLifeDays: { decision: 30 },
      historyDepthDays: 90,
    })
    expect(config.embedder).toEqual({ use: 'http', url: 'http://localhost:11434/v1', model: 'm' })
    expect(DEFAULTS.weights.sibling).toBe(0.7)
  })

  test('every mistake of every layer is told at once, with what is accepted and what is near', () => {
    const told = problems(
      { wieghts: {}, weights: { sibbling: 1, task: '1', goal: -1 }, limit: 0, recencyFloor: 0 },
      {
        halfLifeDays: { decisoin: 30, task: 0 },
        embedder: { use: 'openai', url: 'file:///x', keyFrom: 'sk-not-a-name-1234' },
        projects: 'a',
      },
      [],
    )
    expect(told.map((p) => p.path)).toEqual([
      'layer0.wieghts',
      'layer0.weights.sibbling',
      'layer0.weights.task',
      'layer0.weights.goal',
      'layer0.limit',
      'layer0.recencyFloor',
      'layer1.halfLifeDays.decisoin',
      'layer1.halfLifeDays.task',
      'layer1.embedder.use',
      'layer1.embedder.url',
      'layer1.embedder.keyFrom',
      'layer1.projects',
      'layer2',
    ])
    expect(told[0]).toMatchObject({ message: 'no such setting', accepted: 'did you mean weights?' })
    expect(told[1]!.accepted).toBe('did you mean sibling?')
    expect(told[2]).toMatchObject({ received: '1', accepted: 'a number from 0 to 10' })
    expect(told[6]).toMatchObject({ message: 'no such kind', accepted: 'did you mean decision?' })
    const error = userError(() => read({ embedder: { keyFrom: 'sk-not-a-name-1234' } }))
    expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toContain('sk-not')
    expect(error.hint).toContain('the name of the environment variable')
  })

  test('an endpoint needs an address without a password in it, and a model', () => {
    expect(problems({ embedder: { use: 'http' } }).map((p) => p.path)).toEqual(['embedder.url', 'embedder.model'])
    expect(problems({ embedder: { url: 'https://me:secret@host/v1' } })).toHaveLength(1)
    expect(read({ embedder: { use: 'http' } }, { embedder: { url: 'https://host/v1', model: 'm', keyFrom: 'EMBED_KEY' } }).embedder).toEqual({
      use: 'http', url: 'https://host/v1', model: 'm', keyFrom: 'EMBED_KEY',
    }) // biome-ignore format: short enough
  })

  test('whatever is given is told or taken, never crashes; names of the prototype are no settings', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        try {
          read(a, { weights: b })
        } catch (error) {
          expect((error as Error).name).toBe('UserError')
        }
      }),
    )
    expect(problems(JSON.parse('{"__proto__": 1, "constructor": 2}'))).toHaveLength(2)
    expect(problems({ halfLifeDays: { constructor: 1 }, weights: { toString: 1 } })).toHaveLength(2)
  })

  test('merging: the last layer that says a key decides it, and merging in two steps is merging in one', () => {
    const w = fc.double({ min: 0, max: 10, noNaN: true })
    const settings = fc.record(
      {
        weights: fc.record({ task: w, sibling: w, elsewhere: w }, { requiredKeys: [] }),
        limit: fc.integer({ min: 1, max: 1000 }),
        recencyFloor: fc.double({ min: 0.01, max: 1, noNaN: true }),
        halfLifeDays: fc.record(
          { decision: fc.integer({ min: 1, max: 900 }), fact: fc.integer({ min: 1, max: 900 }) },
          { requiredKeys: [] },
        ),
        historyDepthDays: fc.option(fc.integer({ min: 1, max: 900 })),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<RecallSettings>
    fc.assert(
      fc.property(settings, settings, settings, (a, b, c) => {
        const all = read(a, b, c)
        const layers = [c, b, a, DEFAULTS] as RecallSettings[]
        expect(all.limit).toBe(layers.find((l) => l.limit !== undefined)!.limit)
        expect(all.historyDepthDays).toBe(layers.find((l) => l.historyDepthDays !== undefined)!.historyDepthDays)
        for (const key of ['task', 'sibling', 'elsewhere', 'goal'] as const)
          expect(all.weights[key]).toBe(layers.find((l) => l.weights?.[key] !== undefined)!.weights![key])
        expect(read(read(a, b), c)).toEqual(all)
        expect(read(all)).toEqual(all)
      }),
    )
  })
})

describe('options of a call', () => {
  test('[H1] presets are names for common settings; what is said itself comes before them', () => {
    expect(resolve({})).toMatchObject({
      scope: 'balanced',
      limit: 10,
      budget: undefined,
      all: false,
      explain: false,
      validAt: NOW,
    })
    expect(resolve({ preset: 'fresh' }).scope).toBe('micro')
    expect(resolve({ preset: 'balanced' }).scope).toBe('balanced')
    expect(resolve({ preset: 'learn_from_all' }).scope).toBe('macro')
    expect(resolve({ preset: 'debug' })).toMatchObject({ scope: 'balanced', all: true, explain: true })
    expect(resolve({ preset: 'debug', explain: false, scope: 'macro' })).toMatchObject({
      scope: 'macro',
      all: true,
      explain: false,
    })
    expect(resolve({ preset: 'fresh', scope: 'balanced' }).scope).toBe('balanced')
    expect(resolve({ limit: 3 }, { ...DEFAULTS, limit: 7, budget: 500 })).toMatchObject({ limit: 3, budget: 500 })
    expect(resolve({}, { ...DEFAULTS, limit: 7 })).toMatchObject({ limit: 7 })
  })

  test('[H1] goals select; none selected is the current task; goals beside another scope are refused', () => {
    expect(resolve({ goals: ['a'] })).toMatchObject({ scope: 'selected', goals: ['a'] })
    expect(resolve({ goals: ['a'], preset: 'fresh' }).scope).toBe('selected')
    expect(resolve({ scope: 'selected' })).toMatchObject({ scope: 'micro', goals: [] })
    expect(resolve({ scope: 'balanced', goals: [] }).scope).toBe('balanced')
    for (const scope of ['micro', 'macro', 'balanced'])
      expect(wrong({ scope, goals: ['a'] })[0]).toMatchObject({ path: 'goals' })
  })

  test('every option that is wrong is told, with what is near', () => {
    const told = wrong({
      scope: 'mirco', preset: 'debugg', kinds: ['decisoin', 'task'], limit: 0, budget: 1.5, since: 'some day', validAt: '2026-02-30',
      all: 'yes', goals: 'a', task: ' ', limt: 3,
    }) // biome-ignore format: short enough
    expect(told.map((p) => p.path).sort()).toEqual([
      'all',
      'budget',
      'goals',
      'kinds',
      'limit',
      'limt',
      'preset',
      'scope',
      'since',
      'task',
      'validAt',
    ])
    const by = (path: string) => told.find((p) => p.path === path)!.accepted
    expect(by('scope')).toBe('did you mean micro?')
    expect(by('preset')).toBe('did you mean debug?')
    expect(by('kinds')).toBe('did you mean decision?')
    expect(by('limt')).toBe('did you mean limit?')
    expect(wrong({ scope: 'xyzzy' })[0]!.accepted).toBe('one of micro, balanced, macro, selected')
    expect(wrong({ limit: 100_000 })[0]!.path).toBe('limit')
    expect(wrong({ asOf: Number.NaN })[0]!.path).toBe('asOf')
  })

  test('kinds are taken by name or plural, each once; times in words and as days', () => {
    expect(resolve({ kinds: ['decisions', 'decision', 'people'] }).kinds).toEqual(['decision', 'person'])
    expect(resolve({ kinds: [] }).kinds).toBe(undefined)
    const since = (value: string) => new Date(resolve({ since: value }).since!).toISOString()
    expect(since('2026-11-01')).toBe('2026-11-01T00:00:00.000Z')
    expect(since('2026-11-01T12:00:00Z')).toBe('2026-11-01T12:00:00.000Z')
    expect(since('last week')).toBe('2026-11-09T00:00:00.000Z')
    expect(since('March')).toBe('2026-03-01T00:00:00.000Z')
    expect(since('Monday')).toBe('2026-11-16T00:00:00.000Z')
  })

  test('[H5] what is valid is judged now, or as of the moment that is asked for', () => {
    expect(resolve({}).validAt).toBe(NOW)
    expect(resolve({ asOf: '2026-11-01' }).validAt).toBe(Date.parse('2026-11-02') - 1)
    expect(resolve({ asOf: '2026-11-01', validAt: '2026-05-05' }).validAt).toBe(Date.parse('2026-05-06') - 1)
  })

  test('the depth of history counts from the moment that is asked for, and since comes before it', () => {
    const config = { ...DEFAULTS, historyDepthDays: 30 }
    expect(resolve({}, config).historySince).toBe(NOW - 30 * 86_400_000)
    expect(resolve({ asOf: NOW - 1000 }, config).historySince).toBe(NOW - 1000 - 30 * 86_400_000)
    expect(resolve({ since: '2020-01-01' }, config).historySince).toBe(undefined)
    expect(resolve({}).historySince).toBe(undefined)
  })
})
