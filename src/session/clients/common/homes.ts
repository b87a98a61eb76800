import { join } from 'node:path'
import type { ClientContext } from './types.ts'

const envOf = (ctx: ClientContext) => ctx.env ?? process.env

export const configDir = (ctx: ClientContext) => envOf(ctx).CLAUDE_CONFIG_DIR || join(ctx.home, '.claude')
/** The settings of Claude Code that count here, the strongest first. */
export const claudeSettings = (ctx: ClientContext): [local: string, team: string, user: string] => [
  join(ctx.root, '.claude', 'settings.local.json'),
  join(ctx.root, '.claude', 'settings.json'),
  join(configDir(ctx), 'settings.json'),
]
export const claudeGlobal = (ctx: ClientContext) => join(envOf(ctx).CLAUDE_CONFIG_DIR || ctx.home, '.claude.json')
export const codexHome = (ctx: ClientContext) => envOf(ctx).CODEX_HOME || join(ctx.home, '.codex')
export const geminiHome = (ctx: ClientContext) => join(envOf(ctx).GEMINI_CLI_HOME || ctx.home, '.gemini')
export const copilotHome = (ctx: ClientContext) => envOf(ctx).COPILOT_HOME || join(ctx.home, '.copilot')
export const cursorHome = (ctx: ClientContext) => join(ctx.home, '.cursor')
export const opencodeHome = (ctx: ClientContext) =>
  join(envOf(ctx).XDG_CONFIG_HOME || join(ctx.home, '.config'), 'opencode')
export const opencodeData = (ctx: ClientContext) =>
  join(envOf(ctx).XDG_DATA_HOME || join(ctx.home, '.local', 'share'), 'opencode')
