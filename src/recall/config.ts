import { UserError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { nearest } from '../model/names.ts'
import { isObject } from '../model/object.ts'
import { shown } from '../model/validate.ts'

export const EMBEDDERS = ['static', 'onnx', 'http', 'none'] as const
const RERANKERS = ['none', 'minilm'] as const

/** Everything about recall that a project may set; what it does not say has the value of `DEFAULTS`. */
export interface RecallConfig {
  /** How much an item counts by where it was recorded, seen from the current task; 0 leaves it out. */
  readonly weights: {
    readonly task: number
    readonly sibling: number
    readonly activity: number
    readonly goal: number
    readonly elsewhere: number
  }
  /** Days after which half of an item's freshness is gone, by kind, in place of what the kind declares. */
  readonly halfLifeDays: { readonly [kind: string]: number }
  /** What recency never falls below, however old an item is. */
  readonly recencyFloor: number
  /** Items of other tasks that were not touched for this many days are left out; null: no limit. */
  readonly historyDepthDays: number | null
  readonly limit: number
  /** Tokens that printed results may cost; null: as many as it takes. */
  readonly budget: number | null
  /** Other projects of this user to look into as well: paths, ids or names. */
  readonly projects: readonly string[]
  readonly embedder: {
    readonly use: (typeof EMBEDDERS)[number]
    readonly url?: string
    readonly model?: string
    /** The environment variable that holds the key. */
    readonly keyFrom?: string
    readonly dimensions?: number
  }
  /** What reads the first results together with the question and puts them in order. */
  readonly reranker: { readonly use: (typeof RERANKERS)[number] }
  /** How strongly each of them counts: 0 not at all, 1 as documented, 2 twice as much. */
  readonly importance: {
    readonly impact: number
    readonly confidence: number
    readonly severity: number
    readonly priority: number
  }
}

export const DEFAULTS: RecallConfig = {
  weights: { task: 1, sibling: 0.7, activity: 0.5, goal: 0.3, elsewhere: 0.2 },
  halfLifeDays: {},
  // age alone never outweighs an item that fits twice as well
  recencyFloor: 0.5,
  historyDepthDays: null,
  limit: 10,
  budget: null,
  projects: [],
  embedder: { use: 'static' },
  reranker: { use: 'none' },
  importance: { impact: 1, confidence: 1, severity: 1, priority: 1 },
}

/** Part of a configuration, as a file or a caller says it. */
export type RecallSettings = {
  readonly [K in keyof RecallConfig]?: RecallConfig[K] extends readonly unknown[]
    ? RecallConfig[K]
    : RecallConfig[K] extends object
      ? Partial<RecallConfig[K]>
      : RecallConfig[K]
}

/** One wrong thing; `path` says where, from the source on. */
export interface ConfigProblem {
  readonly path: string
  readonly message: string
  readonly received?: Json
  readonly accepted: string
}

/** What one source says of recall; `from` names it in reports. */
export interface ConfigLayer {
  readonly from: string
  readonly value: unknown
}

interface Leaf {
  readonly accepted: string
  takes(value: unknown): boolean
  /** What was received may be a secret. */
  readonly hidden?: boolean
}

interface Table {
  /** Keys that may stand in it: those of `DEFAULTS`, or the kinds. */
  readonly of: { readonly [key: string]: Leaf } | 'kinds'
}

const number = (min: number, max: number, above = false): Leaf => ({
  accepted: above ? `a number above ${min}, at most ${max}` : `a number from ${min} to ${max}`,
  takes: (v) => typeof v === 'number' && (above ? v > min : v >= min) && v <= max,
})
const whole = (min: number, max: number): Leaf => ({
  accepted: `a whole number from ${min} to ${max}`,
  takes: (v) => Number.isInteger(v) && (v as number) >= min && (v as number) <= max,
})
const orNull = (leaf: Leaf): Leaf => ({
  accepted: `${leaf.accepted}, or null`,
  takes: (v) => v === null || leaf.takes(v),
})
const text: Leaf = { accepted: 'text', takes: (v) => typeof v === 'string' && v.trim() !== '' }

const LONGEST_DAYS = 36_500
export const LIMIT_MAX = 1_000
const BUDGET_MAX = 1_000_000

const weight = number(0, 10)
const strength = number(0, 3)
const days = number(0, LONGEST_DAYS, true)

const oneOf = (names: readonly string[]): Leaf => ({
  accepted: `one of ${names.join(', ')}`,
  takes: (v) => (names as readonly unknown[]).includes(v),
})

const embedderLeaves = {
  use: oneOf(EMBEDDERS),
  url: { accepted: 'an http or https address', takes: (v) => typeof v === 'string' && isWebAddress(v) },
  model: text,
  keyFrom: {
    accepted: 'the name of the environment variable that holds the key, never the key itself',
    takes: (v) => typeof v === 'string' && /^[A-Z_][A-Z0-9_]*$/.test(v),
    hidden: true,
  },
  dimensions: whole(1, 16_384),
} satisfies { readonly [setting: string]: Leaf }

const SHAPE: { readonly [K in keyof RecallConfig]: Leaf | Table } = {
  weights: { of: { task: weight, sibling: weight, activity: weight, goal: weight, elsewhere: weight } },
  halfLifeDays: { of: 'kinds' },
  recencyFloor: number(0, 1, true),
  historyDepthDays: orNull(days),
  limit: whole(1, LIMIT_MAX),
  budget: orNull(whole(1, BUDGET_MAX)),
  projects: {
    accepted: 'a list of paths, ids or names',
    takes: (v) => Array.isArray(v) && v.every((item) => text.takes(item)),
  },
  embedder: { of: embedderLeaves },
  reranker: { of: { use: oneOf(RERANKERS) } },
  importance: { of: { impact: strength, confidence: strength, severity: strength, priority: strength } },
}

function isWebAddress(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

const own = <T>(table: { readonly [key: string]: T }, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/**
 * The configuration that the layers give over the defaults, a later one over an earlier one, key by key.
 * `kinds` are the names that `halfLifeDays` may have.
 * @throws UserError `bad-config` with everything that is wrong in any layer in `details.problems`.
 */
export function recallConfig(layers: readonly ConfigLayer[], kinds: Iterable<string>): RecallConfig {
  const problems: ConfigProblem[] = []
  const kindNames = [...kinds]
  const config: { [key: string]: unknown } = { ...DEFAULTS }

  const leaf = (path: string, rule: Leaf, value: unknown): boolean => {
    if (rule.takes(value)) return true
    const received = rule.hidden ? '(not shown)' : shown(value)
    problems.push({ path, message: 'not accepted', received, accepted: rule.accepted })
    return false
  }
  const unknown = (path: string, key: string, names: readonly string[], what: string) => {
    const near = nearest(key, names)
    problems.push({
      path: `${path}.${key.slice(0, 80)}`,
      message: `no such ${what}`,
      accepted: near.length > 0 ? `did you mean ${near.join(' or ')}?` : names.join(', '),
    })
  }

  for (const { from, value } of layers) {
    if (value === undefined) continue
    if (!isObject(value)) {
      problems.push({ path: from, message: 'not accepted', received: shown(value), accepted: 'an object' })
      continue
    }
    for (const [key, said] of Object.entries(value)) {
      if (said === undefined) continue
      const path = `${from}.${key}`
      const rule = own(SHAPE, key)
      if (!rule) unknown(from, key, Object.keys(SHAPE), 'setting')
      else if (!('of' in rule)) {
        if (leaf(path, rule, said)) config[key] = said
      } else if (!isObject(said))
        problems.push({ path, message: 'not accepted', received: shown(said), accepted: 'an object' })
      else {
        const table: { [key: string]: unknown } = { ...(config[key] as object) }
        for (const [name, inner] of Object.entries(said)) {
          if (inner === undefined) continue
          const names = rule.of === 'kinds' ? kindNames : Object.keys(rule.of)
          const innerRule = rule.of === 'kinds' ? (names.includes(name) ? days : undefined) : own(rule.of, name)
          if (!innerRule) unknown(path, name, names, rule.of === 'kinds' ? 'kind' : 'setting')
          else if (leaf(`${path}.${name}`, innerRule, inner)) table[name] = inner
        }
        config[key] = table
      }
    }
  }

  const { embedder } = config as unknown as RecallConfig
  if (problems.length === 0 && embedder.use === 'http')
    for (const key of ['url', 'model'] as const)
      if (embedder[key] === undefined)
        problems.push({
          path: `embedder.${key}`,
          message: 'missing; use: http needs it',
          accepted: embedderLeaves[key].accepted,
        })
  refuseAll('bad-config', 'the configuration of recall', problems)
  return config as unknown as RecallConfig
}

/** Throws one error that tells every problem; does nothing where there is none. */
export function refuseAll(code: string, what: string, problems: readonly ConfigProblem[]): void {
  if (problems.length === 0) return
  const told = problems.map((p) => {
    const received = p.received === undefined ? '' : ` (${JSON.stringify(p.received)})`
    return `${p.path}: ${p.message}${received}; ${p.accepted}`
  })
  const [first] = problems
  throw new UserError(
    code,
    problems.length === 1 ? `${what}: ${first!.path}: ${first!.message}` : `${what} has ${problems.length} mistakes`,
    told.join('\n'),
    { problems },
  )
}
