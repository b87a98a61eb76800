import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { below, realPath, statOf } from '../../base/files.ts'
import { gitRoot } from '../../base/git.ts'
import { covers, overlaps } from '../../engine/claims/glob.ts'
import { sameTree } from '../../engine/claims/lease.ts'
import { placeOf } from '../../engine/claims/part.ts'
import { commandsIn, type Touch, touchedBy } from '../../model/commands.ts'
import { localClock } from '../../model/times.ts'
import { type Claim, claimsOf } from '../../work/coordination/claims.ts'
import { elsewhere } from '../../work/coordination/labels.ts'
import { RULES_DIR } from '../../work/evolution/rules.ts'
import { expectEdited } from './backlog.ts'
import type { HookReply } from './call.ts'
import {
  type Conflict, collisionsWith, type Decision, foreseen, inTheWay, isKin, leftBy, othersAtWork, SEVERITY, wasEdited,
  who,
} from './conflicts.ts' // biome-ignore format: a list
import { dataLine, deliveredSince, keepDelivered } from './delivery.ts'
import { type Hook, joined } from './hook.ts'
import { claimImplicitly } from './implicit-claims.ts'
import type { Look } from './merges.ts'
import { filesOf, notable } from './paths.ts'

/** For so long an edit that was refused twice passes whatever others do: a busy neighbour must not hold it up for ever. */
const TRY_AGAIN_MS = 30_000
/** Another hook may have been quicker after each of them. */
const LOOKS_AT_MOST = 3
/** Looked at in one session. */
const FILES_AT_MOST = 20
/** Told of what is in the way. */
const LINES_AT_MOST = 8

/** By what an edit is known that is tried again, where nobody knows its lines. A command may hold a secret: its hash. */
const written = ({ call: { tool } }: Hook): string =>
  tool?.command === undefined ? (tool?.name ?? '') : createHash('sha256').update(tool.command).digest('base64url')

/** `claims`: those in the way. `isLost`: what is not committed there would be gone, also where it is only being edited. */
function conflictsOn(hook: Hook, path: string, claims: Look['met'], isLost = false): Conflict[] {
  const { config } = hook
  return claims
    .filter((c) => !isKin(hook, c.session))
    .map((c): Conflict => {
      const note = c.note === undefined ? '' : `, "${dataLine(c.note, 120)}"`
      const what = `${dataLine(path, 200)}${c.at ? ` (${dataLine(c.at, 200)})` : ''}`
      const mark = `claim:${c.n || `${c.session} ${path}`} ${c.row ?? written(hook)}`
      const held =
        c.n === 0
          ? `${what} was changed by ${who(hook, c.session)} and is not committed`
          : `${what} is ${c.implicit ? 'being edited' : 'claimed'} by ${who(hook, c.session)} since ${localClock(c.since)}${note} (claim ${c.n}: ${dataLine(placeOf(c), 120)}, until ${localClock(c.until)})`
      if (c.elsewhere) {
        const apart = dataLine(elsewhere(c, hook.sessions.get(c.session)), 300)
        return { decision: 'warn', path, claim: c, line: `${held}, ${apart}`, mark }
      }
      const isMild = c.implicit && !isLost
      const decision = isMild ? config.implicitConflict : config.conflict
      return { decision, path, claim: c, line: held, mark, again: `${mark} again ${c.head ?? ''}` }
    })
}

/** The rules for files, and what is known of them. A project without a folder of rules pays one look. */
export async function aboutFiles(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const rules = existsSync(join(hook.project.root, RULES_DIR))
    ? await hook.attemptLater('rules', async () => (await import('./file-rules.ts')).rulesFor(hook, paths))
    : undefined
  const known = await hook.attemptLater('known of the file', async () =>
    (await import('./file-knowledge.ts')).knownOf(hook, paths),
  )
  return joined(rules, known)
}

