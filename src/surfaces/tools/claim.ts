import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError, UserError } from '../../base/errors.ts'
import { below, realPath } from '../../base/files.ts'
import { covers } from '../../engine/claims/glob.ts'
import { placeOf, splitPlace } from '../../engine/claims/part.ts'
import { hubOf } from '../../engine/store/user-state.ts'
import { problemsOf } from '../../engine/write/batch.ts'
import type { VerbArgs } from '../../engine/write/verb.ts'
import type { JsonObject } from '../../model/object.ts'
import { claim as verb } from '../../project/verbs/claims.ts'
import { shown } from '../../scheme/invisible.ts'
import { nameOfSession } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { claimedLines, leases } from './claim-lines.ts'
import { oneOf, span } from './format.ts'
import { actingAs, defineTool, type Output, type ToolContext, written } from './tool.ts'
import { argsFor, paramsOf } from './verb-params.ts'

const WAIT_AT_MOST_S = 600
/** Files of one session that are looked at for changes. */
const CHANGED_AT_MOST = 10

/** Paths of the command line, whole: from the working directory, else from the root if it is there. Of a link the file that it names. */
const pathArgs = ({ project: { root }, directory = root }: ToolContext, given: unknown): string[] =>
  oneOf(given)
    ?.split('\n')
    .map((path) => [directory, root].map((dir) => resolve(dir, path)) as [string, string])
    .map(([here, atRoot]) => (!isThere(here) && isThere(atRoot) ? atRoot : here))
    .map((path) => (below(root, realPath(path)) === undefined ? path : realPath(path))) ?? []
const isThere = (path: string): boolean => existsSync(splitPlace(path, existsSync)?.on ?? path)

/** What the flags of claim, release and hand-over say for their verb. */
export function saidOf(context: ToolContext, verb: VerbArgs, flags: Readonly<Record<string, unknown>>) {
  const { paths: _, ...said } = argsFor(verb, context.memory.reader, flags)
  const paths = pathArgs(context, flags.paths)
  return paths.length > 0 ? { paths, ...said } : said
}

/** The numbers of claims in what a verb answers. */
export const numbersOf = (said: unknown): number[] =>
  Array.isArray(said) ? (said as { n: number }[]).map(({ n }) => n) : []

/** Whether somebody else holds what was to be claimed. */
const isHeld = (error: unknown): error is UserError => problemsOf(error).some((p) => p.code === 'claimed')

/** What stands in the way may be waited for; a batch cannot, this tool can. */
function withWait(error: unknown): unknown {
  if (!isHeld(error)) return error
  const { code, message, hint, details } = error
  const more = '; --wait 30 waits for it'
  const problems = problemsOf(error).map((p) => ({ ...p, hint: `${p.hint}${more}` }))
  return new UserError(code, message, `${hint}${more}`, { ...details, problems })
}

/** The lines of the parts of files that are claimed. @throws UserError for a symbol that its file does not have. */
async function partsOf({ project: { root } }: ToolContext, paths: unknown): Promise<JsonObject | undefined> {
  const found: JsonObject = {}
  for (const path of Array.isArray(paths) ? paths.map(String) : []) {
    const { on = '', part } = splitPlace(path, existsSync) ?? {}
    const file = part === undefined ? undefined : below(root, on)
    if (part === undefined || !file) continue
    const { partIn } = await import('../../find/code/versions.ts')
    const held = await partIn(root, file, part)
    if (held) found[placeOf({ on: file, part })] = held as unknown as JsonObject
  }
  return Object.keys(found).length === 0 ? undefined : { held: found }
}

/** Tries again whenever something was given up, until the time is over. */
async function waiting<T>(context: ToolContext, seconds: number, attempt: () => Promise<T>): Promise<T> {
  const { memory } = context
  const until = performance.now() + seconds * 1000
  for (;;) {
    const { cursor } = memory
    try {
      return await attempt()
    } catch (error) {
      const left = until - performance.now()
      if (left <= 0 || !isHeld(error)) throw seconds > 0 ? error : withWait(error)
      context.progress?.(`${problemsOf(error).find((p) => p.code === 'claimed')!.message}; waiting`)
      await new Promise<void>((done) => {
        // a lease that runs out and a process that dies ring no bell
        const timer = setTimeout(over, Math.min(left, 250))
        const stop = memory.subscribe((news) => news.presence && over(), { since: cursor })
        function over() {
          clearTimeout(timer)
          queueMicrotask(() => stop())
          done()
        }
      })
    }
  }
}

