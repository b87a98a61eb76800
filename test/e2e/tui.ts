import { spawn } from 'node:child_process'
import { onTestFinished, vi } from 'vitest'
import { claudeEnv } from './claude.ts'
import type { Model } from './fakes/script.ts'
import { binary, type Machine } from './machine.ts'

export interface Tui {
  /** What a person types, and then the return key. */
  type(text: string): Promise<void>
  /** Waits until it is so; says what the screen showed if it never is. */
  until(what: string, is: () => boolean): Promise<void>
  /** What was drawn since somebody typed last, without what steers the terminal. */
  screen(): string
  readonly ended: Promise<void>
}

/** Claude Code as a person runs it, in a terminal. */
export function terminal(machine: Machine, model: Model): Tui {
  const command = `stty rows 50 cols 150; exec ${binary('claude')} --model claude-haiku-4-5 --permission-mode acceptEdits --allowedTools mcp__tidemark,Bash`
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: machine.root,
    env: { ...machine.env, ...claudeEnv(model), SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (screen = (screen + text).slice(-20_000)))
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  onTestFinished(() => void child.kill())
  const tui: Tui = {
    ended,
    screen: () => plain(screen),
    async type(text) {
      screen = ''
      child.stdin.write(text)
      // a text that comes together with its return key would be taken for a pasted one
      await tui.until(`shown "${text}"`, () => bare(screen).includes(bare(text)))
      child.stdin.write('\r')
    },
    async until(what, is) {
      await vi.waitFor(
        () => {
          if (!is()) throw new Error(`never ${what}; the screen showed:\n${plain(screen)}`)
        },
        { timeout: 60_000, interval: 50 },
      )
    },
  }
  return tui
}

const ESCAPE = String.fromCharCode(27)
const plain = (screen: string): string =>
  screen
    .replaceAll(new RegExp(`${ESCAPE}(?:\\[[0-9;?<>=]*[a-zA-Z]|\\][^${String.fromCharCode(7)}]*.|.)`, 'g'), ' ')
    .slice(-3_000)
const bare = (screen: string): string => plain(screen).replaceAll(/\s/g, '')
