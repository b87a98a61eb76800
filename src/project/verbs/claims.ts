import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tidyPath } from '../../engine/claims/glob.ts'
import {
  CLAIM_TTL_MS, type Claim, claimsConflict, HAND, IMPLICIT_TTL_MS, isLive, SILENT_MS, sameTree, stateOf,
} from '../../engine/claims/lease.ts' // biome-ignore format: a list
import { linesOf, type Part, placeOf, splitPlace } from '../../engine/claims/part.ts'
import { isOpen } from '../../engine/read/work-tree.ts'
import type { SessionRow } from '../../engine/store/presence.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { type ReadArgs, ref, texts } from '../../model/args.ts'
import { canonical } from '../../model/canonical.ts'
import { outside, pathInProject } from '../../model/entity.ts'
import { choice, flag, type Json, map, number, text } from '../../model/field.ts'
import { defined, isObject } from '../../model/object.ts'
import { ago, span } from '../../model/times.ts'
import { type Report, shown } from '../../model/validate.ts'
import { elsewhere, namedWithId } from '../../work/coordination/labels.ts'
import { ROLE_STATUSES } from '../../work/handoff/views/swarm.ts'

/** Paths that one claim may name; more is a directory or a glob. */
const PATHS_AT_MOST = 100
const PATH_LENGTH = 1000
const SPANS_AT_MOST = 500

/** The session that acts; without one there is nobody to hold a claim. */
function actor(p: Planning, report: Report): string | undefined {
  if (typeof p.ctx.provenance.session === 'string') return p.ctx.provenance.session
  return report({
    field: 'session',
    message: 'no session is named, so nobody would hold the claim',
    hint: 'give "session" with the call: any id that you keep to',
  })
}

/** Who holds a claim, since when and for how long: the text of a refusal. */
function describeHolder(p: Planning, c: Claim): string {
  const { now } = p.claims.view
  const s = p.claims.view.session(c.session)
  const who = s ? namedWithId(s) : c.session
  const note = c.note === undefined ? '' : `: "${c.note}"`
  const left = c.until > now ? `for ${span(c.until - now)} more` : 'as long as its process lives'
  return `${placeOf(c)} is claimed by ${who} ${left}, taken ${ago(c.since, now)}${note}`
}

/** A text of the length that others read in a line. */
const line = <const O extends { longest?: number; required?: boolean } = Record<never, never>>(
  about: string,
  o: O = {} as O,
) => ({ ...text(about, o), longest: o.longest ?? 2000 })

/** What `paths` names: relative to the work tree, each once. */
const PATHS = reading(
  texts(
    'files, directories, globs or parts of a file (a.ts#total, a.ts:12-40), relative to the root of the repository',
    { also: ['path', 'file', 'files'] },
  ),
  (p, given, name, report) => {
    if (given.length > PATHS_AT_MOST)
      report({
        field: name,
        message: `${given.length} paths in one claim`,
        accepted: `at most ${PATHS_AT_MOST}; a directory or a glob`,
      })
    const out = new Set<string>()
    given.slice(0, PATHS_AT_MOST).forEach((path, i) => {
      const field = given.length === 1 ? name : `${name}.${i}`
      const inside = pathInProject(p.registry(), path.trim())
      const tidy = inside === undefined ? undefined : tidyPath(inside)
      if (inside === undefined) report(outside(p.registry(), field, path.trim()))
      else if (tidy !== undefined && tidy.length <= PATH_LENGTH && !/[\p{Cc}]/u.test(tidy)) out.add(tidy)
      else
        report({
          field,
          message: 'not a path in the work tree',
          received: shown(path),
          accepted: 'a file, a directory, a glob or a part of a file, relative to the root of the repository',
        })
    })
    return [...out]
  },
)

/** What claims, releases and hand-overs name. */
const SCOPE = {
  paths: PATHS,
  task: ref('the task it is for; without paths the task itself', { kind: 'task' }),
  role: line("the role in the swarm: 'test-writer'", { longest: 80 }),
} as const

