import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { text } from '../../model/field.ts'
import { brief } from './common.ts'

export const answerQuestion = defineVerb({
  name: 'answer-question',
  about: 'answers an open question',
  args: {
    ref: ref('the question', { required: true, kind: 'question', also: ['id'] }),
    answer: text('what is known now', { required: true }),
  },
  example: { ref: 'Does the hub need Redis?', answer: 'No: LISTEN/NOTIFY fans out.' },
  plan(p, { ref: target, answer }) {
    if (p.set(target.id, 'answer', answer)) p.sign(target.id)
    return brief(target)
  },
})
