import { UserError } from '../../../base/errors.ts'

/** An endpoint that a user names: where it is, and the environment variable that holds its key. */
export type Endpoint = Readonly<{ url?: string | undefined; keyFrom?: string | undefined }>

export type Variables = Readonly<Record<string, string | undefined>>

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Where requests go: the address with the path that belongs behind it. @throws UserError `code` for what is none, or would tell a secret. */
export function addressOf({ url, keyFrom }: Endpoint, path: string, code: string): URL {
  const bad = (message: string, hint: string) => new UserError(code, message, hint)
  const address = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw bad('that is not the url of an endpoint', 'like http://localhost:11434/v1')
  if (address.username || address.password)
    throw bad('the url of the endpoint holds a password', 'put the key into an environment variable, and name that')
  if (keyFrom && address.protocol === 'http:' && !LOOPBACK.test(address.hostname))
    throw bad(`the key would be sent to ${address.host} for anyone to read`, 'use https, or name no key')
  address.hash = ''
  const there = address.pathname.replace(/(?<!\/)\/+$/, '')
  if (!there.endsWith(path)) address.pathname = there + path
  return address
}

/** The key; nothing where none is named. @throws what `missing` makes where its variable is empty. */
export function keyOf({ keyFrom }: Endpoint, variables: Variables, missing: (message: string) => Error) {
  const key = keyFrom === undefined ? undefined : variables[keyFrom]?.trim()
  if (keyFrom !== undefined && !key) throw missing(`the environment variable ${keyFrom}, which holds the key, is empty`)
  return key
}

/** What a server says may hold what was sent to it; the key goes no further. */
export const withoutKey = (text: string, key: string | undefined): string =>
  (key ? text.replaceAll(key, '…') : text).replace(/\s+/g, ' ').slice(0, 200)

/** No answer came, or none that ended. */
export class NoAnswer extends Error {
  readonly why: 'slow' | 'unsent' | 'endless' | 'broken'

  constructor(message: string, why: NoAnswer['why']) {
    super(message)
    this.why = why
  }
}

/**
 * Posts JSON once, and reads the answer as far as `most` bytes. Redirects are not followed. @throws NoAnswer
 * `wait`: milliseconds that the server asks to wait.
 */
export async function post(
  address: URL,
  body: object,
  { key, most, signal }: { key: string | undefined; most: number; signal: AbortSignal },
) {
  let response: Response | undefined
  try {
    response = await fetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
      signal,
    })
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of response.body ?? []) {
      length += part.length
      if (length > most) throw new NoAnswer('the answer does not end', 'endless')
      parts.push(part)
    }
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const wait = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
    return { ok: response.ok, status: response.status, body: Buffer.concat(parts).toString('utf8'), wait }
  } catch (error) {
    if (error instanceof NoAnswer) throw error
    const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    const isUnsent = response === undefined && /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(cause?.code ?? '')
    const isSlow = name === 'TimeoutError' || name === 'AbortError'
    throw new NoAnswer(withoutKey(cause?.message || message, key), isSlow ? 'slow' : isUnsent ? 'unsent' : 'broken')
  }
}
