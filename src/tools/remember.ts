import { UserError } from '../errors.ts'
import { classifyRule } from '../imports/classify.ts'
import type { Json } from '../schema/field.ts'
import { actingAs, type Tool } from './tool.ts'

const TITLE_MAX = 120

/** What a person's sentence is recorded as: a rule becomes a fact, anything else a learning. */
function actionFor(textValue: string): [string, { [key: string]: Json }] {
  const rule = textValue.includes('\n') ? undefined : classifyRule(textValue)
  if (rule) return ['record-fact', { fact: textValue, category: rule.category }]
  const [first = '', ...rest] = textValue.split('\n')
  if (rest.length === 0 && first.length <= TITLE_MAX) return ['record-learning', { title: first }]
  return [
    'record-learning',
    { title: first.length > TITLE_MAX ? `${first.slice(0, TITLE_MAX)}…` : first, body: textValue },
  ]
}

export const remember: Tool = {
  name: 'remember',
  title: 'Remember a sentence',
  about: 'records a sentence: a rule ("always …", "never …", "we use …") as a fact, anything else as a learning',
  example: 'tidemark remember "Always run the tests before committing"',
  params: {
    text: { type: 'text', about: 'what to remember', required: true, place: 'rest' },
    kind: { type: 'text', about: 'record it as this kind instead' },
    topic: { type: 'text', about: 'what area it belongs to' },
    redact: { type: 'flag', about: 'store what looks like a secret as its category instead of refusing it' },
  },
  readOnly: false,
  run(context, args) {
    const sentence = String(args.text).trim()
    if (sentence === '') throw new UserError('bad-argument', 'there is nothing to remember', 'give a sentence')
    const kindName = args.kind === undefined ? undefined : String(args.kind)
    const kind = kindName === undefined ? undefined : context.memory.registry().kind(kindName)
    if (kindName !== undefined && !kind)
      throw new UserError('unknown-kind', `no kind "${kindName}"`, "`tidemark discover '(kinds)'` lists them")
    const [verb, said] = kind
      ? ([`record-${kind.name}`, { [kind.key[0]]: sentence }] as [string, { [key: string]: Json }])
      : actionFor(sentence)
    const action = [verb, { ...said, ...(typeof args.topic === 'string' ? { topics: [args.topic] } : {}) }]
    const done = context.memory.act([action], {
      ...actingAs(context),
      ...(args.redact === true ? { redact: true } : {}),
    })
    const r = done.results[0]!
    const what = `${r.kind}${typeof said.category === 'string' ? ` (${said.category})` : ''}`
    const lines = [
      `${r.standing === 'proposed' ? 'proposed' : r.created ? 'remembered' : 'known already'} as ${what}: ${r.id}`,
      ...done.notes.map((n) => `note: ${n}`),
    ]
    if (done.batch) lines.push(`tidemark undo ${done.batch} takes it back`)
    return { text: lines.join('\n'), json: done as unknown as Json }
  },
}
