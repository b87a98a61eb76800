import { printLimited } from './layout.ts'
import type { Value } from './values.ts'
import { layoutValue } from './write.ts'

/** A value as an error message shows it. */
export const brief = (value: Value): string => printLimited(layoutValue(value), 60)
