import { defineVerb } from '../../engine/write/verb.ts'
import { goal } from '../../model/kinds/goal.ts'
import { LABELS, recordWork, reopen } from './work.ts'

const { originalAsk, plan } = goal.fields

export const startGoal = defineVerb({
  name: 'start-goal',
  about: "records what was asked for and makes it the session's current goal; a closed one is opened again",
  args: {
    originalAsk: { ...originalAsk, required: true, also: ['goal', 'description', 'title', 'text'] },
    plan,
    ...LABELS,
  },
  example: { originalAsk: 'Add OAuth login', plan: 'provider, callback, session' },
  plan(p, said, report) {
    const made = recordWork(p, 'goal', said, report)
    if (!made) return undefined
    reopen(p, made.id)
    p.workOn([made.id])
    return made
  },
})
