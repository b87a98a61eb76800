import { tidyPath } from '../../engine/claims/glob.ts'
import { type Claim, claimsConflict, isLive, sameTree, stateOf } from '../../engine/claims/lease.ts'
import type { SessionRow } from '../../engine/store/presence.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { reading } from '../../engine/write/verb.ts'
import { type ReadArgs, ref, texts } from '../../model/args.ts'
import { outside, pathInProject } from '../../model/entity.ts'
import { type Json, map, text } from '../../model/field.ts'
import { ago, span } from '../../model/times.ts'
import { type Report, shown } from '../../model/validate.ts'

/** Paths that one claim may name; more is a directory or a glob. */
const PATHS_AT_MOST = 100
const PATH_LENGTH = 1000

/** How a role's work stands (concept paper 2, AC-005). */
export const STATUSES = ['active', 'complete', 'blocked', 'abandoned'] as const

/** The session that acts; without one there is nobody to hold a claim. */
export function actor(p: Planning, report: Report): string | undefined {
  const { session } = p.ctx.provenance
  if (typeof session === 'string') return session
  return report({
    field: 'session',
    message: 'no session is named, so nobody would hold the claim',
    hint: 'give "session" with the call: any id that you keep to',
  })
}

/** Who holds a claim, since when and for how long: the text of a refusal. */
export function describeHolder(p: Planning, c: Claim): string {
  const { now } = p.claims.view
  const s = p.claims.view.session(c.session)
  const who = [c.session, s?.client && `(${[s.client, s.agent].filter(Boolean).join(', ')})`].filter(Boolean).join(' ')
  const note = c.note === undefined ? '' : `: "${c.note}"`
  const left = c.until > now ? `for ${span(c.until - now)} more` : 'as long as its process lives'
  return `${c.on} is claimed by ${who} ${left}, taken ${ago(c.since, now)}${note}`
}

/** A text of the length that others read in a line. */
export const line = <const O extends { longest?: number; required?: boolean } = Record<never, never>>(
  about: string,
  o: O = {} as O,
) => ({ ...text(about, o), longest: o.longest ?? 2000 })

/** What `paths` names: relative to the work tree, each once. */
const PATHS = reading(
  texts('files, directories or globs, relative to the root of the repository', { also: ['path', 'file', 'files'] }),
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
          accepted: 'a file, a directory or a glob, relative to the root of the repository',
        })
    })
    return [...out]
  },
)

/** What claims, releases and hand-overs name. */
export const SCOPE = {
  paths: PATHS,
  task: ref('the task it is for; without paths the task itself', { kind: 'task' }),
  role: line("the role in the swarm: 'test-writer'", { longest: 80 }),
} as const

/** Words of a block that mean nothing to Tidemark, kept as they are. */
export const MORE = reading(
  map("further keys of the role's block in the swarm state, each with a text"),
  (_p, more, field, report) => {
    if (Object.values(more).every((v) => typeof v === 'string')) return more as { [key: string]: string }
    return report({ field, message: 'not a map of texts', received: shown(more), accepted: '{"key": "text", …}' })
  },
)

/** A session that lives, by its id. */
export const liveSession = <const O extends { required?: boolean } = Record<never, never>>(
  about: string,
  o: O = {} as O,
) =>
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
export function against(
  p: Planning,
  session: string,
  wanted: Pick<Claim, 'what' | 'on' | 'root' | 'implicit'>,
): Claim[] {
  const blocking: Claim[] = []
  for (const c of p.claims.held()) {
    if (c.session === session || !claimsConflict(c, wanted)) continue
    if (c.what === 'task' || sameTree(c, wanted)) blocking.push(c)
    else p.note(`${describeHolder(p, c)}, in another work tree (${c.root}): the two will meet at merge`)
  }
  return blocking
}

export const claimJson = (c: Claim): { [key: string]: Json } => ({
  n: c.n,
  on: c.on,
  what: c.what,
  until: new Date(c.until).toISOString(),
})

/** Held claims of a session that the arguments name; everything it holds where they name nothing. */
export function named(
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
      accepted: own.length > 0 ? own.map((c) => c.on).join(', ') : 'nothing: it holds no claim',
      ...(theirs ? { hint: 'only its holder can give it up' } : {}),
    })
  }
  for (const path of paths) miss('paths', path, (c) => c.what === 'path' && c.on === path)
  if (task !== undefined) miss('task', task, (c) => (c.what === 'task' && c.on === task) || c.task === task)
  if (role !== undefined) miss('role', role, (c) => c.role === role)
  return [...new Set(found)]
}

/** What hooks took for edits under claims that a session gives up now, and that nothing it keeps covers: it goes with them. */
export function editsUnder(p: Planning, session: string, given: readonly Claim[]): Claim[] {
  const rest = p.claims.of(session).filter((c) => !given.includes(c))
  const meets = (a: Claim) => (b: Claim) => claimsConflict(a, b) && sameTree(a, b)
  const kept = rest.filter((c) => !c.implicit)
  return rest.filter((c) => c.implicit && given.some(meets(c)) && !kept.some(meets(c)))
}