/** Words of a block that mean nothing to Tidemark, kept as they are. */
const MORE = reading(
  map("further keys of the role's block in the swarm state, each with a text"),
  (_p, more, field, report) => {
    if (Object.values(more).every((v) => typeof v === 'string')) return more as { [key: string]: string }
    return report({ field, message: 'not a map of texts', received: shown(more), accepted: '{"key": "text", …}' })
  },
)

/** Of an edit: the claims of edits that it goes over, as its session was told. */
type Held = Part & { readonly over?: readonly number[] }

/** What a hook or the command found of the places that are claimed: their lines, and of which version. */
const HELD = reading(
  map('lines of these places, as a hook found them: {"a.ts": {"base": "id in git", "lines": [[11, 20]]}}'),
  (_p, given, field, report): { [place: string]: Held } | undefined => {
    const isSpan = (s: unknown) => Array.isArray(s) && s.length === 2 && s.every(Number.isSafeInteger) && s[0] <= s[1]
    const areLines = (v: unknown) => Array.isArray(v) && v.length <= SPANS_AT_MOST && v.every(isSpan)
    const isPart = (v: Json) => isObject(v) && areLines(v.lines) && typeof (v.base ?? '') === 'string'
    if (Object.values(given).every(isPart)) return given as { [place: string]: Held }
    return report({ field, message: 'not lines of files', received: shown(given) })
  },
)

const liveSession = <const O extends { required?: boolean } = Record<never, never>>(about: string, o: O = {} as O) =>
  reading(line(about, o), (p, id, field, report): SessionRow | undefined => {
    const { view } = p.claims
    const row = view.session(id)
    const state = row && stateOf(row, view.now, view.env)
    if (row && isLive(state)) return row
    const live = view.sessions().filter((s) => isLive(stateOf(s, view.now, view.env)))
    const ids = live.map((s) => s.id).slice(0, 20)
    return report({
      field,
      message: row ? `session ${id} has ${state === 'ended' ? 'ended' : 'crashed'}` : `there is no session ${id}`,
      received: id,
      accepted: live.length > 0 ? ids.join(', ') : 'a live session; none is',
    })
  })

/** Claims of others that conflict with the wanted one. Those in another work tree only add a note. */
function against(p: Planning, session: string, wanted: Parameters<typeof claimsConflict>[0], over: Held['over']) {
  const blocking: Claim[] = []
  for (const c of p.claims.held()) {
    if (c.session === session || !claimsConflict(c, wanted)) continue
    if (wanted.implicit && c.implicit && over?.includes(c.n)) continue
    // lines of two versions cannot be compared here: the hook that wants these has looked
    if (wanted.implicit && wanted.lines && c.on === wanted.on && (c.part || c.lines) && c.base !== wanted.base) continue
    if (c.what === 'task' || sameTree(c, wanted)) blocking.push(c)
    else p.note(`${describeHolder(p, c)}, ${elsewhere(c, p.claims.view.session(c.session))}`)
  }
  return blocking
}

const claimJson = (c: Claim): { [key: string]: Json } => ({
  n: c.n,
  on: placeOf(c),
  what: c.what,
  until: new Date(c.until).toISOString(),
})

/** Held claims of a session that the arguments name; everything it holds where they name nothing. */
function named(
  p: Planning,
  session: string,
  { paths = [], task: ofTask, role }: ReadArgs<typeof SCOPE>,
  report: Report,
): Claim[] {
  const own = p.claims.of(session)
  const task = ofTask?.id
  if (paths.length === 0 && role === undefined && !ofTask) return own
  const found: Claim[] = []
  const miss = (field: string, on: string, is: (c: Claim) => boolean) => {
    const mine = own.filter(is)
    if (mine.length > 0) return found.push(...mine)
    const theirs = p.claims.held().find(is)
    return report({
      field,
      message: theirs ? describeHolder(p, theirs) : `${session} holds no claim on ${on}`,
      received: on,
      ...(own.length > 0 ? { accepted: own.map(placeOf).join(', ') } : {}),
      ...(theirs ? { hint: 'only its holder can give it up' } : {}),
    })
  }
  for (const path of paths) miss('paths', path, (c) => c.what === 'path' && placeOf(c) === path)
  if (task !== undefined) miss('task', task, (c) => (c.what === 'task' && c.on === task) || c.task === task)
  if (role !== undefined) miss('role', role, (c) => c.role === role)
  return [...new Set(found)]
}

