import type { Json } from '../../../model/field.ts'
import type { Turn } from './turns.ts'

/** A decision of before, which what is found may relate to. */
export interface Earlier {
  readonly id: string
  readonly name: string
  readonly text: string
}

/** Something that may be worth keeping, as the action that would record it. */
export interface Candidate {
  readonly kind: string
  readonly action: readonly [verb: string, args: { [field: string]: Json }]
  /** The words of the session that say it. */
  readonly quote: string
  /** 0 to 1. */
  readonly confidence: number
  /** How it relates to earlier decisions, by their ids. */
  readonly relations?: readonly { readonly type: string; readonly to: string }[]
}

export interface Extracted {
  readonly candidates: readonly Candidate[]
  /** What it cost, where whoever was asked says so. */
  readonly tokens?: number
}

/** Finds what a session said that may be worth keeping. Whatever it finds is proposed, and binds nobody. */
export interface Extractor {
  /** What stands in the provenance: `capture`, `llm:MODEL`. */
  readonly source: string
  /** Characters of a session that it takes at most. */
  readonly most: number
  /** Tokens that a look at this text can cost at most; 0 where nothing is sent. */
  cost(text: string): number
  extract(turns: readonly Turn[], text: string, signal: AbortSignal): Promise<Extracted>
}

/** What went wrong with whoever was asked. */
export class ExtractionFailed extends Error {
  /** Nothing can have been used: it was refused, or never got there. */
  readonly free: boolean
  /** How many milliseconds it asks to wait. */
  readonly wait: number | undefined
  /** What it cost, where that was said. */
  readonly tokens: number | undefined

  constructor(message: string, more: { free?: boolean; wait?: number; tokens?: number } = {}) {
    super(message)
    this.free = more.free ?? false
    this.wait = more.wait
    this.tokens = more.tokens
  }
}
