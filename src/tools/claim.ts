import { resolve } from 'node:path'
import { sessionsOf } from '../coordination/sessions.ts'
import { UsageError, UserError } from '../errors.ts'
import { claim as verb } from '../verbs/claim.ts'
import { problemsOf } from '../write/batch.ts'
import type { VerbArgs } from '../write/verb.ts'
import { claimedLines } from './claim-lines.ts'
import { oneOf } from './format.ts'
import { actingAs, type Output, type Tool, type ToolContext, written } from './tool.ts'
import { argsFor, paramsOf } from './verb-params.ts'

const WAIT_AT_MOST_S = 600

/** What stands on the command line, each as a whole path. */
const pathArgs = ({ project, directory }: ToolContext, given: unknown): string[] =>
  oneOf(given)
    ?.split('\n')
    .map((path) => resolve(directory ?? project.root, path)) ?? []

/** What the flags of claim, release and hand-over say for their verb. */
export function saidOf(context: ToolContext, verb: VerbArgs, flags: Readonly<Record<string, unknown>>) {
  const { paths: _, ...said } = argsFor(verb, context.memory.reader, flags)
  const paths = pathArgs(context, flags.paths)
  return paths.length > 0 ? { paths, ...said } : said
}

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

/** Tries again whenever something was given up, until the time is over. */
async function waiting<T>(context: ToolContext, seconds: number, attempt: () => T): Promise<T> {
  const { memory } = context
  const until = performance.now() + seconds * 1000
  for (;;) {
    const { cursor } = memory
    try {
      return attempt()
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

export const claim: Tool = {
  name: 'claim',
  title: 'Claim',
  about:
    'takes a lease on files, directories, globs or a task for the session; refused, saying whose it is, where another one holds it',
  example: "tidemark claim 'src/auth/**' --note 'token refresh' --session s1",
  params: {
    paths: {
      type: 'text',
      about: 'files, directories or globs, relative to the working directory',
      place: 'rest',
      list: true,
    },
    ...paramsOf(verb.args, ['task', 'ttl', 'note', 'role', 'dependsOn']),
    wait: { type: 'number', about: 'seconds to wait for it to become free' },
  },
  readOnly: false,
  needsSession: () => true,
  async run(context, args): Promise<Output> {
    const { memory, project } = context
    if (typeof args.wait === 'number' && !(args.wait >= 0))
      throw new UsageError(`--wait takes seconds from 0 on, not ${args.wait}`)
    const wait = typeof args.wait === 'number' ? Math.min(args.wait, WAIT_AT_MOST_S) : 0
    const said = saidOf(context, verb.args, args)
    if (!['paths', 'task', 'role'].some((name) => Object.hasOwn(said, name)))
      throw new UsageError(
        'nothing to claim: no path, task or role is named',
        '`tidemark claim PATH…`, --task REF or --role NAME',
      )
    const done = await waiting(context, wait, () =>
      memory.act([['claim', { ...said, root: project.root }]], actingAs(context)),
    )
    const { session } = context
    const [r] = done.results
    return written(done, claimedLines(r!, memory), {
      session: session === undefined ? null : sessionsOf(memory).resolve(session),
      claims: r!.claims ?? [],
      notes: done.notes,
    })
  },
}
