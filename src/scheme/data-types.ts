/** What the data notation can say: JSON, and entities. A list of entities of one kind may print as a table. */
export type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data } | DataEntity

export class DataEntity {
  declare private readonly brand: 'entity'
  readonly kind: string
  readonly fields: ReadonlyMap<string, Data>
  constructor(kind: string, fields: ReadonlyMap<string, Data>) {
    this.kind = kind
    this.fields = fields
  }
}

/** What prints as a table: it reads back as the list of its entities. */
export type DataTable = readonly DataEntity[]

/** As deep as data is printed and read. */
export const MAX_DATA_DEPTH = 300
