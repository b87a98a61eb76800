import { gitState } from '../../base/git.ts'
import { type GitError, runGit } from '../../base/run-git.ts'
import { symbolOf } from '../../engine/claims/part.ts'
import {
  heldBy, NO_FILE, placeIn, type Symbols, symbolIn, symbolsKnown, type Version, versionAt, versionHere,
} from '../../find/code/versions.ts' // biome-ignore format: a list
import {
  carried, collisions, difference, type Hunk, overlap, rowsOf, type Span, touch, within, without,
} from '../../model/lines.ts' // biome-ignore format: a list
import type { Claim } from '../../work/coordination/claims.ts'
import type { SessionInfo } from '../../work/coordination/session-info.ts'
import type { Hook } from './hook.ts'
import { inTree } from './paths.ts'

type Against = Claim & { readonly elsewhere: boolean }

/** What is seen before a change of one file is written, where others are at work. */
export interface Look {
  /** Claims of others that it meets; where that is known, the place, its first line in git's version, and that version. */
  readonly met: readonly (Against & { readonly at?: string; readonly row?: number; readonly head?: string })[]
  /** Changes in other work trees that it would not merge with. */
  readonly collide: readonly { readonly root: string; readonly text: string }[]
  /** What the session holds of the file with it, without what others hold. `over`: claims that it meets. */
  readonly held?: { readonly base: string; readonly lines: readonly Span[]; readonly over: readonly number[] }
}

const SPANS_AT_MOST = 500

/** The file as the tool will leave it; nothing where its input does not tell. Clients read CRLF as LF. */
function afterwards({ root, call }: Hook, path: string, before: Version): string | undefined {
  const edits = (call.tool?.edits ?? []).filter((e) => inTree(root, call.cwd, e.path) === path)
  let text: string | undefined = edits.length > 0 ? before.rows.join('\n') : undefined
  for (const { old: from, text: next, all } of edits) {
    const old = from?.replaceAll('\r\n', '\n')
    if (text === undefined || old === undefined) text = next
    else if (!text.includes(old)) return undefined
    else text = all ? text.replaceAll(old, () => next) : text.replace(old, () => next)
  }
  return text
}

