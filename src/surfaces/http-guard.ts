import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'] as const

/** The name in a Host header, without its port; undefined if it is none. */
function hostName(host: string): string | undefined {
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return undefined
  }
}

/** A page of a foreign site whose name was pointed at this machine sends its own name: DNS rebinding ends here. */
export function hostAllowed(request: Request, allowed: readonly string[]): boolean {
  const name = hostName(request.headers.get('host') ?? new URL(request.url).host)
  return name !== undefined && allowed.includes(name)
}

/** Programs send no Origin; browsers always do, and only pages from this machine may call. */
export function originAllowed(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get('origin')
  if (origin === null) return true
  try {
    const url = new URL(origin)
    return (url.protocol === 'http:' || url.protocol === 'https:') && allowed.includes(url.hostname)
  } catch {
    return false // "null": a sandboxed frame or a file
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Takes as long whatever the difference is. */
export function tokenMatches(request: Request, token: string): boolean {
  const sent = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token))
}

/** The token of a store: `TIDEMARK_TOKEN`, else the file beside the store, made if it is missing and readable by its owner alone. */
export function tokenFor(storePath: string): string {
  const fromEnv = process.env.TIDEMARK_TOKEN?.trim()
  if (fromEnv) return fromEnv
  const path = join(dirname(storePath), 'token')
  const there = readToken(path)
  if (there) return there
  mkdirSync(dirname(path), { recursive: true })
  const fresh = `${path}-${randomBytes(6).toString('hex')}`
  writeFileSync(fresh, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(fresh, path) // whole or not at all, and the first of several wins
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(fresh, path) // a file system without hard links
  } finally {
    rmSync(fresh, { force: true })
  }
  return readToken(path)!
}

function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim()
    chmodSync(path, 0o600)
    return token || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
