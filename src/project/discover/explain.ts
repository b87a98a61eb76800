import { basename } from 'node:path'
import type { Memory } from '../../engine/memory.ts'
import * as code from '../../engine/store/code-anchors.ts'
import type { Project } from '../../engine/store/project.ts'
import { lastName, symbolAt } from '../../find/code/anchors.ts'
import { cachedText } from '../../find/code/cache.ts'
import { CodeTree } from '../../find/code/code-files.ts'
import { knownOn } from '../../find/code/known.ts'
import { languageOf } from '../../find/code/languages.ts'
import { locationOf } from '../../find/code/location.ts'
import type { CodeSymbol, Parsed } from '../../find/code/parse.ts'
import { type Holds, holdsOf } from '../../find/recall/told.ts'
import { cleanPath, type Entity, isPage, pathInProject } from '../../model/entity.ts'
import { type Claim, claimsOf } from '../../work/coordination/claims.ts'

/** What is asked for of a file besides what hooks tell before an edit. */
const KINDS = [
  'decision', 'principle', 'pattern', 'fact', 'failed-approach', 'correction', 'exception', 'learning', 'insight', 'question',
] // biome-ignore format: a list to read at a glance

const CALLERS = 20
/** So many files of one name. */
const OF_NAME = 5
/** Of a folder so many files are looked at. */
const LOOKED_AT = 200

export type Known = { readonly entity: Entity; readonly holds: Holds }

/** What is known of a place in the code. */
export interface Explanation {
  readonly path: string
  readonly symbol?: CodeSymbol
  /** Of a folder: all that lie below it. */
  readonly files?: readonly string[]
  /** `text` where no grammar reads it. */
  readonly language: string
  readonly symbols: readonly CodeSymbol[]
  readonly understanding?: Known
  readonly known: readonly Known[]
  readonly callers: readonly { readonly path: string; readonly from: string }[]
  readonly claims: readonly Claim[]
}

/**
 * Reads the code as the last scan has seen it: nothing is parsed here. Returns what tells of a path (a folder's too), `path:line`,
 * `path#symbol`, the name of a symbol, or with `byEnd` the end of a path, as `cart.ts`; several where it means several.
 */
export function codeReader(memory: Memory, project: Project): (asked: string, byEnd?: boolean) => Explanation[] {
  const { root } = project
  const tree = new CodeTree(root)
  const files = code.filesSeen(memory.db, root)
  const parsedOf = ({ path, hash }: code.FileRow): Parsed | undefined => tree.known(path, hash)

  function explain(asked: string, byEnd = true): Explanation[] {
    const { path, line, symbol } = locationOf(asked)
    const inside = cleanPath(pathInProject(memory.registry(), path) ?? path)
    const ofFile = (file: code.FileRow): Explanation[] => {
      const parsed = parsedOf(file)
      const found = symbolAt(parsed?.symbols ?? [], { symbol, line })
      return symbol !== undefined && !found ? [] : [explained(file.path, parsed, found)]
    }
    const file = files.find((f) => f.path === inside)
    if (file) return ofFile(file)
    const below = files.filter((f) => f.path.startsWith(`${inside}/`)).map((f) => f.path)
    if (below.length > 0)
      return [{ ...explained(inside, undefined, undefined, below.slice(0, LOOKED_AT)), files: below }]
    const symbols = holding(lastName(asked)).flatMap(([path, parsed]) =>
      parsed.symbols
        .filter((s) => s.name === asked || s.name.endsWith(`.${asked}`))
        .map((s) => explained(path, parsed, s)),
    )
    if (symbols.length > 0 || !byEnd) return symbols
    return files
      .filter((f) => f.path.endsWith(`/${inside}`))
      .slice(0, OF_NAME)
      .flatMap(ofFile)
  }

  /** Files whose symbols or calls have a name. */
  function holding(name: string): [string, Parsed][] {
    const quoted = JSON.stringify(name).slice(1, -1)
    return files.flatMap((file): [string, Parsed][] => {
      if (!languageOf(file.path) || !cachedText(root, file.hash)?.includes(quoted)) return []
      const parsed = parsedOf(file)
      return parsed ? [[file.path, parsed]] : []
    })
  }

  function explained(
    path: string,
    parsed?: Parsed,
    symbol?: CodeSymbol,
    looked: readonly string[] = [path],
  ): Explanation {
    const anchored = looked.flatMap((at) => code.anchorsAt(memory.db, root, at))
    const spoken = looked.flatMap((at) => knownOn({ memory }, at, KINDS))
    const ids = new Set([...spoken.map((e) => e.id), ...anchored.map((a) => a.entity)])
    const live = memory.reader.entities([...ids]).filter((e) => e.live && !isPage(e))
    const holds = holdsOf(memory, root, live)
    const known = live.map((entity): Known => ({ entity, holds: holds.get(entity.id)! }))
    // of a symbol: what speaks of another one in the same file comes last
    const elsewhere = (k: Known) =>
      anchored.some((a) => a.entity === k.entity.id && a.symbol !== '' && a.symbol !== symbol?.name)
    // what names the file before what holds for many
    const names = ({ entity: { id, name, fields } }: Known) =>
      anchored.some((a) => a.entity === id) || JSON.stringify([name, fields]).includes(basename(path))
    const understanding = known.find((k) => k.entity.kind === 'file' && k.entity.name === path)
    const others = known
      .filter((k) => k !== understanding && (k.entity.kind !== 'file' || k.entity.fields.summary !== undefined))
      .sort((a, b) => Number(names(b)) - Number(names(a)))
    return {
      path,
      ...(symbol ? { symbol } : {}),
      language: parsed?.language ?? 'text',
      symbols: parsed?.symbols ?? [],
      ...(understanding ? { understanding } : {}),
      known: symbol ? [...others.filter((k) => !elsewhere(k)), ...others.filter(elsewhere)] : others,
      callers: symbol ? callersOf(path, symbol) : [],
      claims: claimsOf(memory).against(undefined, looked, root),
    }
  }

  /** By name alone: who calls another thing of that name is among them. */
  function callersOf(path: string, symbol: CodeSymbol): Explanation['callers'] {
    const name = lastName(symbol.name)
    const found = holding(name).flatMap(([at, { calls }]) =>
      calls
        .filter((c) => c.to === name && (at !== path || c.from !== symbol.name))
        .map(({ from }) => ({ path: at, from })),
    )
    return found.slice(0, CALLERS)
  }

  return explain
}
