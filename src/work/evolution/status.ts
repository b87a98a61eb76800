import type { KINDS } from '../../model/kinds/index.ts'

export type Status = Extract<(typeof KINDS)[number], { name: 'mutation' }>['fields']['status']['choices'][number]

/** Allowed next statuses. The compiler refuses a status without a row, and a step that is not listed. */
export const NEXT = {
  proposed: ['approved', 'rejected'],
  approved: ['applied', 'rejected'],
  rejected: ['approved'],
  applied: ['improved', 'unchanged', 'worse', 'kept', 'reverted'],
  improved: ['unchanged', 'worse', 'kept', 'reverted'],
  unchanged: ['improved', 'worse', 'kept', 'reverted'],
  worse: ['improved', 'unchanged', 'kept', 'reverted'],
  kept: ['reverted'],
  reverted: [],
} as const satisfies Record<Status, readonly Status[]>

export type Next<S extends Status> = (typeof NEXT)[S][number]

export const mayBecome = (from: Status, to: Status): boolean => (NEXT[from] as readonly Status[]).includes(to)

/** A step that stands in the table: any other one does not compile. */
export const step = <S extends Status>(from: S, to: Next<S>): { from: S; to: Next<S> } => ({ from, to })

/** In force: the skill has its step. */
export const IN_FORCE: ReadonlySet<Status> = new Set(['applied', 'improved', 'unchanged', 'worse', 'kept'])
