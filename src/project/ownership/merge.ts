import { basename, dirname } from 'node:path'
import { attempt, refuse } from '../../base/errors.ts'
import { readInside, writeInside } from '../../base/files.ts'
import type { ActOptions, Memory } from '../../engine/memory.ts'
import { digest } from '../../model/digest.ts'
import { plainLine } from '../../travel/formats/import/classify.ts'
import { blocksOf } from '../../travel/formats/import/markdown.ts'
import { firstSentence } from '../../travel/formats/import/text.ts'
import { backedUp, keepBackup, mustBeUnchanged, replaceShown } from '../../work/evolution/file-edit.ts'
import { diffOf } from '../../work/evolution/skill.ts'
import { readObservationLine } from '../../work/handoff/views/observations.ts'
import { type Overlap, readsOther } from './overlaps.ts'
import { isStore, type Place } from './stores.ts'

interface Edit {
  readonly root: string
  readonly path: string
  /** How people call the file. */
  readonly store: string
  readonly before: string
  readonly after: string
}

export interface Merge {
  readonly edits: readonly Edit[]
  readonly actions: readonly (readonly [verb: string, args: { [arg: string]: unknown }])[]
  /** What stays as it is, and why. */
  readonly left: readonly string[]
}

/** The file without the lines of these statements. */
function without(places: readonly Place[]): Edit {
  const [{ store, lines }] = places as [Place]
  const { root, path } = lines!
  const bytes = readInside(root, path) ?? Buffer.alloc(0)
  const before = bytes.toString('utf8')
  if (!Buffer.from(before).equals(bytes)) refuse('not-utf8', `${store} is not UTF-8 text`, 'save it as UTF-8 first')
  const blocks = blocksOf(before.replaceAll('\r\n', '\n'))
  const gone = new Set<number>()
  for (const { texts, lines } of places) {
    const block = blocks.find((b) => b.line === lines!.from && b.end === lines!.to)
    if (!block || plainLine(block.text) !== texts[0])
      refuse('target-changed', `${store} was changed in this moment`, 'the same command shows it anew')
    for (let line = lines!.from; line <= lines!.to; line++) gone.add(line)
  }
  const kept = before.split(/(?<=\n)/).filter((_, i) => !gone.has(i + 1))
  return { root, path, store, before, after: kept.join('') }
}

/** How the knowledge takes over a statement that stands elsewhere. */
function takenOver({ owner, places: [place] }: Overlap): Merge['actions'][number] {
  const text = place!.texts[0]!
  const title = firstSentence(text)
  const whole = (field: string) => (title === text ? {} : { [field]: text })
  if (owner === 'knowledge (observations)') return ['record-observation', readObservationLine(text)!]
  if (owner === 'knowledge (learnings)') return ['record-learning', { title, ...whole('body') }]
  if (owner === 'knowledge (decisions)')
    return ['record-decision', { name: title, ...whole('description'), expectedVersion: 0 }]
  return refuse(
    'no-merge',
    'the state of a session goes into its handoff, which the session itself writes',
    `ask the agent for a handoff, then delete ${place!.where}`,
  )
}

/** What a statement beside the owner's becomes: its lines go, or it says where it stands. */
function besides(owner: Place, place: Place): { gone?: Place; action?: Merge['actions'][number]; left?: string } {
  const { where, lines, entity, subject } = place
  if (entity?.kind === 'fact' && owner.subject === 'context' && owner.lines)
    return { action: ['record-fact', { ref: entity.id, locations: [owner.where], expectedVersion: entity.version }] }
  if (!lines) return { left: `${where} stays: ${entity ? 'it is no copy of a rule' : 'ADD keeps that file'}` }
  if (lines.hasMore) return { left: `${where} stays: items below it belong to it` }
  if (subject === 'context' && owner.subject === 'context' && owner.store !== place.store && !readsOther(place, owner))
    return { left: `${where} stays: its client reads no other file` }
  return { gone: place }
}

/** What merging would change. @throws UserError where it would change nothing. */
export function mergeOf(overlap: Overlap): Merge {
  const [owner, ...others] = overlap.places as [Place, ...Place[]]
  if (overlap.type === 'copies')
    refuse(
      'copies',
      `each client reads its own file: ${owner.store}, ${others.map((p) => p.store).join(' and ')}`,
      `write \`@${owner.store}\` into a file whose client follows imports (CLAUDE.md, GEMINI.md)`,
    )
  const isMoved = overlap.type === 'misplaced'
  if (isMoved && owner.lines?.hasMore)
    refuse('no-merge', `items below ${owner.where} belong to it`, 'merge those first')
  const parts = isMoved ? [{ gone: owner, action: takenOver(overlap) }] : others.map((p) => besides(owner, p))
  const actions = parts.flatMap((p) => (p.action ? [p.action] : []))
  const gone = parts.flatMap((p) => p.gone ?? [])
  const edits = [...Map.groupBy(gone, (p) => p.store).values()].map(without)
  const left = parts.flatMap((p) => ('left' in p && p.left) || [])
  if (edits.length + actions.length === 0) refuse('no-merge', left.join('; '), 'change it by hand, where it has to go')
  return { edits, actions, left }
}