/** What hooks took for edits under claims that a session gives up now, and that nothing it keeps covers: it goes with them. */
function editsUnder(p: Planning, session: string, given: readonly Claim[]): Claim[] {
  const rest = p.claims.of(session).filter((c) => !given.includes(c))
  const meets = (a: Claim) => (b: Claim) => claimsConflict(a, b) && sameTree(a, b)
  const kept = rest.filter((c) => !c.implicit)
  return rest.filter((c) => c.implicit && given.some(meets(c)) && !kept.some(meets(c)))
}

/** Takes a claim, or says again what the session holds already. Reports what is in the way. */
function take(
  p: Planning,
  session: string,
  wanted: Omit<Claim, 'n' | 'session' | 'since' | 'until'>,
  field: string,
  report: Report,
  over?: Held['over'],
): Claim | undefined {
  const blocking = against(p, session, wanted, over)
  for (const c of blocking)
    report({
      field,
      code: 'claimed',
      message: describeHolder(p, c),
      received: placeOf(wanted),
      hint: 'take something else, try again when it is free, or ask its holder for a hand-over',
    })
  if (blocking.length > 0) return undefined
  const { now } = p.claims.view
  const until = now + wanted.ttl
  const same = p.claims
    .of(session)
    .filter((c) => c.what === wanted.what && c.on === wanted.on && c.part === wanted.part && c.root === wanted.root)
  const own = same.find((c) => c.role === wanted.role) ?? (wanted.role === undefined ? same[0] : undefined)
  if (!own) {
    // now it is held for a role: given up with that, it must not be held without one still
    for (const c of same) if (c.role === undefined) p.claims.end(c, 'released', {})
    return p.claims.grant({ ...wanted, session, since: now, until })
  }
  const { implicit: wasImplicit, exact: wasExact, lines, base, ...rest } = own
  const { implicit: byEdit, exact, lines: newLines, base: newBase, ...said } = wanted
  const byName = byEdit && !wasImplicit // an edit does not change for how long a claim by name was meant
  const row: Claim = {
    ...rest,
    ...said,
    since: own.since,
    until: byName ? Math.max(own.until, until) : until,
    ttl: byName ? own.ttl : wanted.ttl,
    ...((byName ? wasExact : exact) ? { exact: true } : {}),
    ...(wasImplicit && byEdit ? { implicit: true } : {}),
    ...defined(byName ? { lines, base } : { lines: newLines, base: newBase }),
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
  const others = p.claims.view.leftNotes().filter((c) => c.session !== session)
  const meets = (c: Claim) => (t: Claim) =>
    t.what === c.what && sameTree(t, c) && (t.on === c.on || claimsConflict(t, c))
  const left = others.filter((c) => taken.some(meets(c)))
  return [...new Map(left.map((c) => [`${c.session} ${c.handoff}`, c])).values()]
}

export const claim = defineVerb({
  name: 'claim',
  about:
    'takes a lease on files, directories, globs, parts of a file or a task, so that no other session works on them; refused, with the owner, where one does',
  args: {
    ...SCOPE,
    ttl: number('seconds without a sign of life (1800)', { min: 0.001, max: 86_400 }),
    note: line('what for'),
    dependsOn: texts('roles whose result it needs'),
    implicit: flag('taken by a hook'),
    root: line("the work tree (the session's)"),
    held: HELD,
    more: MORE,
  },
  example: { paths: ['src/auth/**'], note: 'token refresh' },
  plan(p, { paths = [], task, role, ttl, note, dependsOn, implicit = false, root, held = {}, more }, report) {
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
      ...(role === undefined ? {} : { role, status: 'active' }),
      ...defined({ note, goal: place.goal, dependsOn: needs, more }),
      ...defined({ implicit: implicit || undefined, exact: given === undefined ? undefined : true }),
    }
    if (said.ttl > SILENT_MS && !p.claims.view.session(session)?.process)
      p.note(
        `nobody knows the process of ${session}: ${SILENT_MS / 60_000} minutes without a sign of life end it, and this claim with it`,
      )
    p.claims.sweep()
    const taken: Claim[] = []
    const add = (c: Claim | undefined) => c && taken.push(c)
    const here = defined({ task: task?.id ?? place.task, root: tree })
    const isThere = (path: string) =>
      (tree === undefined ? p.registry().roots() : [tree]).some((root) => existsSync(join(root, path)))
    for (const place of paths) {
      const split = implicit ? { on: place } : splitPlace(place, isThere)
      if (!split) {
        report({
          field: 'paths',
          message: `${place} is no part of a file`,
          accepted: 'a.ts#total, a.ts:12-40, or a file that is there',
        })
        continue
      }
      const { on, part } = split
      const lines = part === undefined ? undefined : linesOf({ part })
      const { over, ...found } = held[place] ?? {}
      const what = { what: 'path' as const, on, ...defined({ part, lines: lines && [lines] }), ...found }
      add(take(p, session, { ...said, ...here, ...what }, 'paths', report, over))
    }
    if (paths.length === 0 && task) add(take(p, session, { ...said, what: 'task', on: task.id }, 'task', report))
    if (paths.length === 0 && !task && role !== undefined)
      add(take(p, session, { ...said, ...here, what: 'role', on: role }, 'role', report))
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
        p.note(`${c.session}, who released ${placeOf(c)}, left: ${c.handoff?.replace(/\s+/g, ' ')}`)
    return { id: `claim:${taken[0]!.n}`, claims: taken.map(claimJson) as Json }
  },
})

