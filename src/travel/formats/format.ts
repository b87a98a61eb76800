import { UserError } from '../../base/errors.ts'
import { didYouMean } from '../../model/names.ts'

/** @throws UserError when there is no such format. */
export function formatNamed<T extends { readonly name: string }>(all: readonly T[], format: string): T {
  const found = all.find((one) => one.name === format)
  if (found) return found
  const names = all.map((one) => one.name)
  const hint = didYouMean(format, names, `the formats are ${names.join(', ')}`)
  throw new UserError('unknown-format', `there is no format "${format}"`, hint)
}
