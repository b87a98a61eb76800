import { canonical, type JsonProblem, normalizeJson } from './canonical.ts'
import type { Field, Json } from './field.ts'
import { fieldsOf, type Kind } from './kind.ts'
import { didYouMean } from './names.ts'
import { isObject } from './object.ts'
import { RELATIONS } from './relations.ts'

/** One thing wrong with one action (rule A1). */
export interface Problem {
  index: number
  verb: string
  /** Dotted path of the argument, empty when the action as a whole is meant. */
  field: string
  message: string
  received?: Json
  accepted?: string
  hint?: string
  /** What a caller decides by, where there is something to decide: never by the message. */
  code?: 'stale' | 'no-version' | 'secret' | 'person' | 'claimed'
}

export type Report = (p: Omit<Problem, 'index' | 'verb'>) => undefined

/** What an action says about one field, normalized. */
export type Change =
  | { field: string; op: 'set'; value: Json }
  | { field: string; op: 'clear' }
  | { field: string; op: 'edit'; list: boolean; add: string[]; remove: string[]; replace: boolean }
  | { field: string; op: 'merge'; put: [path: string[], value: Json][]; drop: string[][] }

export const CONTROLS = ['ref', 'id', 'anew', 'expectedVersion'] as const

const DATE = /^\d{4}-\d{2}-\d{2}(?!\d)/
const LONGEST_SHOWN = 200

/** A value as reports show it: whole if it is short. */
export function shown(value: unknown): Json {
  const problems: JsonProblem[] = []
  const clean = normalizeJson(value, problems)
  const textValue = canonical(clean)
  if (problems.length > 0 && clean === null) return problems[0]!.received
  return textValue.length > LONGEST_SHOWN ? `${textValue.slice(0, LONGEST_SHOWN).toWellFormed()}…` : clean
}

/** A moment as ISO 8601: a day stays a day, everything else becomes UTC with milliseconds. */
export function toTime(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && Math.abs(value) < 8.64e15 ? new Date(value).toISOString() : undefined
  if (typeof value !== 'string' || !/^\d{4}-\d{2}/.test(value)) return undefined
  const ms = Date.parse(value)
  if (Number.isNaN(ms)) return undefined
  const day = DATE.exec(value)?.[0]
  // `Date` takes 30 February for 2 March
  if (day !== undefined && new Date(day).toJSON()?.slice(0, 10) !== day) return undefined
  return value === day ? day : new Date(ms).toISOString()
}

export function accepts({ type, min, max, integer, choices = [] }: Field): string {
  const range = min === undefined && max === undefined ? '' : ` from ${min ?? '-∞'} to ${max ?? '∞'}`
  const list = 'a list of text, or {add: […], remove: […], set: […]}'
  return {
    text: 'text',
    number: `a ${integer ? 'whole ' : ''}number${range}`,
    flag: 'true or false',
    choice: `one of ${choices.join(', ')}`,
    time: 'a time such as 2026-11-21 or 2026-11-21T14:30:00Z',
    set: list,
    list,
    map: 'an object',
  }[type]
}

export const leaves = (value: { [key: string]: Json }, path: string[] = []): [path: string[], value: Json][] =>
  Object.entries(value).flatMap(([key, v]) => {
    const here = [...path, key]
    return isObject(v) && Object.keys(v).length > 0 ? leaves(v, here) : [[here, v] satisfies [string[], Json]]
  })

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((v) => typeof v === 'string' && v !== '')
    ? [...new Set(value as string[])]
    : undefined

/** A single value as it is kept, or what is wrong with it. */
export function scalar(field: Field, value: Json): { value: Json; wrong?: string } {
  switch (field.type) {
    case 'flag':
      return { value, ...(typeof value === 'boolean' ? {} : { wrong: 'not true or false' }) }
    case 'choice':
      return { value, ...(field.choices?.includes(value as string) ? {} : { wrong: 'not one of the choices' }) }
    case 'number':
      if (typeof value !== 'number') return { value, wrong: 'not a number' }
      if (field.integer && !Number.isInteger(value)) return { value, wrong: 'not a whole number' }
      if (value < (field.min ?? -Infinity) || value > (field.max ?? Infinity)) return { value, wrong: 'out of range' }
      return { value }
    case 'time': {
      const moment = toTime(value)
      return moment === undefined ? { value, wrong: 'not a time' } : { value: moment }
    }
    default:
      return { value, ...(typeof value === 'string' ? {} : { wrong: 'not text' }) }
  }
}

