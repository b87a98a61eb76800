import { resolve } from 'node:path'
import { sessionsOf } from '../coordination/sessions.ts'
import { UsageError, UserError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { problemsOf } from '../write/batch.ts'
import { claimedLines } from './claim-lines.ts'
import { actingAs, type Output, type Tool, type ToolContext } from './tool.ts'
import { findWork, oneOf } from './work.ts'

const WAIT_AT_MOST_S = 600

/** What stands on the command line, each as a whole path. */
const pathArgs = ({ project, directory }: ToolContext, given: unknown): string[] =>
  oneOf(given)
    ?.split('\n')
    .map((path) => resolve(directory ?? project.root, path)) ?? []

const listOf = (given: unknown): string[] | undefined =>
  oneOf(given)
    ?.split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/** What the flags of claim, release and hand-over name. */
export function scopeArgs(context: ToolContext, args: Readonly<Record<string, unknown>>): { [name: string]: Json } {
  const paths = pathArgs(context, args.paths)
  const [task, role] = [oneOf(args.task), oneOf(args.role)]
  return {
    ...(paths.length > 0 ? { paths } : {}),
    ...(task === undefined ? {} : { task: findWork(context.memory.reader, 'task', task).id }),
    ...(role === undefined ? {} : { role }),
  }
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
    task: { type: 'text', about: 'the task it is for; without paths the task itself is claimed' },
    ttl: { type: 'number', about: 'seconds without a sign of life after which it lapses (1800)' },
    note: { type: 'text', about: 'what for' },
    wait: { type: 'number', about: 'seconds to wait for it to become free' },
    role: { type: 'text', about: "the role in the swarm: 'test-writer'" },
    'depends-on': { type: 'text', about: 'roles whose result it needs, with commas between them' },
  },
  readOnly: false,
  needsSession: () => true,
  async run(context, args): Promise<Output> {
    const { memory, project } = context
    const dependsOn = listOf(args['depends-on'])
    const note = oneOf(args.note)
    if (typeof args.wait === 'number' && !(args.wait >= 0))
      throw new UsageError(`--wait takes seconds from 0 on, not ${args.wait}`)
    const wait = typeof args.wait === 'number' ? Math.min(args.wait, WAIT_AT_MOST_S) : 0
    const scope = scopeArgs(context, args)
    if (Object.keys(scope).length === 0)
      throw new UsageError(
        'nothing to claim: no path, task or role is named',
        '`tidemark claim PATH…`, --task REF or --role NAME',
      )
    const said = {
      ...scope,
      root: project.root,
      ...(typeof args.ttl === 'number' ? { ttl: args.ttl } : {}),
      ...(note === undefined ? {} : { note }),
      ...(dependsOn === undefined ? {} : { dependsOn }),
    }
    const done = await waiting(context, wait, () => memory.act([['claim', said]], actingAs(context)))
    const lines = claimedLines(done.results[0]!, memory)
    for (const n of done.notes) lines.push(`note: ${n}`)
    const { session } = context
    return {
      text: lines.join('\n'),
      json: {
        session: session === undefined ? null : sessionsOf(memory).resolve(session),
        claims: (done.results[0]!.claims ?? []) as unknown as Json,
        notes: done.notes,
      },
    }
  },
}
