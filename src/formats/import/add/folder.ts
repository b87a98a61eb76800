import type { Json } from '../../../model/field.ts'

/** What the readers of the single files share. */
export interface AddFolder {
  /** What the folder of the project is called. */
  readonly project: string
  /** A file's text without secrets; nothing if it is not there or cannot be read, which is told. */
  page(name: string): string | undefined
  json(name: string): Json | undefined
  /** How a file is named in locations. */
  label(name: string): string
  leaveOut(where: string, what: string, why: string): void
  count(what: string, n: number): void
}
