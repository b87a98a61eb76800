import { isObject } from '../../model/object.ts'
import type { Leaf, SettingProblem, Table } from '../../model/settings.ts'
import { accepted, listOf, number, oneOf, orNull, refuseAll, text, whole } from '../../model/settings.ts'

export const EMBEDDERS = ['static', 'onnx', 'http', 'none'] as const

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

const LONGEST_DAYS = 36_500
export const LIMIT_MAX = 1_000
const BUDGET_MAX = 1_000_000

const weight = number(0, 10)
const strength = number(0, 3)
const days = number(0, LONGEST_DAYS, true)

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

const isWebAddress = (value: string): boolean => {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

const shape = (kinds: Iterable<string>): { readonly [K in keyof RecallConfig]: Leaf | Table } => ({
  weights: { of: { task: weight, sibling: weight, activity: weight, goal: weight, elsewhere: weight } },
  halfLifeDays: { of: Object.fromEntries([...kinds].map((kind) => [kind, days])), what: 'kind' },
  recencyFloor: number(0, 1, true),
  historyDepthDays: orNull(days),
  limit: whole(1, LIMIT_MAX),
  budget: orNull(whole(1, BUDGET_MAX)),
  projects: listOf('a list of paths, ids or names'),
  embedder: { of: embedderLeaves },
  importance: { of: { impact: strength, confidence: strength, severity: strength, priority: strength } },
})

/** Merges layers over the defaults, key by key; `from` names one in reports. @throws UserError `bad-config` with every problem. */
export function recallConfig(layers: readonly { from: string; value: unknown }[], kinds: Iterable<string>) {
  const problems: SettingProblem[] = []
  const config: { [key: string]: unknown } = { ...DEFAULTS }
  const table = { of: shape(kinds) }
  for (const { from, value } of layers) {
    if (value === undefined) continue
    for (const [key, said] of Object.entries(accepted(table, value, from, problems)))
      config[key] = isObject(said) ? { ...(config[key] as object), ...said } : said
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