/** Nothing where git does not answer: then claims are on whole files. `isWritten`: all that differs from git's version counts. */
export async function lookAt(
  hook: Hook,
  path: string,
  others: readonly SessionInfo[],
  claims: readonly Against[],
  isWritten = false,
): Promise<Look | undefined> {
  const { root } = hook
  const here = versionHere(root, path) ?? NO_FILE
  const head = await versionAt(root, `HEAD:./${path}`)
  if (!head) return undefined
  const symbols = head === NO_FILE ? [] : symbolsKnown(root, path, head)
  const text = isWritten ? here.text : afterwards(hook, path, here)
  if (text === undefined) return undefined
  const after = rowsOf(text)
  const before = isWritten ? head : here
  const change = difference(before.rows, after)
  const collide = await inOtherTrees({ root, path, after, change, head, symbols }, others)
  if (head === NO_FILE) return { met: claims.filter((c) => c.session !== hook.session), collide }
  const up = difference(head.rows, before.rows)
  const inHead = (span: Span): Span => carried(up, span, true)
  const mine = claims.find((c) => c.n > 0 && c.on === path && c.session === hook.session && c.implicit)
  // what was changed under a claim that has run out is told until it is committed
  const open = claims.filter((c) => c.n > 0 || (isWritten ? c.lines : up.length > 0))
  const known = await Promise.all(open.map(async (c) => [c, await spansOf(c)] as const))
  const said = known.flatMap(([c, lines]) => (c.elsewhere ? [] : (lines ?? [])))
  const changed = (isWritten ? change : up).map((h) => h.a)
  /** What was changed before and is in no lines that are known. */
  const unsaid = isWritten ? [] : without(changed, said)
  /** What was changed under claims after one that has run out: by others, who were told, or by its session again. */
  const later = ({ until }: Against) =>
    known.flatMap(([c, lines]) => (c.implicit && !c.elsewhere && c.until > until ? (lines ?? []) : []))
  const spans = known.map(([c, lines]) => {
    // of one that has run out: the changes in its lines that were not made later
    if (c.n === 0) return [c, lines ? without(within(changed, lines), later(c)) : unsaid] as const
    // from when its session was alone: it holds what is changed and nobody else's
    const isAlone = !lines && c.implicit && c.on === path && unsaid.length > 0
    return [c, isAlone ? without(unsaid.map((a) => heldBy(symbols, a)), said) : lines] as const // biome-ignore format: a row
  })
  const raw = change.map((h) => inHead(h.a))
  const met = spans.flatMap(([c, lines]) => {
    if (c.session === hook.session) return []
    const at = raw.flatMap((r) => lines?.filter((l) => overlap(r, l)).map((l) => (c.n === 0 ? l : r)) ?? [])[0]
    if (at) return { ...c, at: placeIn(symbols, at, carried(up, at)), row: at[0], head: head.id }
    return lines ? [] : c
  })
  // what it writes over knowingly it holds then; what a program wrote over, it does not
  const over = isWritten ? [] : met.flatMap((c) => (c.implicit && !c.elsewhere && c.n > 0 ? [c.n] : []))
  const isKept = (c: Against, l: Span) => (c.n > 0 ? !over.includes(c.n) : isWritten || !raw.some((r) => overlap(r, l)))
  const theirs = spans.flatMap(([c, lines]) =>
    c.session === hook.session || c.elsewhere ? [] : (lines ?? []).filter((l) => isKept(c, l)),
  )
  // what it held before it holds on, also where it once wrote over another's
  const own = spans.find(([c]) => c === mine)?.[1] ?? []
  const all = [
    ...own,
    ...without(
      raw.map((s) => heldBy(symbols, s)),
      theirs,
    ),
  ]
  const lines = [...new Map(all.map((s) => [s.join(), s])).values()]
  const isShared = others.some((s) => s.root === root) && lines.length <= SPANS_AT_MOST
  return { met, collide, ...(isShared && { held: { base: head.id, lines, over } }) }

  /** What a claim holds, as lines of git's version; nothing for all of it, or where nobody knows. */
  async function spansOf(c: Against): Promise<Span[] | undefined> {
    if (c.on !== path) return undefined
    if (c.lines && c.base === head!.id) return [...c.lines]
    const symbol = symbolOf(c)
    const now = symbol === undefined ? undefined : symbolIn(symbols, symbol)
    if (now) return [now]
    if (!c.lines || c.base === undefined) return c.lines?.map(inHead)
    const base = await versionAt(root, c.base)
    const moved = base && difference(base.rows, c.n > 0 ? before.rows : head!.rows)
    if (c.n > 0) return moved && c.lines.map((s) => inHead(carried(moved, s)))
    // of lines that a commit has changed since, nobody knows what is left
    const isKept = (s: Span) => !moved?.some((h) => overlap(s, h.a))
    return moved ? c.lines.filter(isKept).map((s) => carried(moved, s)) : []
  }
}

type Mine = { root: string; path: string; after: string[]; change: Hunk[]; head: Version; symbols: Symbols }

/** The file where two histories part; none where they have no commit in common. */
const partedAt = (root: string, path: string, commit: string): Promise<Version | undefined> =>
  runGit(root, 'merge-base', 'HEAD', commit).then(
    (base) => versionAt(root, `${base.trim()}:./${path}`),
    (error: GitError) => (error.exit === 1 ? NO_FILE : undefined),
  )

/** What does not merge with the file as other live sessions have it in work trees of their own. */
async function inOtherTrees({ root, path, after, change, head, symbols }: Mine, others: readonly SessionInfo[]) {
  const commit = gitState(root).commit
  const found: { root: string; text: string }[] = []
  for (const other of new Set(others.flatMap((s) => (s.root === undefined || s.root === root ? [] : [s.root])))) {
    const theirs = versionHere(other, path) ?? NO_FILE
    if (theirs.id === head.id) continue
    const at = gitState(other).commit
    if (at === undefined) continue
    const base = at === commit ? head : await partedAt(root, path, at)
    const met = base && collisions(base.rows, after, theirs.rows).find((c) => change.some((h) => touch(h.b, c.mine.b)))
    if (!met) continue
    const own = await versionAt(other, `HEAD:./${path}`)
    const place = placeIn(base.id === head.id ? symbols : [], met.theirs.a, met.mine.b)
    found.push({ root: other, text: `${place} with the ${own?.id === theirs.id ? '' : 'uncommitted '}change` })
  }
  return found
}
