import type { Json } from '../../model/field.ts'

export interface Flag {
  readonly type: 'text' | 'number' | 'flag'
  readonly about: string
  /** What the value stands for in usage: `N`, `DIR`. */
  readonly value?: string | undefined
}

/** What a command has to work with; everything it prints goes through `out` (answers) and `err` (diagnostics). */
export interface CommandCall {
  readonly place: readonly string[]
  readonly flags: Readonly<Record<string, string | number | boolean>>
  /** `--project`, else the working directory. */
  readonly directory: string
  readonly json: boolean
  readonly session?: string | undefined
  out(line: string): void
  err(line: string): void
  /** What is being done, on a terminal alone: it takes the place of the line before, and goes away without one. */
  progress(line?: string): void
}

/** A command that is more than a tool: it sets up, serves, or talks with a person. */
export interface Command {
  readonly name: string
  readonly about: string
  /** Arguments after the name, as usage shows them. Without it the command takes none. */
  readonly usage?: string
  readonly example: string
  readonly flags: Readonly<Record<string, Flag>>
  /** What it did, for `--json`; a number is the exit code. */
  run(call: CommandCall): Promise<{ json?: Json; code?: number } | undefined>
}
