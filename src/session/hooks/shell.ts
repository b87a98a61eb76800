import { statSync } from 'node:fs'
import { join } from 'node:path'
import { presenceAfter } from '../../engine/store/presence.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { noteEdited } from './backlog.ts'
import { excludedCommand, excludedPath } from './config.ts'
import { dataLine, dataList } from './delivery.ts'
import type { Hook } from './hook.ts'
import { inTree, notable } from './paths.ts'

/** How far back a change counts as the command's, at most, and where the client does not say how long it ran. */
const WINDOW_MS = 10 * 60_000
const UNSAID_MS = 5_000
/** A file system keeps times less exactly than the clock does. */
const SLACK_MS = 50
/** Events that may be of the time in which a command ran. */
const LOOK_BACK = 1_000
const MAX_WORDS = 60
const MAX_FILES = 60

const WORD = /"([^"\n]+)"|'([^'\n]+)'|([^\s"'|&;<>()`$]+)/g

function wordsOf(command: string): string[] {
  const found = new Set<string>()
  for (const m of command.slice(0, 8_000).matchAll(WORD)) {
    const word = (m[1] ?? m[2] ?? m[3] ?? '').replace(/^[\w-]+=/, '')
    if (word !== '' && !word.startsWith('-') && word.length < 500) found.add(word)
    if (found.size >= MAX_WORDS) break
  }
  return [...found]
}

export const namesExcluded = ({ root, call, config }: Hook, command: string): boolean =>
  config.excludePaths.length > 0 &&
  wordsOf(command).some((word) => {
    const path = inTree(root, call.cwd, word)
    return path !== undefined && excludedPath(config, path)
  })

/** Commands that only look, unless they write into something. */
const LOOKS =
  /^\s*(?:cat|ls|ll|head|tail|less|more|grep|rg|find|fd|wc|stat|file|diff|pwd|echo|printf|which|tree|git\s+(?:status|diff|log|show|blame|branch)|tidemark)\b[^>;&|]*$/

/** Files that a command prints, as it names them: clients without a tool for it read so. */
export const readByShell = (command: string): string[] =>
  /^\s*(?:cat|head|tail|less|more|bat|nl|sed\s+-n)\s/.test(command)
    ? wordsOf(command)
        .filter((word) => /\.\w/.test(word))
        .slice(0, 3)
    : []

/** Files of which their own sessions told an edit meanwhile. */
function editedByOthers({ memory, session }: Hook, since: number): Set<string> {
  const recent = presenceAfter(memory.db, Math.max(0, memory.cursor - LOOK_BACK))
  return new Set(
    recent
      .filter((e) => e.type === 'edited' && e.session !== session && e.at >= since - 1_000)
      .map((e) => String(e.body.path)),
  )
}

interface Changed {
  readonly path: string
  readonly named: boolean
}

/** Files that changed while a command ran: those it names, and those that others claimed and did not edit. */
function changedByShell(hook: Hook, command: string, since: number): Changed[] {
  if (LOOKS.test(command)) return []
  const { root, call, config, memory } = hook
  const named = new Set(wordsOf(command).flatMap((word) => inTree(root, call.cwd, word) ?? []))
  const claimed = claimsOf(memory)
    .held()
    .filter((c) => c.session !== hook.session && c.what === 'path' && (c.root === undefined || c.root === root))
  const byOthers = editedByOthers(hook, since)
  const changed: Changed[] = []
  for (const path of [...new Set([...named, ...claimed.map((c) => c.on)])].slice(0, MAX_FILES)) {
    if (!notable(config, path) || byOthers.has(path)) continue
    const stat = statSync(join(root, path), { throwIfNoEntry: false })
    if (stat?.isFile() && stat.mtimeMs >= since) changed.push({ path, named: named.has(path) })
  }
  return changed
}

export function afterShell(hook: Hook): string | undefined {
  const { call, memory, session } = hook
  const command = call.tool?.command
  if (command === undefined || session === '' || excludedCommand(hook.config, command)) return undefined
  const ran = Math.min(WINDOW_MS, call.tool?.ms ?? UNSAID_MS)
  const taken: string[] = []
  for (const { path, named } of changedByShell(hook, command, memory.env.now() - ran - SLACK_MS)) {
    const holders = claimsOf(memory)
      .against(session, path, hook.root)
      .filter((c) => !c.elsewhere && c.session !== call.parent)
    if (named) noteEdited(hook, [path], 'shell')
    for (const c of holders)
      taken.push(
        `${dataLine(path, 200)}, which ${dataLine(c.session, 100)} ${c.implicit ? 'is editing' : 'has claimed'} (claim ${c.n})`,
      )
  }
  if (taken.length === 0) return undefined
  const title = 'While that command ran, these were changed (Tidemark; information, no instructions):'
  return `${dataList(title, taken)}\nIf it was the command, take the change back or agree with that session before going on.`
}
