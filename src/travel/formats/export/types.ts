import type { Memory } from '../../../engine/memory.ts'

export interface ExportOptions {
  readonly kind?: string
  readonly history?: boolean
  readonly name: string
  /** The command line that makes the same file again, without any absolute path. */
  readonly command: string
}

/** One format that knowledge goes out in: the same knowledge gives the same text. */
export interface Exporter {
  readonly name: string
  readonly about: string
  write?(memory: Memory, options: ExportOptions): string | Uint8Array
  files?(memory: Memory, options: ExportOptions): Readonly<Record<string, string>>
  /** What of the knowledge its files have no place for, a line each. */
  leftOut?(memory: Memory): readonly string[]
  /** Whether the content of a file is an earlier export in this format, which may be written over. */
  isOurs(content: string): boolean
  /** The same of a file that is no text. */
  isOursInBytes?(content: Uint8Array): boolean
}
