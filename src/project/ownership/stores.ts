/**
 * ownership: which file says what, and which of them should say it. This file reads what each store states, `overlaps.ts`
 * finds what stands twice or in the wrong place, and `merge.ts` says which lines an approved merge takes out.
 */

import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unlessRefused } from '../../base/errors.ts'
import { inspect, readInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import { enterHeading } from '../../model/markdown.ts'
import { add } from '../../travel/formats/import/add.ts'
import { plainLine } from '../../travel/formats/import/classify.ts'
import { blocksOf } from '../../travel/formats/import/markdown.ts'
import { ALL_FACTS } from '../../work/coordination/clients.ts'

/** What a store is for (concept paper 2, "Knowledge Store Boundaries"); `memory` is what a client keeps for one user. */
export type Subject = 'decision' | 'learning' | 'context' | 'observation' | 'mutation' | 'swarm' | 'handoff' | 'memory'

/** The lines of a file that a statement fills. */
export interface Lines {
  /** The folder that it may be edited below. */
  readonly root: string
  readonly path: string
  readonly from: number
  readonly to: number
  /** Items stand below it, which mean little without it. */
  readonly hasMore: boolean
}

/** One statement of one store. */
export interface Place {
  /** `CLAUDE.md`, `.add/learnings.json`, `knowledge`. */
  readonly store: string
  readonly subject: Subject
  /** `CLAUDE.md:12`, or the id of an entity. */
  readonly where: string
  /** What it says, as people read it; further texts say the same, longer or shorter. */
  readonly texts: readonly string[]
  readonly headings: readonly string[]
  readonly lines?: Lines
  readonly entity?: Entity
}

/** Files of instructions: each client reads its own. */
const CONTEXT = [...new Set(['AGENTS.md', ...ALL_FACTS.flatMap((f) => f.instructions)])]
const RULE_FOLDERS = ALL_FACTS.flatMap((f) => f.rules?.folder ?? [])
const MEMORY = 'MEMORY.md'

/** Whether a path of the project is one of the files whose lines may be merged. */
export const isStore = (path: string): boolean =>
  path === MEMORY || CONTEXT.includes(path) || RULE_FOLDERS.some((folder) => path.startsWith(`${folder}/`))

type Stated = Readonly<Record<string, readonly [Subject, readonly string[]]>>

/** Kinds of what is known, and what of them is a statement. */
const KNOWN: Stated = {
  decision: ['decision', ['name', 'description']],
  learning: ['learning', ['title', 'body']],
  insight: ['learning', ['summary', 'detail']],
  fact: ['context', ['fact']],
  observation: ['observation', ['what']],
}

/** The same of what the importer of ADD records: not what it reads from files of other tools. */
const { fact: _fact, insight: _insight, ...alike } = KNOWN
const ADD: Stated = { ...alike, mutation: ['mutation', ['change']], result: ['swarm', ['text']] }

/** So many of each kind are looked at, the newest first. */
const MOST = 2_000
const MOST_RULE_FILES = 200

const saidIn = (fields: Readonly<Record<string, unknown>>, names: readonly string[]): string[] =>
  names.map((name) => fields[name]).filter((v) => typeof v === 'string')

/** The files of a folder of rules, each by its way from the root. */
function rulesIn(root: string, folder: string): string[] {
  if (inspect(root, folder).is !== 'directory') return []
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const paths = names.filter((name) => /\.mdc?$/.test(name)).map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
  return paths.sort().slice(0, MOST_RULE_FILES)
}

/** What a Markdown file states, a block each. */
function pageOf(root: string, path: string, store: string, subject: Subject): Place[] {
  const text = readInside(root, path)?.toString('utf8').replaceAll('\r\n', '\n')
  if (text === undefined || text.includes('\0')) return []
  const blocks = blocksOf(text)
  const headings: string[] = []
  return blocks.flatMap((block, i): Place[] => {
    if (block.type === 'heading') {
      enterHeading(headings, block.level, plainLine(block.text))
      return []
    }
    const next = blocks[i + 1]
    const hasMore = block.type === 'item' && next?.type === 'item' && next.level > block.level
    const lines = { root, path, from: block.line, to: block.end, hasMore }
    const where = `${store}:${block.line}`
    return [{ store, subject, where, texts: [plainLine(block.text)], headings: headings.filter(Boolean), lines }]
  })
}

/** What the process files of ADD state. They are edited by its skills alone, so no lines of theirs are named. */
function addOf(root: string): Place[] {
  if (inspect(root, '.add').is !== 'directory') return []
  const handoff = pageOf(root, '.add/handoff.md', '.add/handoff.md', 'handoff').map(({ lines: _, ...place }) => place)
  const read = unlessRefused(() => add.read(join(root, '.add'), root).items) ?? [] // no files that could be read
  const items = read.flatMap(({ verb, args, where, retired }): Place[] => {
    const [subject, names] = ADD[verb.replace('record-', '')] ?? []
    if (!subject || !names || retired !== undefined) return []
    return [{ store: /^[^:#]*/.exec(where)![0], subject, where, texts: saidIn(args, names), headings: [] }]
  })
  return [...items, ...handoff]
}

/** What is known and confirmed. */
const knownOf = ({ reader }: Memory): Place[] =>
  Object.entries(KNOWN).flatMap(([kind, [subject, names]]) =>
    reader
      .list(kind, { limit: MOST })
      .filter((e) => standingOf(e.fields) === 'confirmed')
      .map((entity) => {
        const texts = saidIn(entity.fields, names)
        return { store: 'knowledge', subject, where: entity.id, texts, headings: [], entity }
      }),
  )

/** Every statement of every store of a project. `memoryFile`: where a client keeps its own notes outside of it. */
export const statementsIn = (memory: Memory, root: string, memoryFile?: string): Place[] => [
  ...addOf(root),
  ...[...CONTEXT, ...RULE_FOLDERS.flatMap((folder) => rulesIn(root, folder))].flatMap((path) =>
    pageOf(root, path, path, 'context'),
  ),
  ...knownOf(memory),
  ...pageOf(root, MEMORY, MEMORY, 'memory'),
  ...(memoryFile === undefined ? [] : pageOf(dirname(memoryFile), basename(memoryFile), memoryFile, 'memory')),
]
