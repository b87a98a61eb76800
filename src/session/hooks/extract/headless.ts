import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { jsonIn } from '../../../model/object.ts'
import { ExtractionFailed } from './extractor.ts'
import { ANSWER_MAX, type Answered, type Asked, anthropicTokens } from './wire.ts'

/** What Codex can do besides answering; one that it does not know does no harm. */
const OF_CODEX = [
  'shell_tool', 'unified_exec', 'view_image', 'image_generation', 'multi_agent', 'goals', 'apps', 'plugins', 'hooks', 'browser_use', 'computer_use',
] // biome-ignore format: a list to read at a glance

/**
 * Clients without their hands: no tools, no servers, no hooks, no project, nothing kept. What a transcript says can make
 * them do nothing but answer.
 */
export const CLIENT_COMMANDS: Readonly<Record<string, (model?: string) => string[]>> = {
  claude: (model) => [
    ...['claude', '-p', '--output-format', 'json', '--safe-mode', '--strict-mcp-config', '--no-session-persistence'],
    ...['--tools', ''],
    ...(model === undefined ? [] : ['--model', model]),
  ],
  codex: (model) => [
    ...['codex', 'exec', '--skip-git-repo-check', '--ephemeral', '--ignore-user-config', '--sandbox', 'read-only'],
    ...['-c', 'web_search="disabled"', ...OF_CODEX.flatMap((name) => ['-c', `features.${name}=false`])],
    ...(model === undefined ? [] : ['--model', model]),
    '-',
  ],
}

/** What says in the environment that this is a session of some client: the one that is started is another. */
const OF_A_SESSION =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_PROJECT_DIR|CLAUDE_ENV_FILE|CLAUDE_CODE_SESSION_ID|CLAUDE_CODE_ENTRYPOINT|CODEX_THREAD_ID|GEMINI_SESSION_ID|GEMINI_PROJECT_DIR|GEMINI_CWD|TIDEMARK_SESSION|TIDEMARK_PROJECT|TIDEMARK_STORE)$/

/** By this our hooks know that the client was started by an extraction, and keep out of it. */
const EXTRACTING = 'TIDEMARK_EXTRACTING'

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OF_A_SESSION.test(name))
  return { ...Object.fromEntries(kept), [EXTRACTING]: '1' }
}

/** By this Codex says on stderr what it cost. */
const TOKENS = /^tokens used\s+([\d,.]+)\s*$/m

/** The answer as it is, or in the envelope in which Claude Code prints it, with what it cost. */
function unwrap(out: string, err: string): Answered {
  const whole = jsonIn(out) as
    | { type?: unknown; result?: unknown; is_error?: unknown; usage?: unknown }
    | null
    | undefined
  // an answer around which something else was printed is judged as it is
  if (whole?.type !== 'result' || typeof whole.result !== 'string') {
    const said = TOKENS.exec(err)?.[1]
    return { text: out, tokens: said === undefined ? undefined : Number(said.replace(/[,.]/g, '')) }
  }
  if (whole.is_error === true) throw new ExtractionFailed(`it says: ${whole.result.replace(/\s+/g, ' ').slice(0, 160)}`)
  return { text: whole.result, tokens: anthropicTokens(whole.usage) }
}

/**
 * Runs a command once, in no project and without a shell: the prompt on its stdin, the answer on its stdout. It and what
 * it starts are ended when the time is over.
 */
export function runHeadless(
  command: readonly string[],
  { system, text }: Pick<Asked, 'system' | 'text'>,
  signal: AbortSignal,
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const [program = '', ...args] = command
  const group = process.platform !== 'win32'
  const child = spawn(program, args, {
    cwd: tmpdir(),
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: group,
    windowsHide: true,
  })
  const end = () => {
    try {
      if (group && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      else child.kill('SIGKILL')
    } catch {} // it has ended by itself
  }
  let failed: string | undefined
  const stop = (why: string) => {
    failed ??= why
    end()
  }
  const parts: Buffer[] = []
  let length = 0
  let err = ''
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part)
    length += part.length
    if (length > ANSWER_MAX) stop(`${program}: the answer does not end`)
  })
  child.stderr.on('data', (part: Buffer) => (err = `${err}${part}`.slice(-400)))
  const onAbort = () => stop(`${program} was too slow`)
  signal.addEventListener('abort', onAbort, { once: true })
  const leave = () => process.exit(1)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  process.once('exit', end)
  for (const s of signals) process.once(s, leave)
  child.on('error', (error) => reject(new ExtractionFailed(`${program}: ${error.message}`, { free: true })))
  child.on('close', (code) => {
    signal.removeEventListener('abort', onAbort)
    process.removeListener('exit', end)
    for (const s of signals) process.removeListener(s, leave)
    if (failed !== undefined) return reject(new ExtractionFailed(failed))
    if (code !== 0)
      return reject(
        new ExtractionFailed(`${program} ended with ${code}: ${err.replace(/\s+/g, ' ').trim().slice(-160)}`),
      )
    try {
      resolve(unwrap(Buffer.concat(parts).toString('utf8'), err))
    } catch (error) {
      reject(error)
    }
  })
  child.stdin.on('error', () => {}) // it did not read to the end
  child.stdin.end(`${system}\n\n${text}\n`)
  return promise
}