/** What is in the way of an edit: by the look at it, or where there is none, each claim on its file. */
function met(hook: Hook, path: string, look: Look | undefined): Conflict[] {
  if (!look) return conflictsOn(hook, path, claimsOf(hook.memory).against(hook.session, path, hook.root))
  // an edit in another work tree is known by what it changed there
  const claims = look.met.filter((c) => !(c.elsewhere && c.implicit))
  return [...conflictsOn(hook, path, claims), ...collisionsWith(hook, path, look)]
}

/** Before a file is written: who else has it, what is known of it, and that this session has it now. */
export async function beforeEdit(hook: Hook): Promise<HookReply> {
  const paths = filesOf(hook)
  if (paths.length === 0) return {}
  let judged: HookReply = {}
  for (let turn = 1; turn <= LOOKS_AT_MOST && judged.decision === undefined; turn++) {
    const looks = await foreseen(hook, paths)
    judged = await judge(hook, hook.attempt('conflicts', () => paths.flatMap((p) => met(hook, p, looks.get(p)))) ?? [])
    if (judged.decision === 'deny' || judged.decision === 'ask') return judged
    if (!hook.attempt('implicit claim', () => claimImplicitly(hook, paths, looks))) break
  }
  if (hook.call.tool?.command !== undefined) expectEdited(hook, paths)
  return { ...judged, context: await aboutFiles(hook, paths) }
}

/**
 * Those of which the session was not told, or before others edited the file again, each with the marks of its telling. Who was
 * refused twice within a short time passes, until what was in the way is committed.
 */
function untold(hook: Hook, conflicts: readonly Conflict[]): ReadonlyMap<Conflict, readonly string[]> {
  const delivered = deliveredSince(hook)
  const isLately = (mark: string) => hook.memory.env.now() - (delivered.get(mark) ?? 0) <= TRY_AGAIN_MS
  const found = new Map<Conflict, readonly string[]>()
  for (const c of conflicts) {
    const at = delivered.get(c.mark)
    const { again = `${c.mark} again` } = c
    if (at === undefined) found.set(c, [c.mark])
    else if (!isLately(again) && wasEdited(hook, c.path, at))
      found.set(c, isLately(c.mark) ? [c.mark, again] : [c.mark])
  }
  return found
}

/** What is decided and said where others are in the way; nothing where nobody is. */
async function judge(hook: Hook, found: readonly Conflict[]): Promise<HookReply> {
  const once = hook.session === '' ? [] : found.filter((c) => c.decision === 'once')
  const first =
    (once.length > 0 && hook.attempt('told before', () => untold(hook, once))) || new Map<Conflict, string[]>()
  const decided = (c: Conflict): Decision => (c.decision !== 'once' ? c.decision : first.has(c) ? 'deny' : 'warn')
  const conflicts = found.map((c) => ({ ...c, decision: decided(c), isOnce: first.has(c) }))
  const decision = conflicts.map((c) => c.decision).sort((a, b) => SEVERITY[b] - SEVERITY[a])[0]
  if (decision === undefined) return {}
  const all = [...new Set(conflicts.map((c) => c.line))]
  const lines =
    all.length > LINES_AT_MOST ? [...all.slice(0, LINES_AT_MOST), `and ${all.length - LINES_AT_MOST} more`] : all
  // work trees have their own copies: there nobody waits for anybody
  const met = conflicts.find((c) => c.decision === decision && c.claim?.elsewhere === false)
  if (met?.claim)
    await hook.attemptLater('observed', async () =>
      (await import('./observe.ts')).conflictMet(hook, met.path, met.decision, met.claim!),
    )
  const visible = `Tidemark: ${lines[0]}`
  if (decision === 'warn') return { decision, reason: inTheWay(lines), visible }
  const isOnce = conflicts.every((c) => c.decision === 'warn' || c.isOnce)
  const todo = isOnce
    ? 'This is said once, and the same call passes then, unless they edit meanwhile. Look at what they have changed before you try again, and keep it.'
    : 'Work on something else, ask the person or that session to commit it or hand it over, or wait: `tidemark claim PATH --wait 30`. `tidemark claims` shows all.'
  const reason = `${inTheWay(lines)}\n${todo}`
  await keepDelivered(hook, [...first.values()].flat(), reason)
  return { decision, reason, visible }
}

