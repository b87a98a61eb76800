import type { Json } from '../model/field.ts'
import type { Report } from '../model/validate.ts'
import type { Planning, Result } from './plan-types.ts'

/** A write verb that is not derived from a kind. */
export interface Verb {
  readonly verb: string
  readonly about: string
  /** Arguments, for help, docs and the check for unknown ones; a `?` in the type marks the optional ones. */
  readonly args: Readonly<Record<string, string>>
  /** Arguments of one call, for help. */
  readonly example: Readonly<Record<string, Json>>
  /** Its texts may hold a secret: it is there to erase one. */
  readonly unscreened?: boolean
  /**
   * Judges the arguments and lays the writes into the plan. Everything wrong is reported; a verb that reported
   * something returns nothing, and the whole batch is refused.
   */
  plan(
    p: Planning,
    args: Readonly<Record<string, unknown>>,
    report: Report,
    run: RunAction,
  ): Omit<Result, 'verb'> | undefined
}

/** Plans another action inside this one (confirming a proposed edit). */
export type RunAction = (
  verb: string,
  args: Readonly<Record<string, unknown>>,
  report: Report,
) => Omit<Result, 'verb'> | undefined
