import type { Link } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'

/**
 * The JSON form of a project's knowledge, sorted by id, so that a change of one entity is a change of a few lines.
 * `fields` hold what was said and nothing else: no default is filled in.
 */
export interface KnowledgeDocument {
  tidemark: 1
  project: string
  /** Only when asked for: it would make every export differ. */
  exportedAt?: string
  /** Project kinds and relations first, then everything else, each by id. */
  entities: DocumentEntity[]
  links: DocumentLink[]
  /** The lines of the log, for a replica of the same project: every value there ever was, with author and time. */
  log?: string[]
}

interface Recorded {
  retired?: string
  /** When it was recorded first and changed last, ISO 8601. */
  created: string
  updated: string
  provenance?: Json[]
}

export interface DocumentEntity extends Recorded {
  id: string
  kind: string
  fields: { [field: string]: Json }
}

export interface DocumentLink extends Recorded, Pick<Link, 'id' | 'from' | 'to' | 'type'> {
  fields: { [field: string]: Json }
}
