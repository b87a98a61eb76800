import { redact } from '../../base/secrets/find.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import { commandsIn, lineHas, programOf, runsTests } from '../../model/commands.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { oneLine } from '../../model/text.ts'
import { excludedCommand } from './config.ts'
import { dataLine } from './delivery.ts'
import type { Hook } from './hook.ts'
import { runsAllOf, TESTS } from './operations.ts'

/** A command that fails so often while no file was edited was no slip. After an edit it is another try, as in TDD. */
const OFTEN = 3
/** Their exit code is an answer: nothing has failed. */
const ASKS = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'test', '[', '[[', 'diff', 'cmp', 'which', 'type', 'pgrep'])
const MAX_KEPT = 20
const COMMAND_MAX = 300
/** Of what a command said, the end is looked at, and the beginning of that is kept. */
const END = 2_000
const RESPONSE_MAX = 300

type Failing = { n: number; command: string; last: string; at: number; edits?: number }

function failingOf(data: { readonly [key: string]: unknown } | undefined): Record<string, Failing> {
  const kept = Object.entries(isObject(data?.failing) ? data.failing : {})
  return Object.fromEntries(kept.filter(([, v]) => isObject(v) && 'n' in v && 'command' in v)) as Record<string, never>
}

const keyOf = (command: string): string => sha256(command.replace(/\s+/g, ' ').trim()).slice(0, 12)

/** Without secrets, then cut: half of a secret does not look like one. */
const clean = (text: string, most: number, end = Number.POSITIVE_INFINITY): string =>
  oneLine(redact(withoutPrivate(text)).slice(-end).toWellFormed(), most)

export async function commandFailed(hook: Hook): Promise<string | undefined> {
  const { call, session, sessions, memory } = hook
  const command = call.tool?.command
  if (command === undefined || session === '' || !hook.captures || excludedCommand(hook.config, command))
    return undefined
  if (hook.config.excludePaths.length > 0 && (await import('./shell.ts')).namesExcluded(hook, command)) return undefined
  const asked = commandsIn(command).at(-1)
  if (asked && ASKS.has(programOf(asked.words)[0]!)) return undefined
  const { data } = sessions.get(session) ?? {}
  // the test that was written last is to fail first
  const newest = Array.isArray(data?.files) ? data.files.at(-1) : undefined
  if (typeof newest === 'string' && TESTS.test(newest) && lineHas(command, runsTests)) return undefined
  const failing = failingOf(data)
  const edits = Number(data?.edits ?? 0)
  const key = keyOf(command)
  const before = failing[key]
  const shown = clean(command, COMMAND_MAX)
  const last = clean(call.tool?.response ?? '', RESPONSE_MAX, END)
  const n = before && (before.edits ?? 0) === edits ? before.n + 1 : 1
  const now: Failing = { ...before, n, command: shown, last, at: memory.env.now(), edits }
  const newestFirst = Object.entries({ ...failing, [key]: now }).sort(([, a], [, b]) => b.at - a.at)
  sessions.patch(session, { failing: Object.fromEntries(newestFirst.slice(0, MAX_KEPT)) as unknown as Json })
  if (n !== OFTEN) return undefined
  return `Tidemark: \`${dataLine(shown, COMMAND_MAX)}\` has failed ${n} times here. Try something else; when you know why, record it: act [["record-failed-approach", {"approach": "…", "outcome": "…", "lesson": "…"}]].`
}

/** It works now: what was counted of it, and of checks that it covers, is forgotten. */
export function commandWorked(hook: Hook): void {
  const { call, session, sessions } = hook
  const command = call.tool?.command
  if (command === undefined || session === '') return
  const failing = failingOf(sessions.get(session)?.data)
  const works = Object.keys(failing).filter(
    (key) => key === keyOf(command) || runsAllOf(command, failing[key]!.command),
  )
  if (works.length === 0) return
  for (const key of works) delete failing[key]
  sessions.patch(session, { failing: failing as unknown as Json })
}
