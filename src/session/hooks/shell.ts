import { join } from 'node:path'
import { statOf } from '../../base/files.ts'
import { commandsIn, programOf, under } from '../../model/commands.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { noteEdited } from './backlog.ts'
import { excludedCommand, excludedPath } from './config.ts'
import { collisionsWith, editedByOthers, foreseen, inTheWay, who } from './conflicts.ts'
import { dataLine, dataList, deliveredSince, keepDelivered } from './delivery.ts'
import type { Hook } from './hook.ts'
import { claimImplicitly } from './implicit-claims.ts'
import { inTree, notable } from './paths.ts'

/** How far back a change counts as the command's, at most, and where the client does not say how long it ran. */
const WINDOW_MS = 10 * 60_000
const UNSAID_MS = 5_000
/** The process of a hook starts after the command's end, and a file system keeps times less exactly than the clock does. */
const SLACK_MS = 300
const MAX_FILES = 60

/** Whatever in a command may be the path of a file: its words, and what stands in code that it hands on. */
function pathsNamed({ root, call }: Hook, command: string): Set<string> {
  const words = commandsIn(command).flatMap(({ words, writes, dir }) =>
    [...words, ...writes].flatMap((word) => under(dir, word.replace(/^[\w-]+=/, '')) ?? []),
  )
  const parts = command.slice(0, 8_000).split(/[\s"'`|&;<>(){}$,=]/)
  const named = [...words, ...parts].filter((word) => word !== '' && !word.startsWith('-') && word.length < 500)
  return new Set(named.flatMap((word) => inTree(root, call.cwd, word) ?? []))
}

/** Whether a command names a file of which nothing may be noted. */
export const namesExcluded = (hook: Hook, command: string): boolean =>
  hook.config.excludePaths.length > 0 && [...pathsNamed(hook, command)].some((path) => excludedPath(hook.config, path))

/** Programs that only look, unless their output goes into a file. */
const LOOKS =
  /^(?:cat|ls|ll|head|tail|less|more|grep|rg|fd|wc|stat|file|diff|pwd|echo|printf|which|tree|tidemark|git (?:status|diff|log|show|blame|branch)|cd)(?: |$)/

const READS = /^(?:cat|head|tail|less|more|bat|nl|sed -n) /

/** Files that a command prints, as it names them: clients without a tool for it read so. */
export const readByShell = (command: string): string[] =>
  commandsIn(command)
    .filter(({ words }) => READS.test(words.join(' ')))
    .flatMap(({ words, dir }) =>
      words
        .slice(1)
        .filter((w) => !w.startsWith('-') && /\.\w/.test(w))
        .flatMap((w) => under(dir, w) ?? []),
    )
    .slice(0, 3)

/** `mark`: this change of it is told once. */
type Changed = Readonly<{ path: string; named: boolean; mark: string }>

/**
 * Files that were written while a shell command ran, as far as can be seen from outside: of those that it names, and of
 * those that other sessions have claimed by name, unless these told of an edit themselves. A command that writes files
 * which nobody named, or removes some, goes unseen.
 */
function changedByShell(hook: Hook, command: string, since: number): Changed[] {
  if (commandsIn(command).every((c) => c.writes.length === 0 && LOOKS.test(programOf(c.words).join(' ')))) return []
  const { root, config, memory } = hook
  const named = pathsNamed(hook, command)
  const claimed = claimsOf(memory)
    .held()
    .filter((c) => c.session !== hook.session && c.what === 'path' && (c.root === undefined || c.root === root))
  const byOthers = editedByOthers(hook, since - 1_000)
  const told = deliveredSince(hook)
  const changed: Changed[] = []
  for (const path of [...new Set([...named, ...claimed.map((c) => c.on)])].slice(0, MAX_FILES)) {
    if (!notable(config, path) || byOthers.has(path)) continue
    const stat = statOf(join(root, path))
    const mark = `changed:${path} ${stat?.mtimeMs}`
    if (stat?.isFile() && stat.mtimeMs >= since && !told.has(mark)) changed.push({ path, named: named.has(path), mark })
  }
  return changed
}

export async function afterShell(hook: Hook): Promise<string | undefined> {
  const { call, memory, session } = hook
  const command = call.tool?.command
  if (command === undefined || session === '' || excludedCommand(hook.config, command)) return undefined
  const ran = Math.min(WINDOW_MS, call.tool?.ms ?? UNSAID_MS)
  const taken: string[] = []
  const changed = changedByShell(hook, command, memory.env.now() - ran - SLACK_MS)
  const looks = await foreseen(hook, changed.filter((c) => c.named).map((c) => c.path), true) // biome-ignore format: a row
  const collide = [...looks].flatMap(([path, look]) => collisionsWith(hook, path, look).map((c) => c.line))
  const marks: string[] = []
  for (const { path, named, mark } of changed) {
    const holders = claimsOf(memory)
      .against(session, path, hook.root)
      .filter((c) => !c.elsewhere && c.session !== call.parent)
    if (named) {
      noteEdited(hook, [path], 'shell')
      claimImplicitly(hook, [path], looks)
    } else if (holders.length > 0)
      hook.attempt('changed meanwhile', () => hook.sessions.changedWhileRunning(session, path))
    if (holders.length > 0) marks.push(mark)
    for (const c of holders)
      taken.push(
        `${dataLine(path, 200)}, which ${who(hook, c.session)} ${c.implicit ? 'is editing' : 'has claimed'} (claim ${c.n})`,
      )
  }
  const met = collide.length === 0 ? undefined : inTheWay(collide)
  if (taken.length === 0) return met
  const text = dataList('While that command ran, these were changed (Tidemark; information, no instructions):', taken)
  await keepDelivered(hook, marks, text)
  return `${met === undefined ? '' : `${met}\n`}${text}\nIf it was the command, take the change back or agree with that session before going on.`
}
