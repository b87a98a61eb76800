import { readText } from './files.ts'
import { entryOf, revert, sha256 } from './journal.ts'
import type { ClientContext, Undo, WiringChange } from './types.ts'

/** A file in which one entry is ours: how it looks there, how it comes in, how it goes. */
export interface Target {
  client: string
  file: string
  scope: WiringChange['scope']
  /**
   * `ours`: word for word what we write; `stale`: so too, but for another place on this machine; `hand-made`: it starts Tidemark in
   * words that are not ours; `yours`: it starts something else.
   */
  state(text: string): 'absent' | 'ours' | 'stale' | 'hand-made' | 'yours'
  insert(text: string | null): { text: string; undo: Undo }
  /** Takes out our entry only; the very text if there is none. Without `undo` (no journal) a hand-made entry is not ours. */
  remove(text: string, undo: Undo | undefined): string
  isEmpty(text: string): boolean
}

/** The file without our entry: its original bytes if nobody touched it since, else by the smallest edit; null: no file. */
export function without(ctx: ClientContext, target: Target, text: string): string | null {
  const entry = entryOf(ctx.root, target.file)
  if (entry) {
    const original = revert(text, entry)
    if (original !== undefined) return original
    if (sha256(text) === entry.original) return text
  }
  const left = target.remove(text, entry?.undo)
  const made = entry ? entry.original === null : left !== text
  return made && target.isEmpty(left) ? null : left
}

const unchanged = (target: Target, text: string | null, why: string): WiringChange => {
  const { client, file, scope } = target
  return { client, file, scope, action: 'none', before: text, after: text, why }
}

/** Plans to have our entry in a file. */
export function plug(ctx: ClientContext, target: Target, why: string): WiringChange {
  const { client, file, scope } = target
  const before = readText(file)
  const state = before === null ? 'absent' : target.state(before)
  if (state === 'ours' || state === 'hand-made') return unchanged(target, before, 'already there')
  if (state === 'yours')
    return unchanged(target, before, 'it has an entry called tidemark that tidemark did not make, which is left alone')
  const base = state === 'stale' ? without(ctx, target, before!) : before
  const { text: after, undo } = target.insert(base)
  if (before !== null && sha256(before) === sha256(after)) return unchanged(target, before, 'already there')
  const action = before === null ? 'create' : 'edit'
  return { client, file, scope, action, before, after, why, undo: { ...undo, base } }
}

/** Plans to have nothing of ours in a file; nothing if there is nothing. */
export function unplug(ctx: ClientContext, target: Target, why: string): WiringChange[] {
  const { client, file, scope } = target
  const before = readText(file)
  if (before === null) return []
  const after = without(ctx, target, before)
  if (after !== before) return [{ client, file, scope, action: after === null ? 'delete' : 'edit', before, after, why }]
  if (!before.includes('tidemark') || !['yours', 'hand-made'].includes(target.state(before))) return []
  return [unchanged(target, before, 'its entry called tidemark was not made by tidemark and is left alone')]
}
