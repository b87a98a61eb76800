import type { Verb } from '../write/verb.ts'
import { LABEL_ARGS, recordWork, reopen } from './work.ts'

export const startGoal: Verb = {
  verb: 'start-goal',
  about: "records what was asked for and makes it the session's current goal; a closed one is opened again",
  args: { originalAsk: 'text', plan: 'text?', ...LABEL_ARGS },
  example: { originalAsk: 'Add OAuth login', plan: 'provider, callback, session' },
  plan(p, args, report) {
    const made = recordWork(p, 'goal', args, ['originalAsk', 'plan'], {}, report)
    if (!made) return undefined
    reopen(p, made.id)
    p.workOn([made.id])
    return made
  },
}
