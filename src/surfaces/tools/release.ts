import { UsageError } from '../../base/errors.ts'
import { handOver, release as verb } from '../../project/verbs/claims.ts'
import { askHub, numbersOf, saidOf } from './claim.ts'
import { releasedLines } from './claim-lines.ts'
import { oneOf } from './format.ts'
import { actingAs, type Output, type Tool, written } from './tool.ts'
import { paramOf, paramsOf } from './verb-params.ts'

export const release: Tool = {
  name: 'release',
  title: 'Release',
  about: "gives up the session's claims: those named, else all; or hands them over to another session",
  example:
    'tidemark release --status complete --result "12 tests, all red" --handoff "ready for implementer" --session s1',
  params: {
    paths: { type: 'text', about: 'what was claimed, relative to the working directory', place: 'rest', list: true },
    ...paramsOf(verb.args, ['task', 'role', 'status', 'result', 'handoff']),
    to: paramOf(handOver.args.to, { about: `${handOver.args.to.about}, without a moment in which they are free` }),
  },
  readOnly: false,
  ofSession: () => true,
  needsSession: () => true,
  async run(context, args): Promise<Output> {
    const to = oneOf(args.to)
    for (const flag of ['status', 'result'])
      if (to !== undefined && oneOf(args[flag]) !== undefined)
        throw new UsageError(
          `--${flag} is the last word of a claim, and --to lets it go on: what the other should know is --handoff`,
          'release first without --to, or leave it out',
        )
    const action =
      to === undefined
        ? ['release', saidOf(context, verb.args, args)]
        : ['hand-over', saidOf(context, handOver.args, { ...args, note: args.handoff })]
    const done = context.memory.act([action], actingAs(context))
    const [r] = done.results
    const told = await askHub(context, numbersOf(r!.released), 0)
    const lines = releasedLines(r!, to)
    if (told?.open !== undefined)
      lines.push(`the hub does not know yet, and keeps it until its lease ends: ${told.open}`)
    return written(done, lines, { released: r!.released ?? r!.claims ?? [], notes: done.notes, ...(to && { to }) })
  },
}
