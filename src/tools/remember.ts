import { UserError } from '../errors.ts'
import { classifyRule } from '../formats/import/classify.ts'
import { standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { contraryRules, settled } from './contradictions.ts'
import { kindNamed, refTo, undoLine } from './format.ts'
import { actingAs, defineTool, type Output, written } from './tool.ts'

/** A longer line is no sentence: its beginning stands for it. */
const LINE_MAX = 400

/** What is to be remembered is a fact, so that every later briefing has it; the words behind the first line are its context. */
function factOf(said: string): { [key: string]: Json } {
  const [first = '', ...rest] = said.split('\n').map((line) => line.trimEnd())
  const category = rest.length === 0 ? classifyRule(first)?.category : undefined
  const isLong = first.length > LINE_MAX
  const context = isLong ? said : rest.join('\n').trim()
  return {
    fact: isLong ? `${first.slice(0, LINE_MAX).toWellFormed()}…` : first,
    ...(category ? { category } : {}),
    ...(context === '' ? {} : { context }),
  }
}

export const remember = defineTool({
  name: 'remember',
  title: 'Remember a sentence',
  about:
    'records a sentence as a fact, which every later session is told; said again by a person, a proposal is confirmed',
  example: 'tidemark remember "Always run the tests before committing"',
  params: {
    text: {
      type: 'text',
      about: 'what to remember; - reads standard input',
      required: true,
      place: 'rest',
      stdin: true,
    },
    kind: { type: 'text', about: 'record it as this kind instead' },
    topic: { type: 'text', about: 'what area it belongs to' },
    redact: { type: 'flag', about: 'store what looks like a secret as its category instead of refusing it' },
  },
  readOnly: false,
  run(context, args) {
    const { kind: kindName, topic, redact } = args
    const sentence = args.text.trim()
    if (sentence === '') throw new UserError('bad-argument', 'there is nothing to remember', 'give a sentence')
    const kind = kindName === undefined ? undefined : kindNamed(context.memory.registry(), kindName)
    const said: { [key: string]: Json } = kind ? { [kind.key[0]]: sentence } : factOf(sentence)
    const action = [`record-${kind?.name ?? 'fact'}`, { ...said, topics: topic === undefined ? undefined : [topic] }]
    const done = context.memory.act([action], { ...actingAs(context), redact })
    const r = done.results[0]!
    const waits = standingOf(context.memory.reader.entity(String(r.id))?.fields ?? {}) === 'proposed'
    const what = `${r.kind}${typeof said.category === 'string' ? ` (${said.category})` : ''}`
    const line = `${waits ? 'proposed' : r.created ? 'remembered' : 'known already'} as ${what} ${refTo(context.memory.reader, String(r.id))}`
    const undo = done.batch ? [undoLine(done.batch)] : []
    const print = (settled: readonly string[]): Output =>
      written(done, [line], { ...done, notes: [...done.notes, ...settled] }, [...settled, ...undo])
    if (r.kind === 'decision')
      return import('./related.ts').then(({ touchedBy }) =>
        print(touchedBy(context, done.results).map((n) => `note: ${n}`)),
      )
    const pairs = r.kind === 'fact' ? contraryRules(context, context.memory.reader.entities([String(r.id)])) : []
    if (pairs.length === 0) return print([])
    // a proposal replaces nothing: who agrees to it is asked then
    return settled(waits ? { ...context, ask: undefined } : context, pairs).then(print)
  },
})