export const release = defineVerb({
  name: 'release',
  about:
    'gives up claims of its own: those named, else all; with the status and result of its role, for the swarm state',
  args: {
    ...SCOPE,
    status: choice(ROLE_STATUSES, 'how the work of the role stands'),
    result: line('what came of it'),
    handoff: line('what the next one should know'),
    more: MORE,
  },
  example: { paths: ['src/auth/**'] },
  plan(p, { status, result, handoff, more, ...scope }, report) {
    const session = actor(p, report)
    if (session === undefined) return undefined
    p.claims.sweep()
    const claims = named(p, session, scope, report)
    const [lost] = Object.entries({ status, result, handoff, more }).filter(([, said]) => said !== undefined)
    if (claims.length === 0 && lost && Object.keys(scope).length === 0)
      report({
        field: lost[0],
        message: `${session} holds no claim, so this would be said of nothing`,
        received: shown(lost[1]),
        hint: 'claim the role again first: ["claim", {"role": "…"}]',
      })
    const edits = editsUnder(p, session, claims).map((c) => p.claims.end(c, 'released', {}))
    const ended = claims.map((c) =>
      p.claims.end(c, 'released', {
        ...((status ?? c.role) ? { status: status ?? 'complete' } : {}),
        ...defined({ result, handoff, more: more && { ...c.more, ...more } }),
      }),
    )
    if (ended.length === 0) p.note(`${session} holds no claim`)
    return { id: session, released: [...ended, ...edits].map((c) => ({ n: c.n, on: placeOf(c) })) }
  },
})

