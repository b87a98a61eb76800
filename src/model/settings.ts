import { UserError } from '../base/errors.ts'
import type { Json } from './field.ts'
import { didYouMean } from './names.ts'
import { isObject } from './object.ts'
import { shown } from './validate.ts'

export interface Leaf {
  readonly accepted: string
  takes(value: unknown): boolean
  /** What was received may be a secret. */
  readonly hidden?: boolean
}

/** Settings by name; `of` are those within one. `what`: what its names are names of. */
export type Table = Readonly<{ of: { readonly [setting: string]: Leaf | Table }; what?: string }>

/** One wrong thing; `path` says where, from the source on. */
export type SettingProblem = Readonly<{ path: string; message: string; received?: Json; accepted: string }>

const isText = (v: unknown): boolean => typeof v === 'string' && v.trim() !== ''

export const text: Leaf = { accepted: 'text', takes: isText }
export const flag: Leaf = { accepted: 'true or false', takes: (v) => typeof v === 'boolean' }
/** Anything: whoever reads it judges it. */
export const any: Leaf = { accepted: 'any value', takes: () => true }
export const oneOf = (names: readonly string[]): Leaf => ({
  accepted: `one of ${names.join(', ')}`,
  takes: (v) => (names as readonly unknown[]).includes(v),
})
export const number = (min: number, max: number, above = false): Leaf => ({
  accepted: above ? `a number above ${min}, at most ${max}` : `a number from ${min} to ${max}`,
  takes: (v) => typeof v === 'number' && (above ? v > min : v >= min) && v <= max,
})
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER): Leaf => ({
  accepted: max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min} on` : `a whole number from ${min} to ${max}`,
  takes: (v) => Number.isInteger(v) && (v as number) >= min && (v as number) <= max,
})
export const listOf = (accepted: string, most = Number.POSITIVE_INFINITY, longest = most): Leaf => ({
  accepted,
  takes: (v) => Array.isArray(v) && v.length <= most && v.every((item) => isText(item) && item.length <= longest),
})
export const orNull = (leaf: Leaf): Leaf => ({
  accepted: `${leaf.accepted}, or null`,
  takes: (v) => v === null || leaf.takes(v),
})

/** What a name that is none may mean. */
export const nearOr = (name: string, names: readonly string[], all = `one of ${names.join(', ')}`): string =>
  didYouMean(name, names, all)

/** The settings of an object that are accepted; what is wrong with the others is added to `problems`. */
export function accepted(
  { of, what = 'setting' }: Table,
  value: unknown,
  from: string,
  problems: SettingProblem[],
): { [setting: string]: unknown } {
  if (!isObject(value)) {
    problems.push({ path: from, message: 'not accepted', received: shown(value), accepted: 'an object' })
    return {}
  }
  const taken: { [setting: string]: unknown } = {}
  for (const [key, said] of Object.entries(value)) {
    if (said === undefined) continue
    const path = [from, key.slice(0, 80)].filter(Boolean).join('.')
    const rule = Object.hasOwn(of, key) ? of[key] : undefined
    if (!rule) {
      const names = Object.keys(of)
      problems.push({ path, message: `no such ${what}`, accepted: nearOr(key, names, names.join(', ')) })
    } else if ('of' in rule) {
      if (isObject(said)) taken[key] = accepted(rule, said, path, problems)
      else problems.push({ path, message: 'not accepted', received: shown(said), accepted: 'an object' })
    } else if (rule.takes(said)) taken[key] = said
    else {
      const received = rule.hidden ? '(not shown)' : shown(said)
      problems.push({ path, message: 'not accepted', received, accepted: rule.accepted })
    }
  }
  return taken
}

export function refuseAll(code: string, what: string, problems: readonly SettingProblem[]): void {
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
