import { many } from '../telling.ts'
import type { Section } from '../types.ts'

const LOOKED_AT = 300

/** Rules that nobody here has agreed to yet, in one line: what they say is for the person who reviews them. */
export const unconfirmed: Section = {
  name: 'unconfirmed',
  title: 'Unconfirmed rules',
  share: 0,
  build(about) {
    const proposed = about.reader.list('fact', { standing: 'proposed', limit: LOOKED_AT })
    const vouched = about.vouched(about.facts.map((e) => e.id))
    const n = proposed.length + about.facts.filter((e) => !vouched.has(e.id)).length
    if (n === 0) return undefined
    return {
      items: [],
      note: `${many(n, 'rule')} ${n === 1 ? 'waits' : 'wait'} for confirmation: tidemark review lists them, a person agrees with tidemark confirm`,
    }
  },
}