export const handOver = defineVerb({
  name: 'hand-over',
  about: 'gives claims of its own to another live session, without a moment in which anybody else could take them',
  args: {
    to: liveSession('the session that gets them', { required: true }),
    ...SCOPE,
    note: line('what it should know'),
  },
  example: { to: 'b7', paths: ['src/auth/**'], note: 'tests are green; the refresh is left' },
  plan(p, { to: { id: to }, note, ...scope }, report) {
    const session = actor(p, report)
    if (session === undefined) return undefined
    p.claims.sweep()
    if (to === session) report({ field: 'to', message: 'that is the session itself', received: to })
    const claims = named(p, session, scope, report)
    if (claims.length === 0)
      report({ field: 'paths', message: `${session} holds no claim`, accepted: 'a claim of its own' })
    // what it keeps may cover what it gives: then both would hold it
    const edits = editsUnder(p, session, claims)
    const kept = p.claims.of(session).filter((c) => !claims.includes(c) && !edits.includes(c))
    let free = true
    for (const c of claims) {
      const over = kept.find((k) => claimsConflict(k, c) && sameTree(k, c))
      if (!over) continue
      free = false
      report({
        field: 'paths',
        message: `${placeOf(c)} meets ${placeOf(over)}, which ${session} would keep`,
        received: placeOf(c),
        hint: `hand over both, or release ${placeOf(over)} first`,
      })
    }
    if (to === session || !free) return undefined
    for (const c of edits) p.claims.end(c, 'released')
    const given = p.claims.handOver(claims, to, note)
    return given[0] && { id: `claim:${given[0].n}`, to, claims: given.map(claimJson) }
  },
})

export const assignTask = defineVerb({
  name: 'assign-task',
  about:
    'gives a task to a free session of the role, else to any free one, as its claim; never to two. Free is one that lives and has no open task',
  args: {
    task: ref('the task', { required: true, kind: 'task' }),
    role: line('a free session of this role first'),
    to: liveSession('the session, instead of choosing one'),
    note: line('what for'),
  },
  example: { task: 'refresh tokens before they expire', role: 'implementer' },
  plan(p, { task, role, to, note }, report) {
    if (!isOpen(task))
      return report({
        field: 'task',
        message: `"${task.name}" is ${String(task.fields.state)}`,
        received: task.id,
        accepted: 'an open task',
      })
    p.claims.sweep()
    const holder = p.claims.held().find((c) => c.what === 'task' && c.on === task.id)
    if (holder)
      return report({
        field: 'task',
        code: 'claimed',
        message: describeHolder(p, holder),
        received: task.id,
        hint: 'a task is never given to two',
      })
    const { view } = p.claims
    const self = p.ctx.provenance.session
    const inHand = p.claims.held().filter((c) => c.what === 'task' && isOpen(p.entity(c.on)))
    const busy = new Set(inHand.map((c) => c.session))
    const others = view
      .sessions()
      .filter((s) => s.id !== self && !s.id.startsWith(HAND) && isLive(stateOf(s, view.now, view.env)))
    const free = others
      .filter((s) => !busy.has(s.id) && !isOpen(p.entity(view.workOf(s.id).at(-1) ?? '')))
      .sort((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1))
    const target = to ?? free.find((s) => role !== undefined && s.role === role) ?? free[0]
    if (!target)
      return report({
        field: 'task',
        message: `no other session is free${others.length > 0 ? ': each has a task in hand' : ''}`,
        received: task.id,
        hint: 'try again when one has finished, or name one: {"to": "…"}; (sessions) in discover shows them',
      })
    const granted = p.claims.grant({
      session: target.id,
      what: 'task',
      on: task.id,
      since: view.now,
      until: view.now + CLAIM_TTL_MS,
      ttl: CLAIM_TTL_MS,
      ...(role === undefined ? {} : { role, status: 'active' }),
      ...(note === undefined ? {} : { note }),
    })
    p.claims.addEvent('assigned', granted, { name: task.name, ...(typeof self === 'string' ? { by: self } : {}) })
    return { id: task.id, kind: 'task', name: task.name, to: target.id, claims: [claimJson(granted)] }
  },
})
