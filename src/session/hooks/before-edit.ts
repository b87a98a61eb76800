import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { below } from '../../base/files.ts'
import { covers, overlaps } from '../../engine/claims/glob.ts'
import { leaseTime, sameTree } from '../../engine/claims/lease.ts'
import { type Part, placeOf } from '../../engine/claims/part.ts'
import { commandsIn, touchedBy } from '../../model/commands.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { localClock } from '../../model/times.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { elsewhere } from '../../work/coordination/labels.ts'
import { RULES_DIR } from '../../work/evolution/rules.ts'
import { expectEdited } from './backlog.ts'
import type { HookReply } from './call.ts'
import { type Conflict, collisionsWith, foreseen, inTheWay, isKin, SEVERITY, who } from './conflicts.ts'
import { dataLine } from './delivery.ts'
import { type Hook, joined } from './hook.ts'
import type { Look } from './merges.ts'
import { filesOf } from './paths.ts'

/** One that was renewed so lately is not renewed again. */
const RENEW_MS = 60_000

/** `claims`: those in the way. `isLost`: what is not committed there would be gone, also where it is only being edited. */
function conflictsOn(
  hook: Hook,
  path: string,
  claims: readonly NonNullable<Conflict['claim']>[],
  { isLost = false, where }: { isLost?: boolean; where?: Look['where'] | undefined } = {},
): Conflict[] {
  const { config } = hook
  return claims
    .filter((c) => !isKin(hook, c.session))
    .map((c): Conflict => {
      const note = c.note === undefined ? '' : `, "${dataLine(c.note, 120)}"`
      const at = where?.get(c.n)
      const what = `${dataLine(path, 200)}${at ? ` (${dataLine(at, 200)})` : ''}`
      const held = `${what} is ${c.implicit ? 'being edited' : 'claimed'} by ${who(hook, c.session)} since ${localClock(c.since)}${note} (claim ${c.n}: ${dataLine(placeOf(c), 120)}, until ${localClock(c.until)})`
      if (c.elsewhere) {
        const apart = dataLine(elsewhere(c, hook.sessions.get(c.session)), 300)
        return { decision: 'warn', path, claim: c, line: `${held}, ${apart}` }
      }
      const isMild = c.implicit && !isLost
      return { decision: isMild ? config.implicitConflict : config.conflict, path, claim: c, line: held }
    })
}

/** Claims the files of an edit for the session, and for the subagent's role unless it has claimed one itself. */
export function claimImplicitly(hook: Hook, paths: readonly string[], looks?: ReadonlyMap<string, Look>): void {
  const { config, session, memory } = hook
  if (!config.implicitClaims || session === '') return
  const now = leaseTime(memory.db, memory.env)
  const held = claimsOf(memory)
    .held()
    .filter((c) => c.session === session)
  const role = held.some((c) => c.role !== undefined && !c.implicit) ? undefined : hook.role
  const said = (part: Part | undefined) => JSON.stringify([part?.base, part?.lines])
  const fresh = (path: string, part: Part | undefined) =>
    held.some((c) => c.on === path && c.until - now > c.ttl - RENEW_MS && said(c) === said(part)) ||
    held.some((c) => c.what === 'path' && placeOf(c) === path && !c.implicit)
  for (const path of paths) {
    const part = looks?.get(path)?.held
    if (fresh(path, part)) continue
    const lines = part && { [path]: part as unknown as JsonObject }
    hook.attempt('implicit claim', () =>
      memory.act(
        [['claim', defined({ paths: [path], implicit: true, root: hook.root, role, held: lines })]],
        hook.author,
      ),
    )
  }
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

/** Before a file is written: who else has it, what is known of it, and that this session has it now. */
export async function beforeEdit(hook: Hook): Promise<HookReply> {
  const paths = filesOf(hook)
  if (paths.length === 0) return {}
  const { against } = claimsOf(hook.memory)
  const looks = await foreseen(hook, paths)
  const conflicts =
    hook.attempt('conflicts', () =>
      paths.flatMap((path) => {
        const look = looks.get(path)
        const claims = against(hook.session, path, hook.root)
        // an edit in another work tree is known by what it changed there
        const met = look ? claims.filter((c) => !look.spared.has(c.n) && !(c.elsewhere && c.implicit)) : claims
        return [
          ...conflictsOn(hook, path, met, { where: look?.where }),
          ...(look ? collisionsWith(hook, path, look) : []),
        ]
      }),
    ) ?? []
  const judged = await judge(hook, conflicts)
  if (judged.decision === 'deny' || judged.decision === 'ask') return judged
  hook.attempt('implicit claim', () => claimImplicitly(hook, paths, looks))
  if (hook.call.tool?.command !== undefined) expectEdited(hook, paths)
  const context = await aboutFiles(hook, paths)
  return { ...judged, context }
}

/** What is decided and said where others are in the way; nothing where nobody is. */
async function judge(hook: Hook, conflicts: readonly Conflict[]): Promise<HookReply> {
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
  const todo =
    'Work on something else, ask the person or that session to hand it over, or wait: `tidemark claim PATH --wait 30`. `tidemark claims` shows all.'
  return { decision, reason: `${inTheWay(lines)}\n${todo}`, visible }
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
      return inWay.flatMap((c) => conflictsOn(hook, covers(c.on, place) ? place : c.on, [c], { isLost }))
    })
  })
  return judge(hook, conflicts ?? [])
}
