import { basename, extname, resolve } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { below } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { scan } from '../../find/code/scan.ts'
import { besideOf, dayOf, holdsJson, holdsOf, inShort } from '../../find/recall/told.ts'
import { type Entity, isAgreed } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { codeReader, type Explanation, type Known } from '../../project/discover/explain.ts'
import { many } from '../../session/briefing/format.ts'
import { nameOfSession, titleOfSession } from '../../work/coordination/labels.ts'
import type { SessionInfo } from '../../work/coordination/session-info.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { claimJson } from './claims.ts'
import { entityJson, oneLine, quoted } from './format.ts'
import { defineTool, type Output } from './tool.ts'

const told = ({ entity: e, holds }: Known): string =>
  `  ${inShort(e, oneLine)}\n    ${e.id}  ${besideOf(e, holds, dayOf(e, holds), oneLine)}`

/** Of a place so many are told one by one; the others by name. */
const KNOWN = 12
const NAMES = 1_200

function knownLines(known: readonly Known[]): string[] {
  const more = known.slice(KNOWN)
  const names = oneLine(more.map(({ entity }) => entity.name).join('; '), NAMES)
  return [...known.slice(0, KNOWN).map(told), ...(more.length > 0 ? [`  and ${more.length} more: ${names}`] : [])]
}

const section = (title: string, lines: readonly string[]): string[] => (lines.length > 0 ? ['', title, ...lines] : [])

/** Of a place so many handoffs that name it, the newest. */
const HANDOFFS = 3

const isNamedIn = (text: string, path: string): boolean =>
  text
    .split(path)
    .some((before, i, all) => i + 1 < all.length && !/[\w./-]$/.test(before) && !/^[\w-]/.test(all[i + 1]!))

/** What is known by the name of it, beside what names its place: so many. */
const BY_NAME = 3
/** A name that prose does not use for anything else: `OrderLine`, `order_line`. */
const IS_OWN_NAME = /^[\w-]{0,80}(?:[a-z][A-Z]|[a-zA-Z]_[a-zA-Z])[\w-]{0,80}$/

function namedIn({ path, files, symbol, known }: Explanation, memory: Memory, root: string): Known[] {
  const name = symbol?.name.split('.').at(-1) ?? basename(path, extname(path))
  if (files || !IS_OWN_NAME.test(name)) return []
  const kinds = ['decision', 'fact', 'failed-approach', 'learning', 'correction']
  const texts = (e: Entity) => [e.name, ...Object.values(e.fields).flat()].join('\n')
  const isOne = (e: Entity) => isAgreed(e) && !known.some((k) => k.entity.id === e.id) && texts(e).split(/[^\w-]+/).includes(name) // biome-ignore format: a condition
  const found = memory.reader.search(name, 20, kinds).filter(isOne).slice(0, BY_NAME)
  const holds = holdsOf(memory, root, found)
  return found.map((entity) => ({ entity, holds: holds.get(entity.id)! }))
}

const inTree = ({ root, branch }: SessionInfo, own: string): string | undefined =>
  root === undefined || root === own ? undefined : `in another work tree${branch ? `, branch ${branch}` : ''}`

/** Who edited it last, and the handoffs that name it. */
function workOn({ path, files = [path] }: Explanation, memory: Memory, root: string): string[] {
  const editedAt = ({ data }: SessionInfo): number => {
    const changed = (data.changed ?? {}) as { readonly [file: string]: { readonly at: number } }
    return Math.max(0, ...files.map((file) => changed[file]?.at ?? 0))
  }
  const edited = sessionsOf(memory)
    .list({ all: true })
    .filter((s) => editedAt(s) > 0)
  const [last] = edited.sort((a, b) => editedAt(b) - editedAt(a))
  const named = memory.reader.list('handoff').filter((e) => isNamedIn(Object.values(e.fields).flat().join('\n'), path))
  return [
    ...(last
      ? [`  edited last by ${nameOfSession({ ...last, seen: editedAt(last) }, memory.env.now(), [inTree(last, root)])}`]
      : []),
    ...named.slice(0, HANDOFFS).map((e) => `  named in handoff ${quoted(e)} (${dayOf(e)}): tidemark show ${e.id}`),
  ]
}

