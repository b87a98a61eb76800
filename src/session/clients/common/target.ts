import { unlessRefused } from '../../../base/errors.ts'
import { isOnlyProject } from '../../../engine/store/project-list.ts'
import { sha256 } from '../../../model/digest.ts'
import { readText } from './files.ts'
import { type Entry, entryOf, revert, spliceOf } from './journal.ts'
import { ALREADY_THERE, type ClientContext, type Step, type Undo, type WiringChange } from './types.ts'

/** `stale`: for another place or of an earlier version; `hand-made`: ours in other words; `yours`: another program. */
export type State = 'absent' | 'ours' | 'stale' | 'hand-made' | 'yours'

export interface Part {
  /** Names it in the journal, for ever. */
  name: string
  /** What an earlier version called it, where it is the first of its file. */
  once?: string
  state(text: string): State
  insert(text: string): { text: string; undo: Undo }
  /** Takes out our entry only; the very text if there is none. Without `undo` (no journal) a hand-made entry is not ours. */
  remove(text: string, undo: Undo | undefined): string
  /** Whether the user may have written the very same words, so that only a journal can tell them apart. */
  mayBeTheirs?: boolean
}

/** The way back where the entry made no container. */
export const WHOLE: Undo = { kept: 0, interior: null }

export interface Target {
  client: string
  file: string
  scope: WiringChange['scope']
  parts: Part[]
  isEmpty(text: string): boolean
  fresh?: { text: string; end: string }
}

/** A file that is ours from the first word to the last. */
export const ownFile = (
  client: string,
  file: string,
  scope: Target['scope'],
  part: string,
  ours: string,
  isOurs: (text: string) => boolean,
): Target => ({
  client,
  file,
  scope,
  parts: [
    {
      name: part,
      state: (text) => (text.trim() === '' ? 'absent' : text === ours ? 'ours' : isOurs(text) ? 'stale' : 'yours'),
      insert: (text) => ({ text: text + ours, undo: WHOLE }),
      remove: (text) => (isOurs(text) ? '' : text),
    },
  ],
  isEmpty: (text) => text.trim() === '',
})

/** What the journal says of a file, each step under the name of its part. */
function entryFor(ctx: ClientContext, target: Target): Entry | undefined {
  const entry = entryOf(ctx.root, target.file)
  const nameOf = (part: string) => (part === '' || part === target.parts[0]!.once ? target.parts[0]!.name : part)
  return entry && { ...entry, steps: entry.steps.map((s) => ({ ...s, part: nameOf(s.part) })) }
}

/**
 * The file without those of our entries that `goes` picks, with the steps of the journal that still hold of it: its original
 * bytes if that is all and nobody touched it since.
 */
function without(ctx: ClientContext, target: Target, text: string, goes: (part: Part, state: State) => boolean) {
  const entry = entryFor(ctx, target)
  const stepOf = (part: Part) => entry?.steps.find((step) => step.part === part.name)
  const going = target.parts.filter((part) => goes(part, part.state(text)))
  const staying = (entry?.steps ?? []).filter((step) => !going.some((part) => part.name === step.part))
  if (entry && staying.length === 0) {
    const original = revert(text, entry)
    if (original !== undefined) return { text: original, steps: [] }
  }
  if (entry && sha256(text) === entry.original) return { text, steps: [] }
  let left = text
  for (const part of going.toReversed()) left = part.remove(left, stepOf(part)?.undo)
  const made = entry ? entry.original === null : left !== text
  return made && target.isEmpty(left) ? { text: null, steps: [] } : { text: left, steps: staying }
}

export const leave = (
  { client, file, scope }: Pick<Target, 'client' | 'file' | 'scope'>,
  text: string | null,
  why: string,
): WiringChange => ({ client, file, scope, action: 'none', before: text, after: text, why })

/** Which of our entries a removal takes: by their look, and a hand-made one only where the journal says it was ours. */
function removable(ctx: ClientContext, target: Target): (part: Part, state: State) => boolean {
  const steps = new Set(entryFor(ctx, target)?.steps.map((step) => step.part))
  return (part, state) => state === 'ours' || state === 'stale' || (state === 'hand-made' && steps.has(part.name))
}

