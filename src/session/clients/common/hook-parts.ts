import { isDeepStrictEqual } from 'node:util'
import type { WiredHook } from './check.ts'
import { hookIn, isLocalHook, localHook, sharedHook } from './hook-command.ts'
import { at, insertJson, readJson, removeJson } from './json.ts'
import { type JsonFile, settingsIn } from './json-parts.ts'
import type { Part, State } from './target.ts'
import type { ClientContext, WiredEvent } from './types.ts'

/** How a client writes hooks: in groups with a matcher (Claude's shape), or one after the other. */
export interface HookShape {
  path: string[]
  nested: boolean
  entry(event: WiredEvent, command: string): Record<string, unknown>
}

const nestedShape = (handler: (event: WiredEvent, command: string) => Record<string, unknown>): HookShape => ({
  path: ['hooks'],
  nested: true,
  entry: (event, command) => ({
    ...(event.matcher === undefined ? {} : { matcher: event.matcher }),
    hooks: [handler(event, command)],
  }),
})

export const inSeconds = nestedShape((event, command) => ({ type: 'command', command, timeout: event.seconds }))
export const inMilliseconds = nestedShape((event, command) => ({
  name: 'tidemark',
  type: 'command',
  command,
  timeout: event.seconds * 1000,
}))

const commandOf = (handler: unknown) => at(handler, 'command') ?? at(handler, 'bash')
const handlersOf = (shape: HookShape, entry: unknown): unknown[] => {
  const inner = shape.nested ? at(entry, 'hooks') : [entry]
  return Array.isArray(inner) ? inner : []
}
const formerly = (shape: HookShape, event: WiredEvent, command: string) =>
  shape.entry({ ...event, ...event.former } as WiredEvent, command)
const isOurs = (client: string, handler: unknown) => hookIn(commandOf(handler))?.client === client

export function hooksIn(f: Omit<JsonFile, 'scope'>, known: readonly WiredEvent[], shape: HookShape): WiredHook[] {
  const events = at(settingsIn(f), ...shape.path)
  if (typeof events !== 'object' || events === null || Array.isArray(events)) return []
  return Object.entries(events).flatMap(([event, entries]) =>
    (Array.isArray(entries) ? entries : []).flatMap((entry) =>
      handlersOf(shape, entry)
        .filter((handler) => isOurs(f.client, handler))
        .map((handler) => {
          const command = commandOf(handler) as string
          const now = known.find((e) => e.event === event && e.former)
          const former = now !== undefined && isDeepStrictEqual(entry, formerly(shape, now, command))
          return { event, command, former, file: f.file }
        }),
    ),
  )
}

/** Our entries for every event; with full paths where the machine is given. The user's own hooks stay as they are. */
export const hookParts = (
  f: JsonFile,
  events: readonly WiredEvent[],
  shape: HookShape,
  machine: ClientContext | undefined,
): Part[] =>
  events.map((event) => {
    const command = machine ? localHook(machine, f.client, event.event) : sharedHook(f.client, event.event)
    return hookPart(f, shape, event, command)
  })

function hookPart(f: JsonFile, shape: HookShape, event: WiredEvent, command: string): Part {
  const { client } = f
  const path = [...shape.path, event.event]
  const value = shape.entry(event, command)
  const listIn = (text: string): unknown[] => {
    const list = at(readJson(text, f.file, f.comments), ...path)
    return Array.isArray(list) ? list : []
  }
  const state = (text: string): State => {
    const ours = listIn(text).filter((entry) => handlersOf(shape, entry).some((h) => isOurs(client, h)))
    if (ours.length === 0) return 'absent'
    if (ours.length > 1) return 'stale'
    if (isDeepStrictEqual(ours[0], value)) return 'ours'
    const words = commandOf(handlersOf(shape, ours[0]).find((h) => isOurs(client, h))) as string
    const known = isLocalHook(words) || words === sharedHook(client, event.event)
    const forms = [shape.entry(event, words), formerly(shape, event, words)]
    return known && forms.some((form) => isDeepStrictEqual(ours[0], form)) ? 'stale' : 'hand-made'
  }
  return {
    name: `hooks.${event.event}`,
    state,
    insert: (text) => insertJson(text, path, { item: value }, f.file, f.comments),
    remove(text, undo) {
      let left = text
      for (;;) {
        const list = listIn(left)
        const index = list.findIndex((entry) => handlersOf(shape, entry).some((h) => isOurs(client, h)))
        if (index < 0) return left
        const handlers = handlersOf(shape, list[index])
        const own = { index: handlers.findIndex((h) => isOurs(client, h)) }
        const next = handlers.every((h) => isOurs(client, h))
          ? removeJson(left, path, { index }, undo)
          : removeJson(left, [...path, index, 'hooks'], own, { kept: path.length + 2, interior: null })
        if (next === left) return left
        left = next
      }
    },
  }
}
