import {
  CLAIM_TTL_MS,
  type Claim,
  claimsConflict,
  IMPLICIT_TTL_MS,
  SILENT_MS,
  sameTree,
} from '../../engine/claims/lease.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { texts } from '../../model/args.ts'
import { canonical } from '../../model/canonical.ts'
import { flag, type Json, number } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import type { Report } from '../../model/validate.ts'
import { actor, against, claimJson, describeHolder, line, MORE, SCOPE } from './claim-arguments.ts'

/** Takes a claim, or says again what the session holds already. Reports what is in the way. */
export function take(
  p: Planning,
  session: string,
  wanted: Omit<Claim, 'n' | 'session' | 'since' | 'until'>,
  field: string,
  report: Report,
): Claim | undefined {
  const blocking = against(p, session, wanted)
  for (const c of blocking) {
    report({
      field,
      code: 'claimed',
      message: describeHolder(p, c),
      received: wanted.on,
      hint: 'take something else, try again when it is free, or ask its holder for a hand-over',
    })
  }
  if (blocking.length > 0) return undefined
  const { now } = p.claims.view
  const until = now + wanted.ttl
  const same = p.claims
    .of(session)
    .filter((c) => c.what === wanted.what && c.on === wanted.on && c.root === wanted.root)
  const own = same.find((c) => c.role === wanted.role) ?? (wanted.role === undefined ? same[0] : undefined)
  if (!own) {
    // now it is held for a role: given up with that, it must not be held without one still
    for (const c of same) if (c.role === undefined) p.claims.end(c, 'released', {})
    return p.claims.grant({ ...wanted, session, since: now, until })
  }
  const { implicit: wasImplicit, exact: wasExact, ...rest } = own
  const { implicit: byEdit, exact, ...said } = wanted
  const byName = byEdit && !wasImplicit // an edit does not change for how long a claim by name was meant
  const isExact = byName ? wasExact : exact
  const row: Claim = {
    ...rest,
    ...said,
    since: own.since,
    until: byName ? Math.max(own.until, until) : until,
    ttl: byName ? own.ttl : wanted.ttl,
    ...(isExact ? { exact: true } : {}),
    ...(wasImplicit && byEdit ? { implicit: true } : {}),
  }
  p.claims.change(row)
  if (!row.implicit && meaning(row) !== meaning(own)) p.claims.addChangedEvent(row)
  return row
}

/** What others go by when they look at a claim; that it was renewed is nothing new. */
const meaning = ({ ttl, exact, implicit, note, task, goal, role, status, dependsOn, more }: Claim): string =>
  canonical(
    [exact ? ttl : null, implicit, note, task, goal, role, status, dependsOn, more].map((v) => v ?? null) as Json,
  )

/** What others left for whoever works here next, each word once. */
function notesOn(p: Planning, session: string, taken: readonly Claim[]): Claim[] {
  const left = p.claims.view
    .leftNotes()
    .filter(
      (c) =>
        c.session !== session &&
        taken.some((t) => t.what === c.what && sameTree(t, c) && (t.on === c.on || claimsConflict(t, c))),
    )
  return [...new Map(left.map((c) => [`${c.session} ${c.handoff}`, c])).values()]
}

export const claim = defineVerb({
  name: 'claim',
  about:
    'takes a lease on files, directories, globs or a task, so that no other session works on them; refused, with the owner, where one does',
  args: {
    ...SCOPE,
    ttl: number('seconds without a sign of life (1800)', { min: 0.001, max: 86_400 }),
    note: line('what for'),
    dependsOn: texts('roles whose result it needs'),
    implicit: flag('taken by a hook'),
    root: line("the work tree (the session's)"),
    more: MORE,
  },
  example: { paths: ['src/auth/**'], note: 'token refresh' },
  plan(p, { paths = [], task, role, ttl, note, dependsOn, implicit = false, root, more }, report) {
    const session = actor(p, report)
    if (paths.length === 0 && !task && role === undefined)
      report({ field: 'paths', message: 'nothing to claim', accepted: 'paths, a task, or a role' })
    const needs = dependsOn?.map((needed) => needed.trim())
    const given = ttl === undefined ? undefined : Math.ceil(ttl * 1000)
    if (session === undefined) return undefined
    const place = p.place()
    const tree = root ?? p.claims.view.session(session)?.root
    const said = {
      ttl: given ?? (implicit ? IMPLICIT_TTL_MS : CLAIM_TTL_MS),
      ...(given === undefined ? {} : { exact: true }),
      ...(role === undefined ? {} : { role, status: 'active' }),
      ...defined({ note, goal: place.goal, dependsOn: needs, more, implicit: implicit || undefined }),
    }
    if (said.ttl > SILENT_MS && !p.claims.view.session(session)?.process)
      p.note(
        `nobody knows the process of ${session}: ${SILENT_MS / 60_000} minutes without a sign of life end it, and this claim with it`,
      )
    p.claims.sweep()
    const taken: Claim[] = []
    const add = (c: Claim | undefined) => c && taken.push(c)
    const of = task ? { task: task.id } : place.task === undefined ? {} : { task: place.task }
    const inTree = tree === undefined ? {} : { root: tree }
    for (const on of paths) add(take(p, session, { ...said, ...of, ...inTree, what: 'path', on }, 'paths', report))
    if (paths.length === 0 && task) add(take(p, session, { ...said, what: 'task', on: task.id }, 'task', report))
    if (paths.length === 0 && !task && role !== undefined)
      add(take(p, session, { ...said, ...of, ...inTree, what: 'role', on: role }, 'role', report))
    for (const needed of needs ?? []) {
      const block = p.claims.view.lastOfRole(needed)
      if (block?.status !== 'complete')
        p.note(
          block
            ? `${needed}, which this depends on, is ${block.status ?? 'active'}`
            : `nobody has claimed as ${needed} yet`,
        )
    }
    if (taken.length === 0) return undefined
    if (!implicit)
      for (const c of notesOn(p, session, taken))
        p.note(`${c.session}, who released ${c.on}, left: ${c.handoff?.replace(/\s+/g, ' ')}`)
    return { id: `claim:${taken[0]!.n}`, claims: taken.map(claimJson) as Json }
  },
})