function page(
  x: Explanation,
  named: readonly Known[],
  work: readonly string[],
  holder: (id: string) => string,
): string {
  const { symbol, understanding } = x
  const inside = symbol ? x.symbols.filter((s) => s.name.startsWith(`${symbol.name}.`)) : x.symbols
  return [
    symbol
      ? `${x.path}#${symbol.name}: ${symbol.kind}, lines ${symbol.start}-${symbol.end}`
      : `${x.path}: ${x.files ? many(x.files.length, 'file') : x.language}`,
    ...section('Understood', understanding ? [told(understanding)] : []),
    ...section('Known', knownLines(x.known)),
    ...section('Named in', named.map(told)),
    ...section('Worked on', work),
    ...section('In hand now', x.claims.map((c) => `  ${c.on}  ${holder(c.session)}${c.note ? `: ${oneLine(c.note, 80)}` : ''}`)),
    ...section('Called by', x.callers.map((c) => `  ${c.path}${c.from && `#${c.from}`}`)),
    ...section('Symbols', inside.map((s) => `  ${s.start}-${s.end}  ${s.kind} ${s.name}`)),
    ...(understanding || x.known.length + named.length + work.length > 0 ? [] : ['', 'Nothing is recorded of it yet.']),
    ...section('Files', (x.files ?? []).slice(0, 40).map((f) => `  ${f}`)),
    ...(x.files && x.files.length > 40 ? [`  and ${x.files.length - 40} more`] : []),
    ...(x.language === 'text' && !x.files ? ['', 'No grammar reads this file here: its symbols are unknown.'] : []),
  ].join('\n') // biome-ignore format: a page
}

const knownJson = ({ entity, holds }: Known): Json => ({ ...entityJson(entity), ...holdsJson(holds) })

const jsonOf = ({ understanding, known, claims, ...x }: Explanation, named: readonly Known[]): Json => ({
  path: x.path,
  ...(x.files ? { files: [...x.files] } : { language: x.language }),
  ...(x.symbol ? { symbol: { ...x.symbol } } : {}),
  symbols: x.symbols.map((s) => ({ ...s })),
  ...(understanding ? { understanding: knownJson(understanding) } : {}),
  known: known.map(knownJson),
  named: named.map(knownJson),
  callers: x.callers.map((c) => ({ ...c })),
  claims: claims.map(claimJson),
})

export const explain = defineTool({
  name: 'explain',
  title: 'Explain code',
  about:
    'tells what is known of a file, a folder or a symbol: what was understood, decided and tried, what of that is stale, who has it in hand, what calls it',
  example: 'tidemark explain src/auth.ts#verify',
  params: {
    place: {
      type: 'text',
      about: 'a path, also of a folder or only its end, path:line, path#symbol, or the name of a symbol',
      required: true,
      place: 'rest',
    },
  },
  readOnly: true,
  async run({ memory, project, progress, directory = project.root }, args): Promise<Output> {
    await scan(memory, project, { progress })
    const explained = codeReader(memory, project)
    const here = below(project.root, resolve(directory, args.place))
    const [found = []] = [
      explained(args.place, false),
      here ? explained(here, false) : [],
      explained(args.place),
    ].filter((all) => all.length > 0)
    if (found.length === 0)
      throw new UserError(
        'no-code',
        `no file, folder or symbol here is called ${oneLine(args.place, 80)}`,
        'give a path from the root of the project, or the name of a function or class; `tidemark recall` asks of anything else',
      )
    const holder = (id: string) => titleOfSession(sessionsOf(memory).get(id) ?? { id, seen: 0, data: {} })
    const { root } = project
    const named = found.map((x) => namedIn(x, memory, root))
    const pages = found.map((x, i) => page(x, named[i]!, workOn(x, memory, root), holder))
    return { text: pages.join('\n\n'), json: found.map((x, i) => jsonOf(x, named[i]!)) }
  },
})
