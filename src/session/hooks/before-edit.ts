import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { below } from '../../base/files.ts'
import { covers, overlaps } from '../../engine/claims/glob.ts'
import { leaseTime, sameTree } from '../../engine/claims/lease.ts'
import { type Part, placeOf } from '../../engine/claims/part.ts'
import { isRefusedFor } from '../../engine/write/batch.ts'
import { commandsIn, touchedBy } from '../../model/commands.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { localClock } from '../../model/times.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { elsewhere } from '../../work/coordination/labels.ts'
import { RULES_DIR } from '../../work/evolution/rules.ts'
import { expectEdited } from './backlog.ts'
import type { HookReply } from './call.ts'
import { type Conflict, collisionsWith, type Decision, foreseen, inTheWay, isKin, SEVERITY, who } from './conflicts.ts'
import { dataLine, deliveredSince, keepDelivered } from './delivery.ts'
import { type Hook, joined } from './hook.ts'
import type { Look } from './merges.ts'
import { filesOf } from './paths.ts'

/** One that was renewed so lately is not renewed again. */
const RENEW_MS = 60_000
/** Another hook may have been quicker after each of them. */
const LOOKS_AT_MOST = 3

/** `claims`: those in the way. `isLost`: what is not committed there would be gone, also where it is only being edited. */
function conflictsOn(hook: Hook, path: string, claims: Look['met'], isLost = false): Conflict[] {
  const { config } = hook
  return claims
    .filter((c) => !isKin(hook, c.session))
    .map((c): Conflict => {
      const note = c.note === undefined ? '' : `, "${dataLine(c.note, 120)}"`
      const what = `${dataLine(path, 200)}${c.at ? ` (${dataLine(c.at, 200)})` : ''}`
      const mark = `claim:${c.n} ${c.at ?? hook.call.tool?.command?.slice(0, 500) ?? ''}`
      const held = `${what} is ${c.implicit ? 'being edited' : 'claimed'} by ${who(hook, c.session)} since ${localClock(c.since)}${note} (claim ${c.n}: ${dataLine(placeOf(c), 120)}, until ${localClock(c.until)})`
      if (c.elsewhere) {
        const apart = dataLine(elsewhere(c, hook.sessions.get(c.session)), 300)
        return { decision: 'warn', path, claim: c, line: `${held}, ${apart}`, mark }
      }
      const isMild = c.implicit && !isLost
      return { decision: isMild ? config.implicitConflict : config.conflict, path, claim: c, line: held, mark }
    })
}

/** Claims the files of an edit for the session, and for the subagent's role unless it has claimed one itself. Whether others were in the way. */
export function claimImplicitly(hook: Hook, paths: readonly string[], looks?: ReadonlyMap<string, Look>): boolean {
  const { config, session, memory } = hook
  if (!config.implicitClaims || session === '') return false
  const now = leaseTime(memory.db, memory.env)
  const held = claimsOf(memory)
    .held()
    .filter((c) => c.session === session)
  const role = held.some((c) => c.role !== undefined && !c.implicit) ? undefined : hook.role
  const said = (part: Part | undefined) => JSON.stringify([part?.base, part?.lines])
  const fresh = (path: string, part: Part | undefined) =>
    held
      .filter((c) => c.what === 'path' && c.on === path && c.part === undefined && sameTree(c, hook))
      .some((c) => !c.implicit || (c.until - now > c.ttl - RENEW_MS && said(c) === said(part)))
  let isRefused = false
  for (const path of paths) {
    const part = looks?.get(path)?.held
    if (fresh(path, part)) continue
    const lines = part && { [path]: part as unknown as JsonObject }
    const wanted = defined({ paths: [path], implicit: true, root: hook.root, role, held: lines })
    hook.attempt('implicit claim', () => {
      try {
        memory.act([['claim', wanted]], hook.author)
      } catch (error) {
        if (!isRefusedFor(error, 'claimed')) throw error
        isRefused = true
      }
    })
  }
  return isRefused
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

/** Those of which the session was not told, or not since others have edited the file again. */
async function untold(hook: Hook, conflicts: readonly Conflict[]): Promise<readonly Conflict[]> {
  const { editedByOthers } = await import('./shell.ts')
  const delivered = deliveredSince(hook)
  return conflicts.filter(({ mark, path }) => {
    const at = delivered.get(mark)
    return at === undefined || editedByOthers(hook, at).has(path)
  })
}

/** What is decided and said where others are in the way; nothing where nobody is. */
async function judge(hook: Hook, found: readonly Conflict[]): Promise<HookReply> {
  const once = hook.session === '' ? [] : found.filter((c) => c.decision === 'once')
  const first = once.length === 0 ? [] : ((await hook.attemptLater('told before', () => untold(hook, once))) ?? [])
  const decided = (c: Conflict): Decision => (c.decision !== 'once' ? c.decision : first.includes(c) ? 'deny' : 'warn')
  const conflicts = found.map((c) => ({ ...c, decision: decided(c) }))
  const decision = conflicts.map((c) => c.decision).sort((a, b) => SEVERITY[b] - SEVERITY[a])[0]
  if (decision === undefined) return {}
  const lines = [...new Set(conflicts.map((c) => c.line))]
  // work trees have their own copies: there nobody waits for anybody
  const met = conflicts.find((c) => c.decision === decision && c.claim?.elsewhere === false)
  if (met?.claim)
    await hook.attemptLater('observed', async () =>
      (await import('./observe.ts')).conflictMet(hook, met.path, met.decision, met.claim!),
    )
  const visible = `Tidemark: ${lines[0]}`
  if (decision === 'warn') return { decision, reason: inTheWay(lines), visible }
  const isOnce = conflicts.every((c) => c.decision === 'warn' || first.some((f) => f.mark === c.mark))
  const todo = isOnce
    ? 'This is said once, and the same edit passes then. Look at what they have changed before you try again, and keep it.'
    : 'Work on something else, ask the person or that session to hand it over, or wait: `tidemark claim PATH --wait 30`. `tidemark claims` shows all.'
  const reason = `${inTheWay(lines)}\n${todo}`
  await keepDelivered(hook, first.map((c) => c.mark), reason) // biome-ignore format: a row
  return { decision, reason, visible }
}

/** Before a shell command: what it writes, moves, removes or resets is judged as an edit of it. What cannot be read passes. */
export async function beforeCommand(hook: Hook, command: string): Promise<HookReply> {
  const { root, call, session } = hook
  const touched = commandsIn(command).flatMap(touchedBy)
  if (touched.length === 0) return {}
  const conflicts = hook.attempt('conflicts', () => {
    const others = claimsOf(hook.memory)
      .held()
      .filter((c) => c.what === 'path' && c.session !== session)
      .map((c) => ({ ...c, elsewhere: !sameTree(c, { root }) }))
    if (others.length === 0) return []
    return touched.flatMap(({ how, path }) => {
      const isLost = how === 'removes' || how === 'resets'
      const place = path === '' ? '' : below(root, resolve(call.cwd ?? root, path))
      if (place === undefined) return []
      // the whole work tree, or what lies below a folder
      const inWay = others.filter((c) => (place === '' ? !c.elsewhere : overlaps(c.on, place)))
      return inWay.flatMap((c) => conflictsOn(hook, covers(c.on, place) ? place : c.on, [c], isLost))
    })
  })
  return judge(hook, conflicts ?? [])
}
