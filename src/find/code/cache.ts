import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, readInside, removeInside, writeInside } from '../../base/files.ts'
import { ignoreViews, PROJECT_DIR } from '../../engine/store/project.ts'
import { Reader } from '../../scheme/reader.ts'
import { elements, Keyword, Sym } from '../../scheme/values.ts'
import { type Call, type CodeSymbol, PARSER, type Parsed } from './parse.ts'

const DIR = `${PROJECT_DIR}/cache`
/** So many contents that no file has any more are kept: another branch may have them. */
const KEPT = 2_000
const NAME = /^([0-9a-f]{64})\.sexpr$/

const fileOf = (hash: string) => `${DIR}/${hash}.sexpr`
const quoted = (parts: readonly (string | number)[]) => parts.map((p) => JSON.stringify(p)).join(' ')

/** A project's own directory is there, and keeps the cache out of git. */
export const hasCache = (root: string): boolean => inspect(root, PROJECT_DIR).is === 'directory'

export function keepParsed(root: string, hash: string, { language, hash: tokens, symbols, calls }: Parsed): void {
  const called = Map.groupBy(calls, (c) => c.from)
  const lines = [
    `(code :parser ${PARSER} :content "${hash}" :language "${language}" :hash "${tokens}"`,
    ...symbols.map((s) => ` (symbol ${quoted([s.name, s.kind, s.start, s.end, s.hash, s.size])})`),
    ...[...called].map(([from, all]) => ` (calls ${quoted([from, ...all.map((c) => c.to)])})`),
  ]
  writeInside(root, fileOf(hash), `${lines.join('\n')})\n`)
}

/** What is kept of a content, as text; undefined where there is nothing. */
export const cachedText = (root: string, hash: string): string | undefined =>
  readInside(root, fileOf(hash))?.toString('utf8')

/** What is kept of a content. It says of which, and of which parser: anything else is not trusted. */
export function readParsed(hash: string, language: string, text: string): Parsed | undefined {
  const head = `(code :parser ${PARSER} :content "${hash}" :language "${language}" `
  if (!text.startsWith(head)) return undefined
  try {
    const all = elements(new Reader(text).next()?.form ?? null) ?? []
    const at = all.findIndex((v) => v instanceof Keyword && v.name === 'hash')
    const tokens = all[at + 1]
    if (typeof tokens !== 'string') return undefined
    const symbols: CodeSymbol[] = []
    const calls: Call[] = []
    for (const form of all.slice(at + 2)) {
      const [head, ...rest] = elements(form) ?? []
      const words = rest.map((v) => (typeof v === 'string' ? v : Number(v)))
      const [name = '', kind = '', start, end, own = '', size] = words
      if (!(head instanceof Sym)) return undefined
      if (head.name === 'symbol')
        symbols.push({
          ...{ name: String(name), kind: String(kind), start: Number(start), end: Number(end) },
          ...{ hash: String(own), size: Number(size) },
        })
      else for (const to of words.slice(1)) calls.push({ from: String(name), to: String(to) })
    }
    return { language, hash: tokens, symbols, calls }
  } catch {
    return undefined // it was damaged
  }
}

/** Writes which paths have which content, and removes what nobody has needed for long. */
export function keepManifest(root: string, files: Iterable<{ readonly path: string; readonly hash: string }>): void {
  ignoreViews(root)
  const byHash = Map.groupBy(files, (f) => f.hash)
  const rows = [...byHash].map(([hash, same]) => ` (${quoted([hash, ...same.map((f) => f.path).sort()])})`)
  writeInside(root, `${DIR}/manifest.sexpr`, `(manifest :parser ${PARSER}\n${rows.sort().join('\n')})\n`)
  const spare = readdirSync(join(root, DIR)).filter(
    (name) => !byHash.has(NAME.exec(name)?.[1] ?? '') && NAME.test(name),
  )
  if (spare.length <= KEPT) return
  const age = (name: string) => statSync(join(root, DIR, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byAge = spare.map((name) => ({ name, at: age(name) })).sort((a, b) => b.at - a.at)
  for (const { name } of byAge.slice(KEPT)) removeInside(root, `${DIR}/${name}`)
}
