export interface Relation {
  readonly name: string
  readonly about: string
  /** How the edge reads from its other end. */
  readonly inverse: string
  readonly symmetric?: boolean
  readonly acyclic?: boolean
  /** Which end is touched when the other changes: `forward` = a change of `from` touches `to`. */
  readonly impact: 'forward' | 'backward' | 'both' | 'none'
  /** How much of a change comes through one link, in (0, 1]: what `what-if` multiplies along a path. */
  readonly strength: number
}

type Unsaid = 'impact' | 'strength'

/** Declares a relation; `impact` is `none` and `strength` a half unless said. */
export function defineRelation(spec: Omit<Relation, Unsaid> & Partial<Pick<Relation, Unsaid>>): Relation {
  return { impact: 'none', strength: 0.5, ...spec }
}
