import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { aboutOf, brief, needsField } from './common.ts'

export const addEvidence: Verb = {
  verb: 'add-evidence',
  about: 'adds what speaks for something; the same text is kept once',
  args: { ref: 'reference (or name)', name: 'reference? (the same as ref)', evidence: 'text, or a list of texts' },
  example: { ref: 'plan-then-apply', evidence: 'a throwing transaction left half a write' },
  plan(p, args, report) {
    const target = aboutOf(p, args, report)
    const given: unknown[] = Array.isArray(args.evidence) && args.evidence.length > 0 ? args.evidence : [args.evidence]
    const evidence = given.flatMap((text) => textArg({ evidence: text }, 'evidence', report) ?? [])
    if (!target || evidence.length < given.length || !needsField(p, target, 'evidence', report)) return undefined
    p.apply(target.id, [
      { field: 'evidence', op: 'edit', list: true, add: [...new Set(evidence)], remove: [], replace: false },
    ])
    p.sign(target.id)
    return brief(target)
  },
}
