import { UserError } from '../errors.ts'
import { DataReader } from './data-reader.ts'
import { type Data, DataEntity, type DataTable, MAX_DATA_DEPTH } from './data-types.ts'
import { layoutEntities, layoutEntity, type Shapes, word } from './entity-layout.ts'
import { atom, type Layout, lazyGroup, print, printLimited as printLayoutLimited } from './layout.ts'
import { keyText } from './lexical.ts'
import { printJsonNumber } from './numeral.ts'

export { type Data, DataEntity, type DataTable, MAX_DATA_DEPTH } from './data-types.ts'
export type { Shape, Shapes } from './entity-layout.ts'

/** Prints so that `parseData` with the same shapes gives the same value. Throws a UserError for what is nested too deep. */
export const printData = (data: Data, shapes?: Shapes, options: { maxChars?: number } = {}): string =>
  options.maxChars === undefined ? print(layoutData(data, shapes)) : printLimited(data, options.maxChars, shapes)

/** At most `maxChars` characters, cut fairly across siblings, with remarks that say how much is missing; still parses. */
export const printLimited = (data: Data, maxChars: number, shapes?: Shapes): string =>
  printLayoutLimited(layoutData(data, shapes), maxChars)

export const layoutData = (data: Data, shapes?: Shapes): Layout => layout(data, shapes, false, 0)

/** Reads what `printData` (or the result of a query) printed. Objects come back with a null prototype. Throws a UserError. */
export const parseData = (text: string, shapes?: Shapes): Data => new DataReader(text, shapes).read()

/** `bare`: inside an entity or table, where a word needs no quotes. */
function layout(data: Data, shapes: Shapes | undefined, bare: boolean, depth: number): Layout {
  if (data === null || data === undefined) return atom('nil')
  if (typeof data === 'string') return word(data, !bare)
  if (typeof data === 'number') return atom(printJsonNumber(data))
  if (typeof data === 'boolean') return atom(data ? '#t' : '#f')
  if (depth >= MAX_DATA_DEPTH)
    throw new UserError('too_deep', `data nested deeper than ${MAX_DATA_DEPTH} cannot be printed`, 'flatten it')
  const cell = (value: Data, name: boolean): Layout => layout(value, shapes, !name, depth + 1)
  if (data instanceof DataEntity) return layoutEntity(data, shapes, cell)
  if (isList(data)) {
    if (data.length > 0 && data.every((item) => item instanceof DataEntity))
      return layoutEntities(data as DataTable, shapes, cell, '[', ']')
    return lazyGroup('[', ']', data.length, (i) => layout(data[i]!, shapes, bare, depth + 1))
  }
  const entries = Object.entries(data).filter(([, value]) => value !== undefined)
  const item = (i: number): Layout => ({
    type: 'pair',
    key: keyText(entries[i]![0]),
    value: layout(entries[i]![1], shapes, bare, depth + 1),
  })
  return lazyGroup('{', '}', entries.length, item)
}

const isList = (data: Data): data is readonly Data[] => Array.isArray(data)
