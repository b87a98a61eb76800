import type { Json } from '../../../model/field.ts'

/** A decision of before, which what is found may relate to. */
export type Earlier = Readonly<{ id: string; name: string; text: string }>

/** Something that may be worth keeping, as the action that would record it. */
export interface Candidate {
  readonly kind: string
  readonly action: readonly [verb: string, args: { [field: string]: Json }]
  readonly quote: string
  readonly confidence: number
  /** How it relates to earlier decisions, by their ids. */
  readonly relations?: readonly { readonly type: string; readonly to: string }[]
}

export class ExtractionFailed extends Error {
  /** Nothing can have been used: it was refused, or never got there. */
  readonly free: boolean
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
