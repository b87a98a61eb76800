import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt, UserError } from '../../base/errors.ts'
import { createInside, readInside } from '../../base/files.ts'

export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'] as const

/** A page of a foreign site whose name was pointed at this machine sends its own name: DNS rebinding ends here. */
export function hostAllowed(request: Request, allowed: readonly string[]): boolean {
  const name = attempt(() => new URL(`http://${request.headers.get('host') ?? new URL(request.url).host}`).hostname)
  return name !== undefined && allowed.includes(name)
}

/** Programs send no Origin; browsers always do, and only pages from this machine may call. */
export function originAllowed(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get('origin')
  if (origin === null) return true
  const url = attempt(() => new URL(origin)) // "null" is none: a sandboxed frame or a file
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && allowed.includes(url.hostname)
}

/** A page may act as the person only from the very origin it was served from: any port of this machine is not enough. */
export function ownOrigin(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') return false
  const origin = request.headers.get('origin')
  return origin === null || origin === `http://${request.headers.get('host') ?? new URL(request.url).host}`
}

export function cookieIn(request: Request, name: string): string | undefined {
  const all = (request.headers.get('cookie') ?? '').slice(0, 8_192).split(';')
  return all
    .map((c) => c.trim())
    .find((c) => c.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

export const digest = (text: string) => createHash('sha256').update(text).digest()

/** Takes as long whatever the difference is. */
export function tokenMatches(request: Request, token: string): boolean {
  const sent = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token))
}

/** The token of a store: `TIDEMARK_TOKEN`, else the file beside the store, made if it is missing and readable by its owner alone. */
export function tokenFor(storePath: string): string {
  const fromEnv = process.env.TIDEMARK_TOKEN?.trim()
  if (fromEnv) return fromEnv
  const dir = dirname(storePath)
  const there = () => readInside(dir, 'token')?.toString('utf8').trim()
  if (!there()) createInside(dir, 'token', `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  const token = there()
  if (!token)
    throw new UserError('no-token', `${join(dir, 'token')} holds no token`, 'remove it: the next start makes one')
  chmodSync(join(dir, 'token'), 0o600)
  return token
}
