import { homedir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { readInside } from '../../base/files.ts'
import { workTreeOf } from '../../base/git.ts'
import { meet } from '../../engine/claims/glob.ts'

/** One line of a `.gitignore`. It comes with the repository, so it is matched in time that its length bounds. */
interface Rule {
  readonly negated: boolean
  readonly directories: boolean
  /** Matches from the directory of its file on; else the name alone, at any depth. */
  readonly anchored: boolean
  /** One for each name of a path; undefined where `**` stands for any number of names. */
  readonly segments: readonly (((name: string) => boolean) | undefined)[]
}

const MOST_RULES = 2_000
const LONGEST_RULE = 1_000

function rulesIn(text: string): Rule[] {
  return text
    .split('\n', MOST_RULES)
    .flatMap((line) => {
      let pattern = line.replace(/\r$/, '')
      while (pattern.endsWith(' ') && !pattern.endsWith('\\ ')) pattern = pattern.slice(0, -1)
      if (pattern === '' || pattern.startsWith('#') || pattern.length > LONGEST_RULE) return []
      const negated = pattern.startsWith('!')
      if (negated) pattern = pattern.slice(1)
      const directories = pattern.endsWith('/')
      if (directories) pattern = pattern.slice(0, -1)
      const anchored = pattern.includes('/')
      const segments = pattern.split('/').filter((s, i) => s !== '' || i > 0)
      const tests = segments.map((s) => (s === '**' ? undefined : tester(s)))
      // at the end it stands for one name or more
      if (tests.at(-1) === undefined) tests.splice(-1, 0, () => true)
      return [{ negated, directories, anchored, segments: tests }]
    })
    .reverse() // the last that matches counts
}

/** Whether a character is in `[a-z]`, and where that ends; undefined where the brackets do not close. */
function inClass(pattern: string, at: number, char: string): { end: number; found: boolean } | undefined {
  let i = at + 1
  const negated = pattern[i] === '!' || pattern[i] === '^'
  if (negated) i++
  let found = false
  for (let first = true; i < pattern.length; first = false) {
    if (pattern[i] === ']' && !first) return { end: i + 1, found: found !== negated }
    if (pattern[i] === '\\') i++
    const low = pattern[i] ?? ''
    const isRange = pattern[i + 1] === '-' && pattern[i + 2] !== ']' && pattern[i + 2] !== undefined
    found ||= low <= char && char <= (isRange ? pattern[i + 2]! : low)
    i += isRange ? 3 : 1
  }
  return undefined
}

const SPECIAL = /[*?[\\]/

/** One sign of a pattern: `*`, or the test of a character. */
type Sign = '*' | ((char: string) => boolean)

function signsOf(pattern: string): Sign[] {
  const signs: Sign[] = []
  for (let at = 0; at < pattern.length; at++) {
    const from = at
    const end = pattern[at] === '[' ? inClass(pattern, at, '')?.end : undefined
    if (pattern[at] === '*') signs.push('*')
    else if (pattern[at] === '?') signs.push(() => true)
    else if (end !== undefined) {
      signs.push((char) => inClass(pattern, from, char)!.found)
      at = end - 1
    } else if (pattern[at] === '[') signs.push(() => false)
    else {
      if (pattern[at] === '\\') at++
      const own = pattern[at]
      signs.push((char) => char === own)
    }
  }
  return signs
}

/** Most patterns are a name, or end with one. */
function tester(pattern: string): (name: string) => boolean {
  const end = pattern.slice(1)
  if (!SPECIAL.test(pattern)) return (name) => name === pattern
  if (pattern[0] === '*' && !SPECIAL.test(end)) return (name) => name.endsWith(end)
  const signs = signsOf(pattern)
  const chars = (name: string) => Array.from({ length: name.length }, (_, i) => ({ char: name[i]! }))
  const isStar = (sign: unknown) => sign === '*'
  return (name) => meet(signs, chars(name), isStar, (s, { char }) => s !== '*' && s(char))
}

/** The rules of one file, and the directory that they count from. */
type RuleFile = Readonly<{ dir: string; rules: readonly Rule[] }>

/** Never looked into, whether or not a rule says so. */
const NEVER: ReadonlySet<string> = new Set(['.git', '.tidemark', 'node_modules'])

/** What git ignores below a directory. Paths are relative to it, with `/`. */
export class Ignored {
  readonly #root: string
  /** By directory: the files that have a say in it, the nearest first. */
  readonly #files = new Map<string, readonly RuleFile[]>()
  readonly #prefix: string

  constructor(root: string) {
    this.#root = root
    const git = workTreeOf(root)
    const top = git?.top ?? root
    this.#prefix = relative(top, root).split(sep).join('/')
    const read = (dir: string, base: string, path: string): RuleFile => ({
      dir,
      rules: rulesIn(readInside(base, path)?.toString('utf8') ?? ''),
    })
    const dirs = this.#prefix === '' ? [] : this.#prefix.split('/').map((_, i, all) => all.slice(0, i).join('/'))
    const above = [
      read('', process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git/ignore'),
      ...(git ? [read('', git.common, 'info/exclude')] : []),
      ...dirs.map((dir) => read(dir, top, join(dir, '.gitignore'))),
    ]
    this.#files.set('..', above.filter((f) => f.rules.length > 0).reverse())
  }

  /** Whether git would leave a path out whose directory it does not leave out. */
  entry(path: string, isDirectory: boolean): boolean {
    if (NEVER.has(path.slice(path.lastIndexOf('/') + 1))) return true
    const whole = this.#prefix === '' ? path : `${this.#prefix}/${path}`
    for (const file of this.#filesOf(dirname(path))) {
      const said = judged(file, whole, isDirectory)
      if (said !== undefined) return said
    }
    return false
  }

  /** The same for any path: one in a directory that is left out is left out too. */
  path(path: string): boolean {
    const parts = path.split('/')
    return parts.some((_, i) => this.entry(parts.slice(0, i + 1).join('/'), i < parts.length - 1))
  }

  /** A directory that was looked into and has no rules of its own need not be asked for them. */
  lacks(dir: string): void {
    if (dir !== '') this.#files.set(dir, this.#filesOf(dirname(dir)))
  }

  #filesOf(dir: string): readonly RuleFile[] {
    const known = this.#files.get(dir)
    if (known) return known
    const inside = dir === '.' ? '' : dir
    const rules = rulesIn(
      readInside(this.#root, [inside, '.gitignore'].filter(Boolean).join('/'))?.toString('utf8') ?? '',
    )
    const around = this.#filesOf(dir === '.' ? '..' : dirname(dir))
    const files =
      rules.length > 0 ? [{ dir: [this.#prefix, inside].filter(Boolean).join('/'), rules }, ...around] : around
    this.#files.set(dir, files)
    return files
  }
}

const isAnyNumber = (segment: unknown) => segment === undefined
const matchesPath = (segments: Rule['segments'], names: readonly string[]): boolean =>
  meet(segments, names, isAnyNumber, (test, name) => test!(name))

function judged({ dir, rules }: RuleFile, path: string, isDirectory: boolean): boolean | undefined {
  const inside = dir === '' ? path : path.slice(dir.length + 1)
  const names = rules.some((r) => r.anchored) ? inside.split('/') : []
  const name = inside.slice(inside.lastIndexOf('/') + 1)
  const rule = rules.find(
    (r) => (isDirectory || !r.directories) && (r.anchored ? matchesPath(r.segments, names) : r.segments[0]!(name)),
  )
  return rule && !rule.negated
}
