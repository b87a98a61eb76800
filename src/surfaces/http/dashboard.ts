import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { packageFile } from '../../base/files.ts'
import { cookieIn, digest, ownOrigin } from './guard.ts'

/** A link that lies about in a scrollback is no key for ever. */
const LINK_MS = 10 * 60_000
/** A browser that is forgotten in a corner is signed out. */
const BROWSER_MS = 12 * 60 * 60_000

/** The header with what only pages of this very origin know; browsers send cookies to every port of a host. */
const PAGE_HEADER = 'x-tidemark-page'
/** The header with the digest of the question that the person at the page said yes to. */
export const AGREED_HEADER = 'x-tidemark-agreed'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const secret = () => randomBytes(32).toString('base64url')

/** What the person at a page is asked, in short: a yes is to this very question. */
export const questionId = (question: string): string => digest(question).toString('hex')

/** The browsers that were let in by a link, and the files that they are given. All of it ends with the server. */
export class Dashboard {
  /** Whether a person on a terminal started it, who decides here as there; else the page is as an agent. */
  readonly isPersons: boolean
  readonly #now: () => number
  readonly #links = new Map<string, number>()
  readonly #browsers = new Map<string, { page: Buffer; until: number }>()
  #files: Map<string, { body: Uint8Array<ArrayBuffer>; type: string }> | undefined

  constructor(isPersons: boolean, now: () => number) {
    this.isPersons = isPersons
    this.#now = now
  }

  /** What a link ends with. It opens one browser, once. The part behind # is sent to no server and stands in no log. */
  link(): string {
    const token = secret()
    this.#links.set(digest(token).toString('hex'), this.#now() + LINK_MS)
    return `#open=${token}`
  }

  /** Lets a browser in: a cookie that no script reads, and a key that no other origin reads. Both are needed. */
  open(request: Request, token: unknown): Response | undefined {
    const link = typeof token === 'string' ? digest(token).toString('hex') : ''
    const until = this.#links.get(link)
    if (until === undefined || !this.#links.delete(link) || until < this.#now()) return undefined
    const [cookie, page] = [secret(), secret()]
    this.#browsers.set(digest(cookie).toString('hex'), { page: digest(page), until: this.#now() + BROWSER_MS })
    return Response.json(
      { page },
      {
        headers: {
          'set-cookie': `${cookieName(request)}=${cookie}; Path=/api; Max-Age=${BROWSER_MS / 1000}; HttpOnly; SameSite=Strict`,
          'cache-control': 'no-store',
        },
      },
    )
  }

  /** Whether a page that was let in asks. */
  knows(request: Request): boolean {
    const cookie = cookieIn(request, cookieName(request))
    const browser = cookie === undefined ? undefined : this.#browsers.get(digest(cookie).toString('hex'))
    const page = request.headers.get(PAGE_HEADER)
    if (!browser || page === null || browser.until < this.#now() || !ownOrigin(request)) return false
    return timingSafeEqual(digest(page), browser.page)
  }

  /** A file of the page; each of its views is the same page. Nothing in it is secret. */
  file(path: string): Response | undefined {
    this.#files ??= filesOf(packageFile('dist/web'))
    const isAsset = path.startsWith('/assets/')
    const found = this.#files.get(isAsset ? path : '/index.html')
    if (!found) return undefined
    const cached = isAsset ? 'public, max-age=31536000, immutable' : 'no-store'
    return new Response(found.body, { headers: { ...HEADERS, 'content-type': found.type, 'cache-control': cached } })
  }
}

/** Browsers keep one jar for all ports of a host. */
const cookieName = (request: Request): string =>
  `tidemark-${/:(\d+)$/.exec(request.headers.get('host') ?? new URL(request.url).host)?.[1] ?? '80'}`

function filesOf(dir: string) {
  // nothing in a source tree that was never built
  return new Map(
    (attempt(() => readdirSync(dir, { recursive: true, withFileTypes: true })) ?? []).flatMap((entry) => {
      const type = TYPES[extname(entry.name)]
      if (!entry.isFile() || type === undefined) return []
      const file = join(entry.parentPath, entry.name)
      const path = file.slice(dir.length).replaceAll('\\', '/')
      return [[path, { body: new Uint8Array(readFileSync(file)), type }] as const]
    }),
  )
}
