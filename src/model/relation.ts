export interface Relation {
  readonly name: string
  readonly about: string
  /** How the edge reads from its other end. */
  readonly inverse: string
  readonly symmetric?: boolean
  /** A new edge that closes a cycle is refused. */
  readonly acyclic?: boolean
  /** Which end is touched when the other changes: `forward` = a change of `from` touches `to`. */
  readonly impact: 'forward' | 'backward' | 'both' | 'none'
}

/** Declares a relation; `impact` is `none` unless said. */
export function defineRelation(spec: Omit<Relation, 'impact'> & Partial<Pick<Relation, 'impact'>>): Relation {
  return { impact: 'none', ...spec }
}