/** Whether a file differs from what is committed. What git does not tell does. */
async function isUncommitted(root: string, path: string): Promise<boolean> {
  const { NO_FILE, versionAt, versionHere } = await import('../../find/code/versions.ts')
  const head = await versionAt(root, `HEAD:./${path}`)
  return head?.rows.join('\n') !== (versionHere(root, path) ?? NO_FILE).rows.join('\n')
}

/** What a command would take from other live sessions that their claims do not tell: edits that nobody has committed. */
async function lostEdits(hook: Hook, root: string, place: string, claims: readonly Claim[]): Promise<Conflict[]> {
  const own = new Set(hook.sessions.get(hook.session)?.files)
  const found: Conflict[] = []
  for (const other of othersAtWork(hook).filter((s) => s.root === root))
    for (const path of other.files.filter((f) => place === '' || covers(place, f)).slice(-FILES_AT_MOST)) {
      const isClaimed = claims.some((c) => c.session === other.id && covers(c.on, path))
      if (isClaimed || !(await isUncommitted(root, path))) continue
      found.push(...conflictsOn(hook, path, [leftBy(other, path)], !own.has(path)))
    }
  return found
}

/** A touched file by its whole path. Of a link also the file that it names: to write one is to write the other. */
function touchedAt(hook: Hook, { how, path, isTree, into = '' }: Touch) {
  const said = resolve(hook.call.cwd ?? hook.root, path)
  const to = into !== '' && statOf(said)?.isDirectory() ? join(said, into) : said
  const all = how === 'writes' ? new Set([to, attempt(() => realPath(to)) ?? to]) : [to]
  return [...all].map((to) => ({ how, to, isTree }))
}

/** Before a shell command: what it writes, moves, removes or resets is judged as an edit of it. What cannot be read passes. */
export async function beforeCommand(hook: Hook, command: string): Promise<HookReply> {
  const touched = commandsIn(command).flatMap(touchedBy)
  if (touched.length === 0) return {}
  const written: string[] = []
  const conflicts = await hook.attemptLater('conflicts', async () => {
    const others = claimsOf(hook.memory)
      .held()
      .filter((c) => c.what === 'path' && c.session !== hook.session)
    const live = othersAtWork(hook)
    const found: Conflict[] = []
    if (others.length + live.length === 0) return found
    const trees = new Set([hook.root, ...others.map((c) => c.root), ...live.map((s) => s.root)])
    for (const { how, to, isTree } of touched.flatMap((touch) => touchedAt(hook, touch))) {
      const isLost = how === 'removes' || how === 'resets'
      const root = gitRoot(to) ?? hook.root
      const place = isTree ? '' : below(root, to)
      if (place === undefined || !trees.has(root)) continue
      if (how === 'writes' && root === hook.root && statOf(to)?.isFile()) written.push(place)
      // the whole work tree, or what lies below a folder
      const inWay = others
        .map((c) => ({ ...c, elsewhere: !sameTree(c, { root }) }))
        .filter((c) => (place === '' ? !c.elsewhere : overlaps(c.on, place)))
      for (const c of inWay) {
        const takes = isLost && (!c.implicit || (await isUncommitted(root, c.on)))
        // what is committed stays
        if (how === 'resets' && !takes) continue
        found.push(...conflictsOn(hook, covers(c.on, place) ? place : c.on, [c], takes))
      }
      if (isLost) found.push(...(await lostEdits(hook, root, place, inWay)))
    }
    return found
  })
  const judged = await judge(hook, conflicts ?? [])
  // held from now on: who edits these files before the command is over is judged by what it has written by then
  if (written.length > 0 && (judged.decision === undefined || judged.decision === 'warn'))
    claimImplicitly(
      hook,
      [...new Set(written)].filter((path) => notable(hook.config, path)),
    )
  return judged
}
