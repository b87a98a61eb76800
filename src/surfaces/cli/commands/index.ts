import type { Entry } from '../../tools/index.ts'
import type { Command } from '../command.ts'

/** Every command that is not a tool, in the order in which help lists them. */
export const COMMANDS: Readonly<Record<string, Entry<Command>>> = {
  init: { group: 'start', load: async () => (await import('./init.ts')).init },
  doctor: { group: 'start', load: async () => (await import('./doctor.ts')).doctor },
  ui: { group: 'start', load: async () => (await import('./ui.ts')).ui },
  demo: { group: 'start', load: async () => (await import('./demo.ts')).demo },
  sync: { group: 'knowledge', load: async () => (await import('./sync.ts')).sync },
  join: { group: 'knowledge', load: async () => (await import('./join.ts')).join },
  leave: { group: 'knowledge', load: async () => (await import('./join.ts')).leave },
  edit: { group: 'knowledge', load: async () => (await import('./edit.ts')).edit },
  mcp: { group: 'agents', load: async () => (await import('./mcp.ts')).mcp },
  serve: { group: 'agents', load: async () => (await import('./serve.ts')).serve },
  hook: { group: 'agents', load: async () => (await import('./hook.ts')).hook },
  hub: { group: 'agents', load: async () => (await import('./hub.ts')).hub },
  models: { group: 'set up', load: async () => (await import('./models.ts')).models },
  bench: { group: 'set up', load: async () => (await import('./bench.ts')).bench },
  adopt: { group: 'set up', load: async () => (await import('./adopt.ts')).adopt },
  uninstall: { group: 'set up', load: async () => (await import('./uninstall.ts')).uninstall },
} // biome-ignore format: a line for each
