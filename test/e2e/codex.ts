import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Model } from './fakes/script.ts'
import { binary, type Ended, type Machine } from './machine.ts'

export interface CodexRan extends Ended {
  readonly thread: string
}

/** Codex asks the scripted model; once for each machine. */
export function codexAsks(machine: Machine, model: Model): void {
  const file = join(machine.home, '.codex', 'config.toml')
  appendFileSync(
    file,
    `
[model_providers.fake]
name = "fake"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`,
  )
}

/** One `codex exec`. The person has looked at the hooks once, which in a test is this flag. */
export async function codex(machine: Machine, prompt: string, args: readonly string[] = []): Promise<CodexRan> {
  const settings = [
    'model="fake-model"',
    'model_provider="fake"',
    'approval_policy="never"',
    'sandbox_mode="danger-full-access"',
  ]
  const ended = await machine.run(
    binary('codex'),
    [
      'exec',
      ...settings.flatMap((s) => ['-c', s]),
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      '--json',
      ...args,
      prompt,
    ],
    { FAKE_KEY: 'dummy' },
  )
  const started = ended.out
    .split('\n')
    .filter((l) => l.startsWith('{'))
    .map((l) => JSON.parse(l) as { type: string; thread_id?: string })
    .find((l) => l.type === 'thread.started')
  return { ...ended, thread: started?.thread_id ?? '' }
}
