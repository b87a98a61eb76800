import { UsageError } from '../../base/errors.ts'
import { nearest } from '../../model/names.ts'
import { PRESENCE_TYPES } from '../store/presence.ts'

export const EVENT_TYPES = {
  share: ['update', 'merge', 'delete'],
  knowledge: ['recorded', 'changed', 'deleted', 'restored', 'linked', 'unlinked', 'erased'],
  presence: PRESENCE_TYPES,
} as const satisfies Readonly<Record<string, readonly string[]>>

/** @throws UsageError for a type that no event has: asked for it, the stream would be silent for ever. */
export function checkTypes(types: readonly string[] | undefined): void {
  const all = Object.entries(EVENT_TYPES).flatMap(([group, own]) => [group, ...own])
  const wrong = types?.find((type) => !all.includes(type))
  if (wrong === undefined) return
  const near = nearest(wrong, all)
  const groups = Object.entries(EVENT_TYPES).map(([group, own]) => `${group} (${own.join(', ')})`)
  const hint = `${near.length > 0 ? `did you mean ${near.join(' or ')}? ` : ''}the types are ${groups.join(', ')}`
  throw new UsageError(`no event is of type "${wrong.slice(0, 80).toWellFormed()}"`, hint, { nearest: near })
}
