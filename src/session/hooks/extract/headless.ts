import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { attempt } from '../../../base/errors.ts'
import { jsonIn } from '../../../model/object.ts'
import { ALL_FACTS } from '../../../work/coordination/clients.ts'
import { ExtractionFailed } from './extractor.ts'
import { ANSWER_MAX, type Answered, type Asked, anthropicTokens } from './wire.ts'

/** Variables of the session around it: a client that is started here has one of its own. */
const OUTER_SESSION = new Set([
  ...['TIDEMARK_SESSION', 'TIDEMARK_PROJECT', 'TIDEMARK_STORE'],
  ...ALL_FACTS.flatMap((f) => [f.sessionVariable, ...f.innerVariables]),
])

/** By this our hooks know that the client was started by an extraction, and keep out of it. */
const EXTRACTING = 'TIDEMARK_EXTRACTING'

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OUTER_SESSION.has(name))
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

/** Runs a command once, without project and shell: prompt on stdin, answer on stdout. Its group ends with the time. */
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
  const end = () =>
    attempt(() => {
      if (group && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      else child.kill('SIGKILL')
    }) // it may have ended by itself
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
    attempt(() => resolve(unwrap(Buffer.concat(parts).toString('utf8'), err)), reject)
  })
  child.stdin.on('error', () => {}) // it did not read to the end
  child.stdin.end(`${system}\n\n${text}\n`)
  return promise
}
