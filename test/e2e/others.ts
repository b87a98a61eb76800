import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chat } from './fakes/chat.ts'
import { geminiApi } from './fakes/gemini.ts'
import type { Model } from './fakes/script.ts'
import { binary, type Ended, type Machine } from './machine.ts'

/** Another vendor's client: its model, what it calls our server's tool, and one prompt given to it. */
export interface Other {
  readonly model: () => Promise<Model>
  readonly act: string
  ask(machine: Machine, model: Model, prompt: string): Promise<Ended>
}

const put = (dir: string, name: string, value: object) => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, name), JSON.stringify(value))
}

export const gemini: Other = {
  model: geminiApi,
  act: 'mcp_tidemark_act',
  ask(machine, model, prompt) {
    put(join(machine.home, '.gemini'), 'settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    })
    const args = ['-p', prompt, '--approval-mode', 'yolo', '--output-format', 'json', '-m', 'gemini-2.5-flash']
    return machine.run(binary('gemini'), args, {
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    })
  },
}

export const copilot: Other = {
  model: chat,
  act: 'tidemark-act',
  ask(machine, model, prompt) {
    put(join(machine.home, '.copilot'), 'config.json', { trustedFolders: [machine.root] })
    return machine.run(binary('copilot'), ['-p', prompt, '--allow-all-tools', '--allow-all-paths'], {
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_MODEL: 'fake-model',
    })
  },
}

export const opencode: Other = {
  model: chat,
  act: 'tidemark_act',
  ask(machine, model, prompt) {
    put(join(machine.home, '.config', 'opencode'), 'opencode.json', {
      provider: {
        fake: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${model.url}/v1`, apiKey: 'dummy' },
          models: { 'fake-model': { limit: { context: 200_000, output: 8_000 } } },
        },
      },
      model: 'fake/fake-model',
      small_model: 'fake/fake-model',
      autoupdate: false,
      share: 'disabled',
      permission: { '*': 'allow' },
    })
    return machine.run(binary('opencode'), ['run', '--format', 'json', prompt], {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    })
  },
}
