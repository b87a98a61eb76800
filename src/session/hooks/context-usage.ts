import { constants, fstatSync, openSync, readSync } from 'node:fs'
import { attempt } from '../../base/errors.ts'
import { closing } from '../../base/files.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import { factsOf } from '../../work/coordination/clients.ts'

/** The last answer stands near the end; a line before it may be a long result of a tool. */
const TAIL = 512 * 1024
/** Models whose window is not their client's usual one. */
const WIDE = /\[1m\]|opus-5-5/
const WIDE_TOKENS = 1_000_000
export function* linesFromEnd(path: string): Generator<string> {
  const fd = attempt(() => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))) // a pipe would be waited for
  if (fd === undefined) return
  using _open = closing(fd)
  const stat = fstatSync(fd)
  if (!stat.isFile()) return
  const { size } = stat
  const buffer = Buffer.alloc(Math.min(size, TAIL))
  const n = readSync(fd, buffer, 0, buffer.length, size - buffer.length)
  const text = buffer.toString('utf8', 0, n)
  let end = text.length
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1)
    if (start < 0 && size > TAIL) return // the beginning of it was not read
    const line = text.slice(start + 1, end)
    if (line !== '') yield line
    end = start
  }
}

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((v, key) => (isObject(v) ? v[key] : undefined), value)
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

type Usage = Readonly<{ tokens: number; window?: number; model?: string }>

const READ: Partial<Readonly<Record<string, { has: string; usage(line: unknown): Usage | undefined }>>> = {
  claude: {
    has: '"usage"',
    usage(line) {
      if (at(line, 'type') !== 'assistant' || at(line, 'isSidechain') === true) return undefined
      const u = at(line, 'message', 'usage')
      const tokens = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']
      const model = at(line, 'message', 'model')
      const sum = tokens.reduce((n, key) => n + number(at(u, key)), 0)
      return sum > 0 ? { tokens: sum, model: typeof model === 'string' ? model : undefined } : undefined
    },
  },
  gemini: {
    has: '"tokens"',
    usage(line) {
      const tokens = number(at(line, 'tokens', 'total'))
      const model = at(line, 'model')
      return tokens > 0 ? { tokens, model: typeof model === 'string' ? model : undefined } : undefined
    },
  },
  codex: {
    has: 'token_count',
    usage(line) {
      if (at(line, 'payload', 'type') !== 'token_count') return undefined
      const info = at(line, 'payload', 'info')
      const tokens = number(at(info, 'last_token_usage', 'total_tokens'))
      return tokens > 0 ? { tokens, window: number(at(info, 'model_context_window')) || undefined } : undefined
    },
  },
}

/** A hook is sooner at the end of a turn than the client's last answer is in its transcript, by some 10 ms. */
const PAUSE_MS = 8
const PAUSES = 16

/** Whether the last thing of the conversation that stands in a transcript of Claude Code is not what the model said. */
function isBehind(transcript: string): boolean {
  for (const line of linesFromEnd(transcript)) {
    if (line.includes('"compact_boundary"')) return false
    if (!line.includes('"type":"assistant"') && !line.includes('"type":"user"')) continue
    const parsed = jsonIn(line)
    if (parsed === undefined) return true
    if (at(parsed, 'isSidechain') === true || at(parsed, 'isMeta') === true) continue
    const type = at(parsed, 'type')
    if (type === 'assistant' || type === 'user') return type === 'user'
  }
  return true
}

export async function caughtUp(client: string, transcript: string): Promise<boolean> {
  if (client !== 'claude') return true
  for (let i = 0; i < PAUSES; i++) {
    if (!isBehind(transcript)) return true
    await new Promise((done) => setTimeout(done, PAUSE_MS))
  }
  return !isBehind(transcript)
}

/** Percent of the context used, by the end of the transcript; `namedWindow` is the one that the client named elsewhere. */
export function contextUsedBy(
  client: string,
  transcript: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  namedWindow?: number,
): number | undefined {
  const read = READ[client]
  if (!read) return undefined
  for (const line of linesFromEnd(transcript)) {
    if (line.includes('"compact_boundary"')) return undefined // what stands before it is not in the context any more
    if (!line.includes(read.has)) continue
    const usage = read.usage(jsonIn(line))
    if (!usage) continue
    const { contextTokens = WIDE_TOKENS, compactVariable = '' } = factsOf(client) ?? {}
    const compactsAt = number(Number(env[compactVariable]))
    const usual = WIDE.test(usage.model ?? '') ? WIDE_TOKENS : contextTokens
    const known = usage.window ?? namedWindow ?? (usage.tokens > usual ? WIDE_TOKENS : usual) // more than fits: it is a wide one
    return Math.min(100, (100 * usage.tokens) / (compactsAt > 0 ? Math.min(compactsAt, known) : known))
  }
  return undefined
}
