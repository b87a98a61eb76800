import type { Json } from '../schema/field.ts'

export interface Flag {
  readonly type: 'text' | 'number' | 'flag'
  readonly about: string
  /** What the value stands for in usage: `N`, `DIR`. */
  readonly value?: string
}

/** What a command has to work with; everything it prints goes through `out` (answers) and `err` (diagnostics). */
export interface CommandCall {
  readonly place: readonly string[]
  readonly flags: Readonly<Record<string, string | number | boolean>>
  /** `--project`, else the working directory. */
  readonly directory: string
  readonly json: boolean
  readonly session?: string
  out(line: string): void
  err(line: string): void
}

/** A command that is more than a tool: it sets up, serves, or talks with a person. */
export interface Command {
  readonly name: string
  readonly about: string
  /** Arguments after the name, as usage shows them. */
  readonly usage: string
  readonly example: string
  readonly flags: Readonly<Record<string, Flag>>
  /** What it did, for `--json`; a number is the exit code. */
  run(call: CommandCall): Promise<{ json?: Json; code?: number } | undefined>
}

/** Every command that is not a tool, loaded when called. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./commands/init.ts')).init,
  uninstall: async () => (await import('./commands/uninstall.ts')).uninstall,
  adopt: async () => (await import('./commands/adopt.ts')).adopt,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  serve: async () => (await import('./commands/serve.ts')).serve,
  hook: async () => (await import('./commands/hook.ts')).hook,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  edit: async () => (await import('./commands/edit.ts')).edit,
  extract: async () => (await import('./commands/extract.ts')).extract,
  models: async () => (await import('./commands/models.ts')).models,
  demo: async () => (await import('./commands/demo.ts')).demo,
  bench: async () => (await import('./commands/bench.ts')).bench,
}
