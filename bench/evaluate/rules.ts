import { TUNING } from '../../src/find/recall/relevance.ts'

/** What a number is where its rule does not count: for measuring what each brings. */
export const OFF = {
  lead: 0,
  held: 0,
  below: 1,
  telling: Number.POSITIVE_INFINITY,
  source: 0,
  alone: 0.4,
  referred: 0,
} as const satisfies { readonly [rule in keyof typeof TUNING]?: number }

export type Rule = keyof typeof OFF

/** What is done without one of the rules. */
export async function without<T>(rule: Rule, work: () => Promise<T>): Promise<T> {
  const value = TUNING[rule]
  TUNING[rule] = OFF[rule]
  try {
    return await work()
  } finally {
    TUNING[rule] = value
  }
}
