import type { Json } from '../../../model/field.ts'

/**
 * The JSON form of a project's knowledge, sorted by id, so that a change of one entity is a change of a few lines.
 * `fields` hold what was said and nothing else: no default is filled in.
 */
export interface KnowledgeDocument {
  /** The version of the form. */
  tidemark: 1
  /** Id of the project it comes from. */
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
  /** Why it was retired. */
  retired?: string
  /** When it was recorded first and changed last, ISO 8601. */
  created: string
  updated: string
  /** Who recorded it, each with the moment. */
  provenance?: Json[]
}

export interface DocumentEntity extends Recorded {
  id: string
  kind: string
  fields: { [field: string]: Json }
}

export interface DocumentLink extends Recorded {
  id: string
  /** Ids of the two entities. */
  from: string
  to: string
  type: string
  fields: { [field: string]: Json }
}
