import { UserError } from '../../errors.ts'
import { nearest } from '../../model/names.ts'
import { add } from './add.ts'
import { json } from './json.ts'
import { markdown } from './markdown.ts'
import type { Exporter } from './types.ts'

/** Every format that knowledge goes out in. */
export const EXPORTERS: readonly Exporter[] = [markdown, json, add]

/** @throws UserError when there is no such format. */
export function exporterFor(format: string): Exporter {
  const found = EXPORTERS.find((e) => e.name === format)
  if (found) return found
  const names = EXPORTERS.map((e) => e.name)
  const near = nearest(format, names)
  throw new UserError(
    'unknown-format',
    `there is no format "${format}"`,
    near.length > 0 ? `did you mean ${near.join(' or ')}?` : `the formats are ${names.join(', ')}`,
  )
}