/** Plans to have our entries in a file: all, or those of these names; the others of ours go. */
export function plug(ctx: ClientContext, target: Target, why: string, wanted?: readonly string[]): WiringChange {
  const { client, file, scope } = target
  const before = readText(file)
  const entry = entryFor(ctx, target)
  const isWanted = (part: Part) => wanted === undefined || wanted.includes(part.name)
  const stateOf = (part: Part) => (before === null ? 'absent' : part.state(before))
  const canGo = removable(ctx, target)
  const missing = target.parts.filter((p) => isWanted(p) && ['absent', 'stale'].includes(stateOf(p)))
  const surplus = target.parts.filter((p) => !isWanted(p) && canGo(p, stateOf(p)))
  if ((ctx.personal === true && target.scope === 'committed') || (missing.length === 0 && surplus.length === 0)) {
    const isYours = target.parts.some((p) => isWanted(p) && stateOf(p) === 'yours')
    const yours = 'it has an entry called tidemark that tidemark did not make, which is left alone'
    return leave(target, before, isYours ? yours : ALREADY_THERE)
  }

  const untouched = before !== null && entry !== undefined && revert(before, entry) !== undefined
  const again = (part: Part, state: State) =>
    surplus.includes(part) ||
    state === 'stale' ||
    (untouched && state !== 'hand-made' && canGo(part, state)) ||
    (entry === undefined && state === 'ours' && !part.mayBeTheirs)
  const base = before === null ? { text: null, steps: [] } : without(ctx, target, before, again)
  const { text: empty, end } = target.fresh ?? { text: '', end: '' }
  const from = base.text ?? empty
  const steps: Step[] = [...base.steps]
  let text = from
  for (const part of target.parts) {
    if (!isWanted(part) || part.state(text) !== 'absent') continue
    const made = part.insert(text)
    steps.push({ part: part.name, undo: part.insert(from).undo, splice: spliceOf(text, made.text) })
    text = made.text
  }
  if (base.text === null) {
    text += end
    // for a file that was not there, nothing has to be remembered
    for (const step of steps) step.splice = { at: 0, removed: '', inserted: '' }
  }
  if (before !== null && sha256(before) === sha256(text)) return leave(target, before, ALREADY_THERE)
  const action = before === null ? 'create' : 'edit'
  const original = base.steps.length > 0 ? (entry?.original ?? null) : base.text === null ? null : sha256(base.text)
  return { client, file, scope, action, before, after: text, why, undo: { original, steps } }
}

/** Plans to have nothing of ours in a file; nothing if there is nothing. */
export function unplug(ctx: ClientContext, target: Target, why: string): WiringChange[] {
  const { client, file, scope } = target
  const before = readText(file)
  if (before === null) return []
  const take = () => without(ctx, target, before, removable(ctx, target)).text
  // broken, and nothing of ours in it: no hindrance
  const after = before.includes('tidemark') ? take() : unlessRefused(take, () => before)
  if (after !== before) return [{ client, file, scope, action: after === null ? 'delete' : 'edit', before, after, why }]
  if (!before.includes('tidemark') || !target.parts.some((p) => ['yours', 'hand-made'].includes(p.state(before))))
    return []
  return [leave(target, before, 'its entry called tidemark was not made by tidemark and is left alone')]
}

/** Plans to leave a file to the plugin: what this machine put in goes, what came with the project stays. */
export function giveWay(ctx: ClientContext, target: Target, plugin: string): WiringChange[] {
  const before = readText(target.file)
  if (before === null) return []
  const there = target.parts.filter((p) => ['ours', 'stale'].includes(p.state(before)))
  if (entryOf(ctx.root, target.file) || (target.scope === 'local' && there.some((p) => !p.mayBeTheirs)))
    return unplug(ctx, target, `${plugin} brings this now`)
  if (target.scope === 'local' || there.length === 0) return []
  return [leave(target, before, `the team's, which ${plugin} gives way to; it was not put in from this machine`)]
}

/** As `unplug` in a client's home: entries go with the project that made them, or with the user's last project. */
export function unplugHome(ctx: ClientContext, target: Target, why: string): WiringChange[] {
  const changes = unplug(ctx, target, why)
  if (entryOf(ctx.root, target.file) || isOnlyProject(ctx.root)) return changes
  const theirs = 'another project of this machine made its entry; uninstalling there takes it out for all'
  return changes.map((change) => ({ ...change, action: 'none', after: change.before, why: theirs }))
}

export const aloneHere = (ctx: ClientContext): string | undefined => {
  if (!ctx.launcher.onPath) return 'tidemark is not on the PATH here'
  return ctx.personal ? 'nothing that the team shares is touched (--personal)' : undefined
}

export function teamHas(target: Target): boolean {
  const text = readText(target.file)
  return text !== null && target.parts.every((part) => ['ours', 'stale'].includes(part.state(text)))
}

/** Plans the project's file where the bare command starts, else the one in the home, with full paths. */
export function plugEither(ctx: ClientContext, project: Target[], home: Target[]): WiringChange[] {
  const alone = aloneHere(ctx)
  if (alone && !(ctx.personal && ctx.launcher.onPath && project.every(teamHas)))
    return home.map((t) => plug(ctx, t, `${alone}, so this machine gets entries with full paths`))
  const surplus = home.flatMap((t) => unplugHome(ctx, t, 'tidemark is on the PATH now: the project has these'))
  const why =
    'shared with the team; it holds no path of this machine, and hooks do nothing where tidemark is not installed'
  return [...project.map((t) => plug(ctx, t, why)), ...surplus.filter((change) => change.action !== 'none')]
}

export const unplugBoth = (ctx: ClientContext, project: Target[], home: Target[]): WiringChange[] => [
  ...project.flatMap((t) => unplug(ctx, t, 'takes out what was put in')),
  ...home.flatMap((t) => unplugHome(ctx, t, 'takes out what was for this machine')),
]
