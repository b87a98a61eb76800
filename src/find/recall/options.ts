import { unlessRefused } from '../../base/errors.ts'
import type { LineName } from '../../engine/read/view.ts'
import type { Registry } from '../../model/registry.ts'
import type { Leaf, SettingProblem } from '../../model/settings.ts'
import { accepted, any, flag, listOf, nearOr, refuseAll, text, whole } from '../../model/settings.ts'
import { DAY_MS } from '../../model/times.ts'
import { shown } from '../../model/validate.ts'
import { LIMIT_MAX, type RecallConfig } from './config.ts'
import { MOMENTS, momentSaid } from './moment.ts'
import { PRESETS, type Preset, type RecallOptions, SCOPES, type Scope } from './types.ts'

/** What a preset says; what the caller says himself comes before it. */
const PRESET_OPTIONS: { readonly [P in Preset]: Pick<RecallOptions, 'scope' | 'all' | 'explain'> } = {
  fresh: { scope: 'micro' },
  balanced: { scope: 'balanced' },
  learn_from_all: { scope: 'macro' },
  debug: { all: true, explain: true },
}

/** What is asked, with configuration, preset and options settled and every moment in ms. */
export interface Asked {
  readonly scope: Scope
  /** References to goals; some where the scope is `selected`, none elsewhere. */
  readonly goals: readonly string[]
  readonly task: string | undefined
  readonly session: string | undefined
  readonly kinds: readonly string[] | undefined
  readonly limit: number
  readonly budget: number | undefined
  readonly since: number | undefined
  /** Not of the current task and not touched since: too far back to be looked at. */
  readonly historySince: number | undefined
  readonly asOf: number | undefined
  /** As if these lines had never come. */
  readonly without?: readonly LineName[]
  readonly validAt: number
  readonly all: boolean
  readonly explain: boolean
}

/** Every option; the compiler asks for those that are added. */
const OPTIONS: { readonly [O in keyof Required<RecallOptions>]: Leaf } = {
  scope: any,
  preset: any,
  goals: listOf('a list of text'),
  task: text,
  session: text,
  kinds: listOf('a list of text'),
  limit: whole(1),
  budget: whole(1),
  since: any,
  asOf: any,
  validAt: any,
  all: flag,
  explain: flag,
}

/** Settles what a caller asks for. @throws UserError `bad-argument` with every problem. */
export function resolveOptions(
  config: RecallConfig,
  options: RecallOptions,
  { now, registry }: { now: number; registry: Registry },
): Asked {
  const problems: SettingProblem[] = []
  const refuse = (path: string, accepted: string, message = 'not accepted', received?: unknown): undefined => {
    problems.push({ path, message, accepted, ...(received === undefined ? {} : { received: shown(received) }) })
    return undefined
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))
  const said: RecallOptions = accepted({ of: OPTIONS, what: 'option' }, given, '', problems)

  const choice = <T extends string>(option: string, value: T | undefined, all: readonly T[]): T | undefined =>
    value === undefined || all.includes(value)
      ? value
      : refuse(option, nearOr(String(value), all), `no such ${option}`, value)
  const preset = choice('preset', said.preset, PRESETS)
  const named = choice('scope', said.scope, SCOPES)
  const fromPreset = preset === undefined ? {} : PRESET_OPTIONS[preset]

  const goals = said.goals ?? []
  if (goals.length > 0 && named !== undefined && named !== 'selected') {
    const instead = named === 'micro' ? 'scope micro is the current task alone' : `scope ${named} looks at every goal`
    refuse('goals', 'goals with scope selected, or with no scope', `${instead}, and goals are named`)
  }
  const wanted = named ?? (goals.length > 0 ? 'selected' : (fromPreset.scope ?? 'balanced'))

  const kinds = said.kinds?.flatMap((name) => {
    const kind = registry.kind(name) ?? registry.kindByPlural(name)
    if (kind && !kind.internal) return [kind.name]
    const names = registry.visibleKinds().map((k) => k.name)
    return refuse('kinds', nearOr(name, names), 'no such kind', name) ?? []
  })
  const moment = (option: 'since' | 'asOf' | 'validAt'): number | undefined => {
    const value = said[option]
    if (value === undefined) return undefined
    return unlessRefused(
      () => momentSaid(value, now, option === 'since' ? 'since' : 'as-of'),
      () => refuse(option, MOMENTS, 'not a time', value),
    )
  }
  const since = moment('since')
  const asOf = moment('asOf')
  const validAt = moment('validAt')
  const limit = said.limit ?? config.limit
  if (limit > LIMIT_MAX) refuse('limit', `at most ${LIMIT_MAX}`, undefined, limit)
  refuseAll('bad-argument', 'recall', problems)

  const depth = config.historyDepthDays
  return {
    // nothing is selected: what is left is the current task
    scope: wanted === 'selected' && goals.length === 0 ? 'micro' : wanted,
    goals: wanted === 'selected' ? [...goals] : [],
    task: said.task?.trim(),
    session: said.session?.trim(),
    kinds: kinds && kinds.length > 0 ? [...new Set(kinds)] : undefined,
    limit,
    budget: said.budget ?? config.budget ?? undefined,
    since,
    historySince: depth === null || since !== undefined ? undefined : (asOf ?? now) - depth * DAY_MS,
    asOf,
    validAt: validAt ?? asOf ?? now,
    all: said.all ?? fromPreset.all ?? false,
    explain: said.explain ?? fromPreset.explain ?? false,
  }
}
