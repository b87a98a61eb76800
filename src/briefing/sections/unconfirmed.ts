import type { Entity } from '../../memory/entity.ts'
import { plain } from '../fence.ts'
import { field, many } from '../telling.ts'
import type { Item, Section } from '../types.ts'
import { isRead } from './rules.ts'

const LOOKED_AT = 300
/** So many rules of the repository's files are told; they cost as much as if they bound. */
const MOST = 20
/** How provenance names such a file. */
const OF_FILE = 'import claude-md '

/**
 * Rules that nobody here has agreed to yet: counted in one line, as the person who reviews them reads what they say. What
 * the repository itself says in a file that this client does not load is told, as the file's.
 */
export const unconfirmed: Section = {
  name: 'unconfirmed',
  title: 'Rules in files of the repository, not confirmed here',
  share: 0,
  build(about) {
    const proposed = about.reader.list('fact', { standing: 'proposed', limit: LOOKED_AT })
    const vouched = about.vouched(about.facts.map((e) => e.id))
    const n = proposed.length + about.facts.filter((e) => !vouched.has(e.id)).length
    if (n === 0) return undefined
    const ofFiles = proposed.filter((e) => fileOf(e) !== undefined && !isRead(e, about))
    const items = ofFiles
      .slice(0, MOST)
      .map((e): Item => ({ id: e.id, text: `- ${fileOf(e)}: ${field(e, 'fact', 400)}` }))
    return {
      items,
      beyond: ofFiles.length - items.length,
      see: 'tidemark confirm',
      says: `${many(n, 'rule')} ${n === 1 ? 'waits' : 'wait'} for your yes (\`tidemark confirm\`)`,
      note: `${many(n, 'rule')} ${n === 1 ? 'waits' : 'wait'} for confirmation: tidemark review lists them, a person agrees with tidemark confirm`,
    }
  },
}

/** The instruction file that an import found it in. */
function fileOf({ fields }: Entity): string | undefined {
  const all = Array.isArray(fields.provenance) ? fields.provenance : []
  const sources = all.map((p) => String((p as { source?: unknown }).source))
  const source = sources.find((s) => s.startsWith(OF_FILE))
  return source && plain(source.slice(OF_FILE.length), 120)
}
