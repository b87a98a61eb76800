import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { brief } from './common.ts'
import { releaseTask, workNamed } from './work.ts'

export const abandon: Verb = {
  verb: 'abandon',
  about: 'gives up a goal, an activity or a task, and says why; starting it again opens it',
  args: { ref: 'reference', reason: 'text' },
  example: { ref: 'refresh tokens before they expire', reason: 'the provider does it' },
  plan(p, args, report) {
    const reason = textArg(args, 'reason', report)
    if (args.ref === undefined) {
      report({ field: 'ref', message: 'missing', accepted: 'a goal, an activity or a task' })
      return undefined
    }
    const target = workNamed(p, args, report)
    if (!target || reason === undefined) return undefined
    const changed = p.set(target.id, 'state', 'abandoned')
    if (p.set(target.id, 'abandonReason', reason) || changed) p.sign(target.id)
    releaseTask(p, target)
    return { ...brief(target), state: 'abandoned' }
  },
}
