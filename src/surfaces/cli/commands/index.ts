import type { Command } from '../command.ts'

/** Every command that is not a tool, loaded when called. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).init,
  uninstall: async () => (await import('./uninstall.ts')).uninstall,
  adopt: async () => (await import('./adopt.ts')).adopt,
  mcp: async () => (await import('./mcp.ts')).mcp,
  serve: async () => (await import('./serve.ts')).serve,
  hook: async () => (await import('./hook.ts')).hook,
  doctor: async () => (await import('./doctor.ts')).doctor,
  edit: async () => (await import('./edit.ts')).edit,
  extract: async () => (await import('./extract.ts')).extract,
  models: async () => (await import('./models.ts')).models,
  demo: async () => (await import('./demo.ts')).demo,
  completion: async () => (await import('./completion.ts')).completion,
  bench: async () => (await import('./bench.ts')).bench,
}
