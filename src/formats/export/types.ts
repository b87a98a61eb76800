import type { Memory } from '../../memory.ts'

export interface ExportOptions {
  /** Only entities of this kind. */
  readonly kind?: string
  /** With the time of the export, which makes every one differ. */
  readonly stamp?: boolean
  /** The project's name. */
  readonly name: string
  /** The command line that makes the same file again, without any absolute path. */
  readonly command: string
}

/** One format that knowledge goes out in: the same knowledge gives the same text. */
export interface Exporter {
  readonly name: 'json' | 'markdown' | 'add'
  readonly about: string
  /** The one file it makes. */
  write?(memory: Memory, options: ExportOptions): string
  /** The files it makes in a directory. */
  files?(memory: Memory, options: ExportOptions): Readonly<Record<string, string>>
  /** Whether a text is an earlier export in this format, which may be written over. */
  isOurs(text: string): boolean
}
