import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Holds } from './told.ts'

export const SCOPES = ['micro', 'balanced', 'macro', 'selected'] as const
/** How far to look: this task; this task first, then the rest; everything alike; the goals that are named. */
export type Scope = (typeof SCOPES)[number]

export const PRESETS = ['fresh', 'balanced', 'learn_from_all', 'debug'] as const
export type Preset = (typeof PRESETS)[number]

/** What a caller of recall may ask for. Only the question is required. */
export interface RecallOptions {
  scope?: Scope
  /** A name for common settings: fresh = micro, learn_from_all = macro, debug = all and explain. */
  preset?: Preset
  /** With scope `selected`: references to goals. */
  goals?: readonly string[]
  /** The task to stand at, as a reference; the session's current one unless given. */
  task?: string
  session?: string
  kinds?: readonly string[]
  /** At most this many results; 10 unless given or configured. */
  limit?: number
  /** Tokens that the printed results may cost. */
  budget?: number
  /** Recorded at or after: a day, a moment, or ms since the epoch. */
  since?: string | number | Date
  /** As the knowledge was then. */
  asOf?: string | number | Date
  /** True in the world at that moment (validFrom, validTo); now unless given. */
  validAt?: string | number | Date
  /** Also what is superseded, retired, or out of its validity. */
  all?: boolean
  /** Tell each part and why. */
  explain?: boolean
}

/** The factors of a score. Their product is the score. */
export interface Parts {
  /** How well it answers, in (0, 1]. */
  relevance: number
  /** How near in the work tree. */
  proximity: number
  /** How much of its half-life is left. */
  recency: number
  /** What it says of its own weight, within [0.5, 2]. */
  importance: number
  /** Less than one where others wrote it and nobody here stands by it. */
  standing?: number
}

export interface Recalled extends Holds, Pick<Entity, 'id' | 'kind' | 'name'> {
  score: number
  parts: Parts
  why: string
  /** The entity as it is printed. */
  text: string
  /** Words of the question that it holds. */
  words: readonly string[]
  /** Ids of others among the candidates that say nearly the same and are folded into this one. */
  similar: string[]
  /** What others say on the same matter, unverified, and who says it. */
  otherwise?: string[]
  /** Ids of other results that contradict it. */
  contradicts: string[]
  fields: { readonly [field: string]: Json }
}

export interface RecallResult {
  results: Recalled[]
  /** Found and left out for the limit or the budget. */
  omitted: number
  /** What the caller should know: how to narrow, that vectors are still being made … */
  notes: string[]
  /** Words of the question that no text holds, where the first result holds little of the rest. */
  unknown?: readonly string[]
  /** The results as they are printed, within the budget, ending with what was left out. */
  text: string
}
