import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { brief } from './common.ts'

export const answerQuestion: Verb = {
  verb: 'answer-question',
  about: 'answers an open question',
  args: { ref: 'reference', answer: 'text' },
  example: { ref: 'Does the hub need Redis?', answer: 'No: LISTEN/NOTIFY fans out.' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report, { kind: 'question' })
    const answer = textArg(args, 'answer', report)
    if (!target || answer === undefined) return undefined
    if (p.set(target.id, 'answer', answer)) p.sign(target.id)
    return brief(target)
  },
}
