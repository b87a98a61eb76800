import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sinceStart } from '../../base/env.ts'
import { attempt } from '../../base/errors.ts'
import { readInside } from '../../base/files.ts'
import { cachedText, hasCache, keepParsed, readParsed } from './cache.ts'
import { Ignored } from './ignore.ts'
import { languageOf } from './languages.ts'
import { type Parsed, parse } from './parse.ts'

const MOST_BYTES = 2_000_000

/** For so long what looks at many files keeps all else in the process waiting. */
const AT_ONCE_MS = 15

/** Lets others have their turn, where it is theirs. */
export function breathing(): () => Promise<void> {
  let at = sinceStart()
  return async () => {
    if (sinceStart() - at < AT_ONCE_MS) return
    await setImmediate()
    at = sinceStart()
  }
}

export type FileStat = Readonly<{ path: string; size: number; mtime: number }>

export type Content = Readonly<{ text: string; hash: string }>

/** The files of a work tree that git would not leave out, with what their contents say. */
export class CodeTree {
  readonly root: string
  readonly ignored: Ignored
  readonly cached: boolean

  constructor(root: string) {
    this.root = root
    this.ignored = new Ignored(root)
    this.cached = hasCache(root)
  }

  /** Every regular file at or below a path; links are not followed. */
  *files(from = ''): Generator<FileStat> {
    for (const entry of this.entries(from)) {
      if (entry.isDirectory) yield* this.files(entry.path)
      else {
        const file = this.stat(entry.path)
        if (file) yield file
      }
    }
  }

  /** What a directory holds that is not left out. */
  entries(dir: string): { path: string; isDirectory: boolean }[] {
    const entries = attempt(() => readdirSync(join(this.root, dir), { withFileTypes: true }))
    if (entries === undefined) return [] // it has gone, or may not be read
    if (!entries.some((entry) => entry.name === '.gitignore')) this.ignored.lacks(dir)
    return entries.flatMap((entry) => {
      const isDirectory = entry.isDirectory()
      const path = dir === '' ? entry.name : `${dir}/${entry.name}`
      return (isDirectory || entry.isFile()) && !this.ignored.entry(path, isDirectory) ? [{ path, isDirectory }] : []
    })
  }

  isDirectory(path: string): boolean {
    return lstatSync(join(this.root, path), { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  stat(path: string): FileStat | undefined {
    const found = attempt(() => lstatSync(join(this.root, path))) // a place may be too long for a name
    return found?.isFile() && found.size <= MOST_BYTES ? { path, size: found.size, mtime: found.mtimeMs } : undefined
  }

  read(path: string): Content | undefined {
    const bytes = attempt(() => readInside(this.root, path, MOST_BYTES)) // it may be there and not to be read
    return bytes && { text: bytes.toString('utf8'), hash: createHash('sha256').update(bytes).digest('hex') }
  }

  /** What is kept of a content under a path, if anything is. */
  known(path: string, hash: string): Parsed | undefined {
    const language = languageOf(path)
    const text = this.cached && language ? cachedText(this.root, hash) : undefined
    return text === undefined ? undefined : readParsed(hash, language!.name, text)
  }

  async parsed(path: string, { text, hash }: Content): Promise<Parsed> {
    const known = this.known(path, hash)
    if (known) return known
    const parsed = await parse(path, text)
    if (this.cached && parsed.language !== 'text') keepParsed(this.root, hash, parsed)
    return parsed
  }
}