/** Has the hub decide too, where the project has joined one. Nothing where it has not. */
export async function askHub({ memory, project }: ToolContext, ns: readonly number[], since: number) {
  const joined = hubOf(project.id, project.storePath)
  if (!joined) return undefined
  const { decideNow } = await import('../../travel/sync/hub-claims.ts')
  const decided = await decideNow(memory, joined, ns, since)
  const { holder } = decided
  if (!holder) return decided
  const note = holder.note ? `: "${shown(String(holder.note))}"` : ''
  const left = span(Number(holder.until) - memory.env.now())
  const message = `${shown(`${holder.place}${holder.part ?? ''}`)} is claimed by ${shown(`${holder.member}/${holder.session}`)} for ${left} more, as the hub says${note}`
  const hint = 'take something else, or try again when it is free'
  const problem = { index: 0, verb: 'claim', field: 'paths', code: 'claimed', message, hint }
  throw new UserError('refused', `claim: ${message}`, hint, { problems: [problem] })
}

/** Changes of other live sessions in claimed files that are not committed: a lease on them can have run out before. */
async function changedByOthers(
  { memory, project: { root }, session }: ToolContext,
  claims: unknown,
): Promise<string[]> {
  const own = session === undefined ? undefined : sessionsOf(memory).resolve(session)
  const held = leases(claims).filter(({ what }) => what === 'path')
  const left = sessionsOf(memory)
    .list()
    .filter((s) => s.id !== own && s.root === root)
    .map((s) => ({ who: nameOfSession(s), files: s.files.filter((file) => held.some(({ on }) => covers(on, file))) }))
  if (left.every(({ files }) => files.length === 0)) return []
  const { NO_FILE, versionAt, versionHere } = await import('../../find/code/versions.ts')
  const lines = left.flatMap(({ who, files }) =>
    files.slice(-CHANGED_AT_MOST).map(async (file) => {
      const committed = await versionAt(root, `HEAD:./${file}`)
      const isOpen = committed && committed.id !== (versionHere(root, file) ?? NO_FILE).id
      return isOpen ? [`${shown(who)} has edited ${shown(file)}, which is changed and not committed`] : []
    }),
  )
  return (await Promise.all(lines)).flat()
}

export const claim = defineTool({
  name: 'claim',
  title: 'Claim',
  about:
    'takes a lease on files, directories, globs, parts of a file or a task for the session; refused, saying whose it is, where another one holds it',
  example: "tidemark claim 'src/auth/**' --note 'token refresh' --session s1",
  params: {
    paths: {
      type: 'text',
      about:
        'files, directories, globs or parts of a file (`a.ts#total`, `a.ts:12-40`), relative to the working directory',
      place: 'rest',
      list: true,
    },
    ...paramsOf(verb.args, ['task', 'ttl', 'note', 'role', 'dependsOn']),
    wait: { type: 'number', about: 'seconds to wait for it to become free' },
  },
  needsSession: () => true,
  async run(context, args): Promise<Output> {
    const { memory, project } = context
    if (typeof args.wait === 'number' && !(args.wait >= 0))
      throw new UsageError(`--wait takes seconds from 0 on, not ${args.wait}`)
    const wait = typeof args.wait === 'number' ? Math.min(args.wait, WAIT_AT_MOST_S) : 0
    const said = saidOf(context, verb.args, args)
    const parts = await partsOf(context, said.paths)
    if (!['paths', 'task', 'role'].some((name) => Object.hasOwn(said, name)))
      throw new UsageError(
        'nothing to claim: no path, task or role is named',
        '`tidemark claim PATH…`, --task REF or --role NAME',
      )
    const { done, decided } = await waiting(context, wait, async () => {
      const since = memory.env.now()
      const done = memory.act([['claim', { ...said, ...parts, root: project.root }]], actingAs(context))
      return { done, decided: await askHub(context, numbersOf(done.results[0]?.claims), since) }
    })
    const { session } = context
    const [r] = done.results
    const lines = [...claimedLines(r!, memory), ...(await changedByOthers(context, r!.claims))]
    if (decided?.open !== undefined) lines.push(`on this machine only, until the hub has granted it: ${decided.open}`)
    else if (decided && decided.fences.length > 0) lines.push(`granted by the hub, number ${decided.fences.join(', ')}`)
    return written(done, lines, {
      session: session === undefined ? null : sessionsOf(memory).resolve(session),
      claims: r!.claims ?? [],
      ...(decided && { hub: decided.open === undefined ? 'granted' : 'unreached' }),
      notes: done.notes,
    })
  },
})
