import type { Model } from './fakes/script.ts'
import { binary, type Ended, type Machine } from './machine.ts'

export interface ClaudeRan extends Ended {
  /** The lines of `--output-format stream-json`. */
  readonly lines: { readonly [key: string]: unknown }[]
  readonly session: string
}

/** What Claude Code needs of the environment to talk to the scripted model and to nobody else. */
export const claudeEnv = (model: Model): Record<string, string> => ({
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: 'dummy-local-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
})

/** One `claude -p`: the settings, hooks and server of the project as `tidemark init` wired them, and no others. */
export async function claude(
  machine: Machine,
  model: Model,
  prompt: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ClaudeRan> {
  const ended = await machine.run(
    binary('claude'),
    [
      '-p',
      prompt,
      '--model',
      'claude-haiku-4-5',
      '--allowedTools',
      'mcp__tidemark,Bash,Edit,Write,Read,Agent,Task',
      '--output-format',
      'stream-json',
      '--verbose',
      '--include-hook-events',
      ...args,
    ],
    { ...claudeEnv(model), ...env },
  )
  const lines = ended.out
    .split('\n')
    .filter((l) => l.startsWith('{'))
    .map((l) => JSON.parse(l) as { [key: string]: unknown })
  const init = lines.find((l) => l.type === 'system' && l.subtype === 'init')
  return { ...ended, lines, session: String(init?.session_id ?? '') }
}
