import { attempt, refuse, UsageError, UserError, when } from '../../base/errors.ts'
import { isRefusedFor } from '../../engine/write/batch.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { shellWord } from '../../model/shell.ts'
import { shareSet } from '../../project/verbs/shared-context.ts'
import * as shared from '../../work/coordination/shared-context.ts'
import { eventLine } from './events.ts'
import { inWords, oneLine } from './format.ts'
import { actingAs, defineTool, type Output, type ToolContext } from './tool.ts'
import { paramOf } from './verb-params.ts'

const STEPS = ['get', 'set', 'append', 'merge', 'delete', 'list', 'show', 'history', 'rollback'] as const

const json = (value: Json): string => JSON.stringify(value)

/** A value as people read it: a text as it is, small things on one line. */
function told(value: Json): string {
  if (typeof value === 'string') return value
  const line = json(value)
  return line.length <= 100 ? line : JSON.stringify(value, undefined, 2)
}

export const share = defineTool({
  name: 'share',
  title: 'Shared context',
  about:
    'shares values with every session, under keys: any JSON, or a text as it is. append adds to a list, merge into a map, both without losing what others add; show gives everything, history what happened to a key, rollback what it held after an event',
  example: `tidemark share merge team-notes '{"auth": {"state": "working"}}'`,
  params: {
    do: { type: 'text', about: 'what to do', required: true, place: 0, choices: STEPS },
    key: paramOf(shareSet.args.key, { place: 1 }),
    value: {
      type: 'any',
      about: 'JSON, or a text as it is; of delete: the item to take out of a list, or the key of a map',
      place: 'rest',
    },
    path: { type: 'text', about: 'delete: the way to a key of the map, as a JSON list or with dots' },
    to: { type: 'number', about: 'rollback: the number of an event' },
    'expected-version': paramOf(shareSet.args.expectedVersion),
    limit: { type: 'number', least: 1, about: 'history: so many at most' },
  },
  run(context, args): Output {
    const { memory } = context
    const step = args.do
    if (!STEPS.includes(step))
      throw new UsageError(`share does not "${oneLine(step, 40)}"`, `one of ${STEPS.join(', ')}`)
    checkUse(step, args)
    if (step === 'list') {
      const all = shared.listShared(memory)
      const lines = all.map((s) => `${s.key}  ${inWords(s.value, 80)}  (version ${s.version})`)
      return {
        text: lines.join('\n') || 'nothing is shared yet: `tidemark share set KEY JSON` shares something',
        json: all as unknown as Json,
      }
    }
    if (step === 'show') {
      const shown = shared.sharedContext(memory) as unknown as Json
      return { text: JSON.stringify(shown, undefined, 2), json: shown }
    }
    const key = String(args.key)
    if (step === 'get') return one(shared.mustBeShared(memory, key))
    if (step === 'history') {
      const events = shared.sharedHistory(memory, key, args.limit)
      return { text: events.map((e) => eventLine(e, context.local)).join('\n'), json: events as unknown as Json }
    }
    if (step === 'rollback')
      return one(shared.rollbackShared(memory, key, Number(args.to ?? args.value), actingAs(context)))
    return change(context, step, key, args)
  },
})

/** What each step is called with, after its name. */
const USE: Readonly<Record<(typeof STEPS)[number], string>> = {
  get: 'KEY',
  set: 'KEY JSON',
  append: 'KEY JSON',
  merge: 'KEY JSON',
  delete: 'KEY [ITEM] [--path A.B]',
  list: '',
  show: '',
  history: 'KEY',
  rollback: 'KEY --to SEQ',
}

/** @throws UsageError for what is missing, or would be passed over. */
function checkUse(step: (typeof STEPS)[number], args: Readonly<Record<string, unknown>>): void {
  const use = `\`tidemark share ${step}${USE[step] && ` ${USE[step]}`}\``
  const key = typeof args.key === 'string' ? args.key : ''
  if (USE[step] === '') {
    if (key === '') return
    throw new UsageError(
      `share ${step} tells of every key, not of one: \`tidemark share get ${shellWord(oneLine(key, 40))}\``,
      use,
    )
  }
  if (key === '') throw new UsageError('the key is missing', use)
  const said = args.value !== undefined
  if (USE[step].includes('JSON') && !said) throw new UsageError('the value is missing', use)
  if (USE[step] === 'KEY' && said) throw new UsageError(`share ${step} takes a key alone: ${use}`)
  if (step !== 'rollback') return
  const to = args.to ?? args.value
  if (to === undefined) throw new UsageError('the event is missing', use)
  if (!Number.isInteger(Number(to)))
    throw new UsageError(`an event has a whole number, not "${oneLine(json(to as Json), 40)}"`, use)
}

const one = (s: { key: string; value: Json; version: number }): Output => ({
  text: told(s.value),
  json: { key: s.key, value: s.value, version: s.version },
})

function change(
  context: ToolContext,
  step: 'set' | 'append' | 'merge' | 'delete',
  key: string,
  args: Readonly<Record<string, unknown>>,
): Output {
  const { memory } = context
  const what = step === 'delete' ? whatOf(context, key, args) : { value: args.value as Json }
  const action = [`share-${step}`, { key, ...what, expectedVersion: args['expected-version'] }]
  const stale = (): never => {
    const now = shared.getShared(memory, key)
    throw new UserError(
      'stale',
      `"${key}" ${now ? `is at version ${now.version} now` : 'is not there'}: ${now ? told(now.value) : 'somebody deleted it'}`,
      'look at it again, and write with its version',
      { key, value: now?.value ?? null, version: now?.version ?? 0 },
    )
  }
  const isStale = (error: unknown) => isRefusedFor(error, 'stale')
  const acted = attempt(() => memory.act([action], actingAs(context)), when(isStale, stale))
  const now = shared.getShared(memory, key)
  const notes = acted.notes.map((n) => `\nnote: ${n}`).join('')
  return {
    text: now
      ? `${key} = ${oneLine(json(now.value), 200)}  (version ${now.version})${notes}`
      : `${key} is shared no more; \`tidemark share history ${shellWord(key)}\` tells what it held${notes}`,
    json: {
      key,
      value: now?.value ?? null,
      version: now?.version ?? Number(acted.results[0]!.version ?? 0),
      batch: acted.batch,
      ...(now ? {} : { deleted: true }),
      ...(acted.batch === null ? { unchanged: true } : {}),
    },
  }
}

/** What of a key is to go: an item of a list, a path of a map, or all of it. */
function whatOf({ memory }: ToolContext, key: string, args: Readonly<Record<string, unknown>>) {
  const path = typeof args.path === 'string' && args.path !== '' ? pathFrom(args.path) : undefined
  if (args.value === undefined) return path ? { path } : {}
  const item = args.value as Json
  const { value } = shared.mustBeShared(memory, key)
  if (path) return { path, item }
  return isObject(value) ? { path: Array.isArray(item) ? item.map(String) : [String(item)] } : { item }
}

function pathFrom(given: string): string[] {
  if (!given.trimStart().startsWith('[')) return given.split('.')
  const hint = `--path '["a", "b"]', or --path a.b`
  return attempt(
    () => (JSON.parse(given) as unknown[]).map(String),
    () => refuse('not-json', 'the path begins like a JSON list but is none', hint),
  )
}
