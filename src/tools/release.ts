import { UsageError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { scopeArgs } from './claim.ts'
import { releasedLines } from './claim-lines.ts'
import { actingAs, type Output, type Tool } from './tool.ts'
import { oneOf } from './work.ts'

export const release: Tool = {
  name: 'release',
  title: 'Release',
  about: "gives up the session's claims: those named, else all; or hands them over to another session",
  example:
    'tidemark release --status complete --result "12 tests, all red" --handoff "ready for implementer" --session s1',
  params: {
    paths: { type: 'text', about: 'what was claimed, relative to the working directory', place: 'rest', list: true },
    task: { type: 'text', about: 'the claims for this task' },
    role: { type: 'text', about: 'the claims of this role' },
    status: {
      type: 'text',
      about: 'how the work of the role stands',
      choices: ['complete', 'blocked', 'abandoned', 'active'],
    },
    result: { type: 'text', about: 'what came of it' },
    handoff: { type: 'text', about: 'what the next one should know' },
    to: { type: 'text', about: 'the session that gets them, without a moment in which they are free' },
  },
  readOnly: false,
  ofSession: () => true,
  needsSession: () => true,
  run(context, args): Output {
    const to = oneOf(args.to)
    const [status, result, handoff] = [oneOf(args.status), oneOf(args.result), oneOf(args.handoff)]
    for (const [flag, value] of Object.entries({ status, result }))
      if (to !== undefined && value !== undefined)
        throw new UsageError(
          `--${flag} is the last word of a claim, and --to lets it go on: what the other should know is --handoff`,
          'release first without --to, or leave it out',
        )
    const scope = scopeArgs(context, args)
    const action =
      to === undefined
        ? ['release', { ...scope, status, result, handoff }]
        : ['hand-over', { ...scope, to, note: handoff }]
    const done = context.memory.act([action], actingAs(context))
    const r = done.results[0]!
    const ended = (r.released ?? r.claims ?? []) as { on: string; n: number }[]
    const lines = releasedLines(r, to)
    for (const note of done.notes) lines.push(`note: ${note}`)
    return {
      text: lines.join('\n'),
      json: { released: ended as unknown as Json, notes: done.notes, ...(to === undefined ? {} : { to }) },
    }
  },
}
