import { UserError } from '../../base/errors.ts'
import { standingOf } from '../../model/entity.ts'
import type { Kind } from '../../model/kind.ts'
import { actionOf, isSaidKind, type SaidAs, type SaidKind } from '../../travel/formats/import/said-as.ts'
import { contraryRules, settled } from './contradictions.ts'
import { kindNamed, refTo, undoLine } from './format.ts'
import { actingAs, defineTool, type Output, written } from './tool.ts'

/** The action that records it: as the kind that was asked for, else as what its words say. */
function saidAs(sentence: string, kind: Kind | undefined): SaidAs['action'] {
  if (kind && !isSaidKind(kind.name)) return [`record-${kind.name}`, { [kind.key[0]]: sentence }]
  return actionOf(sentence, kind?.name as SaidKind | undefined).action
}

export const remember = defineTool({
  name: 'remember',
  title: 'Remember a sentence',
  about:
    'records a sentence as what it says: a rule (fact), a decision, what failed, a question, or how things are (learning); said again by a person, a proposal is confirmed',
  example: 'tidemark remember "Always run the tests before committing"',
  params: {
    text: {
      type: 'text',
      about: 'what to remember; - reads standard input',
      required: true,
      place: 'rest',
      stdin: true,
    },
    as: { type: 'text', about: 'record it as this kind, whatever its words say; rule means fact' },
    kind: { type: 'text', about: 'an older name of --as' },
    topic: { type: 'text', about: 'what area it belongs to' },
    redact: { type: 'flag', about: 'store what looks like a secret as its category instead of refusing it' },
  },
  run(context, args) {
    const as = args.as ?? args.kind
    const sentence = args.text.trim()
    if (sentence === '') throw new UserError('bad-argument', 'there is nothing to remember', 'give a sentence')
    const kind = as === undefined ? undefined : kindNamed(context.memory.registry(), as === 'rule' ? 'fact' : as)
    const [verb, said] = saidAs(sentence, kind)
    const action = [verb, { ...said, topics: args.topic === undefined ? undefined : [args.topic] }]
    const done = context.memory.act([action], { ...actingAs(context), redact: args.redact })
    const r = done.results[0]!
    const waits = standingOf(context.memory.reader.entity(String(r.id))?.fields ?? {}) === 'proposed'
    const about = Array.isArray(said.locations) ? ` about ${said.locations.join(', ')}` : ''
    const what = `${r.kind}${typeof said.category === 'string' ? ` (${said.category})` : about}`
    const line = `${waits ? 'proposed' : r.created ? 'remembered' : 'known already'} as ${what} ${refTo(context.memory.reader, String(r.id))}`
    const other = kind ? [] : ['wrong kind? undo it, then tidemark remember --as KIND …']
    const undo = done.batch ? [undoLine(done.batch), ...other] : []
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
