import { posix } from 'node:path'

/** Whether paths and globs meet. A path covers all below it. Two patterns may be taken to meet that do not, never the other way round. */

/** More readings of one pattern than this are not taken apart: it then counts as meeting everything. */
const READINGS_AT_MOST = 256
/** Comparisons of single characters; patterns that take more count as meeting. */
const WORK_AT_MOST = 20_000_000

const GLOB = /[*?[\]{}]/

export const isGlob = (pattern: string): boolean => GLOB.test(pattern)

/** A path as claims keep it: with `/`, without `./`, `//` or an end `/`; nothing for one that leads out of the tree. */
export function tidyPath(path: string): string | undefined {
  const tidy = posix.normalize(path.trim().replaceAll('\\', '/')).replace(/(?<!\/)\/+$/, '')
  if (tidy === '..' || tidy.startsWith('../') || tidy.startsWith('/')) return undefined
  return tidy === '' ? '.' : tidy
}

/** Every reading of `{a,b}`, from the inside out. */
function readings(pattern: string): string[] {
  let open = [pattern]
  const done: string[] = []
  while (open.length > 0) {
    const next: string[] = []
    for (const p of open) {
      const m = /\{([^{}]*)\}/.exec(p)
      if (!m) done.push(p)
      else for (const part of m[1]!.split(',')) next.push(p.slice(0, m.index) + part + p.slice(m.index + m[0].length))
    }
    if (next.length + done.length > READINGS_AT_MOST) return ['**']
    open = next
  }
  return done
}

const LIKE_A_FILE = /[^/]\.[A-Za-z][A-Za-z0-9]*$/

const names = (pattern: string): string[] => pattern.split('/').filter((s) => s !== '' && s !== '.')

/** And anything below it, where there may be something. */
const withBelow = (all: readonly string[]): string[] => (LIKE_A_FILE.test(all.at(-1) ?? '') ? [...all] : [...all, '**'])

const isAbove = (a: readonly string[], b: readonly string[]): boolean =>
  a.length < b.length && a.every((name, i) => name === b[i])

/** A name as single characters; `[…]` is any one. */
function characters(name: string): string[] {
  let plain = ''
  let at = 0
  for (let open = name.indexOf('['); open >= 0; open = name.indexOf('[', at)) {
    const close = name.indexOf(']', open + 2)
    if (close < 0) break
    plain += `${name.slice(at, open)}?`
    at = close + 1
  }
  return [...(plain + name.slice(at))].filter((c, i, all) => c !== '*' || all[i - 1] !== '*')
}

/** Whether two rows of symbols can mean the same, where `many` means any number. */
export function meet<A, B>(
  a: readonly A[],
  b: readonly B[],
  many: (x: A | B) => boolean,
  same: (x: A, y: B) => boolean,
): boolean {
  // row[j]: a[i…] and b[j…] can mean the same
  let row = new Array<boolean>(b.length + 1)
  for (let i = a.length; i >= 0; i--) {
    const below = row
    row = new Array<boolean>(b.length + 1)
    for (let j = b.length; j >= 0; j--) {
      if (i === a.length && j === b.length) row[j] = true
      else if (i < a.length && many(a[i]!)) row[j] = below[j]! || (j < b.length && row[j + 1]!)
      else if (j < b.length && many(b[j]!)) row[j] = row[j + 1]! || (i < a.length && below[j]!)
      else row[j] = i < a.length && j < b.length && same(a[i]!, b[j]!) && below[j + 1]!
    }
  }
  return row[0]!
}

const isStar = (c: string): boolean => c === '*'
const isStars = (name: string): boolean => name === '**'

const sameName = (a: string, b: string): boolean => {
  if (!GLOB.test(a) && !GLOB.test(b)) return a === b
  return meet(characters(a), characters(b), isStar, (x, y) => x === y || x === '?' || y === '?')
}

/** Whether a pattern claims one file: nothing lies below that, and its name is no pattern. */
export function covers(pattern: string, file: string): boolean {
  if (pattern === file) return true
  const all = readings(pattern)
  if (isGlob(pattern) && all.length * pattern.length * file.length > WORK_AT_MOST) return true
  const path = names(file)
  const isNamed = (name: string, part: string) =>
    name === part || (isGlob(name) && meet(characters(name), [...part], isStar, (x, y) => x === y || x === '?'))
  return all.some((reading) => {
    const one = names(reading)
    return isAbove(one, path) || meet(withBelow(one), path, isStars, isNamed)
  })
}

export function overlaps(a: string, b: string): boolean {
  if (a === b) return true
  const all = readings(a)
  const others = readings(b).map(names)
  if ((isGlob(a) || isGlob(b)) && all.length * others.length * a.length * b.length > WORK_AT_MOST) return true
  return all.some((reading) => {
    const one = names(reading)
    return others.some(
      (other) =>
        isAbove(one, other) || isAbove(other, one) || meet(withBelow(one), withBelow(other), isStars, sameName),
    )
  })
}