function change(name: string, field: Field, value: Json, report: Report): Change | undefined {
  const refuse = (message: string): undefined =>
    report({ field: name, message, received: shown(value), accepted: accepts(field) })
  if (value === null) {
    if (field.type === 'set' || field.type === 'list')
      return { field: name, op: 'edit', list: field.type === 'list', add: [], remove: [], replace: true }
    return field.type === 'map' ? { field: name, op: 'merge', put: [], drop: [[]] } : { field: name, op: 'clear' }
  }
  switch (field.type) {
    case 'set':
    case 'list': {
      const list = field.type === 'list'
      const plain = texts(value)
      if (plain) return { field: name, op: 'edit', list, add: plain, remove: [], replace: false }
      if (typeof value !== 'object' || Array.isArray(value)) return refuse('not a list of text')
      const edit: Record<string, string[]> = {}
      for (const [key, part] of Object.entries(value)) {
        const items = texts(part)
        if (!['add', 'remove', 'set'].includes(key)) return refuse(`${key} is not add, remove or set`)
        if (!items) return refuse(`${key} is not a list of text`)
        edit[key] = items
      }
      const add = [...(edit.set ?? []), ...(edit.add ?? [])]
      return { field: name, op: 'edit', list, add, remove: edit.remove ?? [], replace: edit.set !== undefined }
    }
    case 'map': {
      if (typeof value !== 'object' || Array.isArray(value)) return refuse('not an object')
      const put: [string[], Json][] = []
      const drop: string[][] = []
      for (const [path, leaf] of leaves(value))
        if (leaf === null) drop.push(path)
        else put.push([path, leaf])
      return { field: name, op: 'merge', put, drop }
    }
    default: {
      const { wrong, value: single } = scalar(field, value)
      return wrong === undefined ? { field: name, op: 'set', value: single } : refuse(wrong)
    }
  }
}

/** The arguments with each alias under its field's name, unless that is given too. */
export function named(
  fields: Readonly<Record<string, { readonly also?: readonly string[]; readonly null?: boolean }>>,
  args: Readonly<Record<string, unknown>>,
  tell: (alias: string, field: string) => void = () => {},
): Readonly<Record<string, unknown>> {
  let out = args
  for (const alias of Object.keys(args)) {
    if (Object.hasOwn(fields, alias)) continue
    const camel = alias.replace(/_[a-z]/g, (part) => part.slice(1).toUpperCase()) // as the papers write them
    const meant = Object.keys(fields).filter((f) => f === camel || fields[f]!.also?.includes(camel))
    const field = meant.find((f) => !Object.hasOwn(out, f) || (out[f] === null && !fields[f]!.null))
    const { [alias]: value, ...rest } = out
    if (field === undefined) {
      if (meant.length > 0 && value === null) out = rest
      continue
    }
    out = { ...rest, [field]: value }
    tell(alias, field)
  }
  return out
}

/** A relation is no field: "supersedes", "dependsOn". */
function hintFor(field: string): string {
  const type = field.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`).replaceAll('_', '-')
  return RELATIONS.some((r) => r.name === type)
    ? `that is a link: ["link-entities", {"from": "…", "type": "${type}", "to": "…"}]`
    : 'structure of your own goes into attrs: {…}'
}

/** What a caller gave under a name, as JSON; what is none is reported. */
export function readJson(name: string, given: unknown, report: Report): Json | undefined {
  const problems: JsonProblem[] = []
  const value = normalizeJson(given, problems, [name])
  for (const { path, ...p } of problems) report({ field: path.join('.'), ...p })
  return problems.length > 0 ? undefined : value
}

/** Checks the arguments of a record verb, and returns what they say, field by field. */
export function validate(kind: Kind, args: Record<string, unknown>, report: Report): Change[] {
  const fields = fieldsOf(kind)
  const changes: Change[] = []
  for (const [name, raw] of Object.entries(args)) {
    if ((CONTROLS as readonly string[]).includes(name) || raw === undefined) continue
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field || field.system) {
      const names = Object.keys(fields).filter((f) => !fields[f]?.system)
      report({
        field: name,
        message: field ? 'written by Tidemark itself' : `${kind.name} has no field "${name.slice(0, 80)}"`,
        received: shown(raw),
        accepted: didYouMean(name, names, `the fields of ${kind.name}: ${Object.keys(kind.fields).join(', ')}`),
        hint: field ? field.about : hintFor(name),
      })
      continue
    }
    const value = readJson(name, raw, report)
    if (value === undefined) continue
    const c = change(name, field, value, report)
    if (c) changes.push(c)
  }
  return changes
}