/** What a person is shown before the yes. */
export const shownMerge = ({ edits, actions, left }: Merge): string =>
  [
    ...edits.map((e) => diffOf(e.store, e.before, e.after)),
    ...actions.map(([verb, { expectedVersion: _, ...args }]) => `${verb} ${JSON.stringify(args)}`),
    ...left,
  ].join('\n\n')

/** What was merged on this machine, for a revert. */
interface Entry {
  readonly id: string
  readonly files: readonly { store: string; base: string; result: string }[]
  readonly batch?: string
}
const JOURNAL = '.tidemark/local/merges.json'

function journalOf(root: string): Entry[] {
  // damaged: the backups are there still
  const entries = attempt((): unknown => JSON.parse(`${readInside(root, JOURNAL) ?? '[]'}`))
  return Array.isArray(entries) ? entries.filter((e) => typeof e?.id === 'string' && Array.isArray(e.files)) : []
}

const keepJournal = (root: string, entries: readonly Entry[]): void =>
  writeInside(root, JOURNAL, `${JSON.stringify(entries, null, 2)}\n`, { sync: true })

/** Merges, after a person has seen it and said yes. Returns the name by which it is reverted. */
export function applyMerge(memory: Memory, root: string, { edits, actions }: Merge, author: ActOptions): string {
  const files = edits.map(({ store, before, after }) => {
    return { store, base: digest(Buffer.from(before)), result: digest(Buffer.from(after)) }
  })
  for (const e of edits) keepBackup(root, e.before)
  for (const [i, e] of edits.entries()) mustBeUnchanged(e.root, e.path, files[i]!.base)
  const { batch } = actions.length === 0 ? { batch: null } : memory.act([...actions], author)
  const entries = journalOf(root)
  const last = Math.max(0, ...entries.map(({ id }) => Number(/^S-(\d{1,9})$/.exec(id)?.[1] ?? 0)))
  const id = `S-${String(last + 1).padStart(3, '0')}`
  keepJournal(root, [...entries, { id, files, ...(batch !== null && { batch }) }])
  for (const [i, e] of edits.entries()) replaceShown(e.root, e.path, files[i]!.base, e.after)
  return id
}

/** What reverting a merge would do. It throws a UserError where a file was changed since, and so does `run`. */
export function revertOf(root: string, id: string, memoryFile?: string) {
  const entries = journalOf(root)
  const entry = entries.find((e) => e.id === id.trim().toUpperCase())
  if (!entry)
    return refuse(
      'not-found',
      `no merge ${id} was made on this machine`,
      entries.length === 0 ? 'nothing was merged' : `it knows ${entries.map((e) => e.id).join(', ')}`,
    )
  const files = entry.files.flatMap(({ store, base, result }) => {
    const isMemory = store === memoryFile
    if (!isMemory && !isStore(store))
      return refuse(
        'not-in-project',
        `${store} lies outside of the project`,
        `name it: \`tidemark stores revert ${entry.id} --memory FILE\``,
      )
    const at = isMemory ? { root: dirname(store), path: basename(store) } : { root, path: store }
    const now = readInside(at.root, at.path)
    const hash = now === undefined ? '' : digest(now)
    if (hash === base) return []
    if (hash !== result)
      return refuse(
        'target-changed',
        `${store} was changed since ${entry.id}`,
        'put the lines back by hand, or restore the file with git',
      )
    const bytes = backedUp(root, base)
    if (!bytes)
      return refuse(
        'no-backup',
        `the copy of ${store} from before ${entry.id} is not on this machine`,
        'restore the file with git',
      )
    return [{ ...at, hash, bytes, diff: diffOf(store, now!.toString('utf8'), bytes.toString('utf8')) }]
  })
  return {
    diff: [...files.map((f) => f.diff), ...(entry.batch ? [`undo ${entry.batch}`] : [])].join('\n\n'),
    run(memory: Memory, author: ActOptions): void {
      for (const f of files) mustBeUnchanged(f.root, f.path, f.hash)
      if (entry.batch) memory.act([['undo', { batch: entry.batch }]], author)
      for (const f of files) writeInside(f.root, f.path, f.bytes, { sync: true })
      const others = entries.filter((e) => e !== entry)
      keepJournal(root, others)
    },
  }
}
