import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Suggestion, suggestFor } from '../src/find/graph/suggest.ts'
import { Vocabulary } from '../src/find/recall/contradictions.ts'
import { Recaller } from '../src/find/recall/recall.ts'
import { openProject } from '../src/project/open.ts'
import { tempProject } from './project.ts'
import { type Bench, median, timed } from './table.ts'

export const HALVES = ['tuned', 'held-back'] as const

interface Label {
  readonly from: number
  readonly to: number
  /** What may be suggested; `~` is any relation. */
  readonly types: readonly string[]
  /** Finding it is neither right nor wrong. */
  readonly isOpen: boolean
}

interface Block {
  readonly domain: string
  readonly decisions: { readonly name: string; readonly text: string }[]
  readonly labels: Label[]
}

function blocksOf(half: (typeof HALVES)[number]): Block[] {
  const blocks: Block[] = []
  for (const line of readFileSync(join(import.meta.dirname, 'links', `${half}.txt`), 'utf8').split('\n')) {
    const block = blocks.at(-1)
    const [, name, text] = /^\d+ ([\w-]+): (.+)$/.exec(line) ?? []
    const [, mark, from, types, to] = /^([=?]) (\d+) (?:(\S+) )?(\d+)$/.exec(line) ?? []
    if (line.startsWith('# ')) blocks.push({ domain: line.slice(2), decisions: [], labels: [] })
    else if (name !== undefined) block!.decisions.push({ name, text: text! })
    else if (mark)
      block!.labels.push({ from: Number(from), to: Number(to), types: (types ?? '~').split('|'), isOpen: mark === '?' })
    else if (line !== '' && !line.startsWith('%%')) throw new Error(`no such line: ${line}`)
  }
  return blocks
}

export interface Judged {
  readonly domain: string
  readonly suggestion: Suggestion
  readonly from: number
  readonly to: number
  readonly pair: 'right' | 'wrong' | 'open'
  readonly type: 'right' | 'wrong' | 'open'
}

/** Records the decisions of each block one after another, and asks after each how it relates to those before. */
export function judge(half: (typeof HALVES)[number]) {
  const judged: Judged[] = []
  const missed: (Label & { domain: string })[] = []
  const ms: number[] = []
  let labels = 0
  let typed = 0
  let decisions = 0
  for (const { domain, decisions: said, labels: all } of blocksOf(half)) {
    const project = tempProject()
    const memory = openProject(project)
    const { reader } = memory
    const recaller = new Recaller(memory, project, { embedder: { use: 'none' } })
    const grounds = { memory, reader, recaller, now: Infinity, alternatives: new Vocabulary() }
    const place = new Map<string, number>()
    const wanted = all.filter((l) => !l.isOpen)
    const found = new Set<Label>()
    for (const [i, { name, text }] of said.entries()) {
      const { results } = memory.act([['record-decision', { name, description: text }]])
      const id = String(results[0]!.id)
      place.set(id, i + 1)
      ms.push(timed(() => suggestFor(reader.entity(id)!, grounds)))
      for (const suggestion of suggestFor(reader.entity(id)!, grounds)) {
        const other = suggestion.from === id ? suggestion.to : suggestion.from
        const [from, to] = [i + 1, place.get(other)!]
        const of = all.filter((l) => (l.from === from && l.to === to) || (l.from === to && l.to === from))
        const relation = memory.registry().relation(suggestion.type)!
        const read = suggestion.from === id ? relation.name : relation.inverse
        const right = of.filter((l) => !l.isOpen)
        for (const l of right) found.add(l)
        const pair = right.length > 0 ? 'right' : of.length > 0 ? 'open' : 'wrong'
        const isFree = right.some((l) => l.types.includes('~'))
        const type = right.some((l) => l.types.includes(read)) ? 'right' : pair === 'open' || isFree ? 'open' : 'wrong'
        judged.push({ domain, suggestion, from, to, pair, type })
      }
    }
    decisions += said.length
    labels += wanted.length
    typed += wanted.filter((l) => !l.types.includes('~')).length
    missed.push(...wanted.filter((l) => !found.has(l)).map((l) => ({ ...l, domain })))
    memory.close()
  }
  return { judged, missed, labels, typed, decisions, ms }
}

const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole).toFixed(3)

export const bench: Bench = {
  name: 'links',
  about: 'how many of the relations between decisions are suggested, and how much of what is suggested is one',
  async run() {
    const all = HALVES.map((half) => ({ half, ...judge(half) }))
    const count = (of: readonly Judged[], what: 'pair' | 'type', is: string) => of.filter((j) => j[what] === is).length
    return [
      {
        title:
          'labelled decisions of several domains; the half held back was written before the rules, by the same author',
        columns: ['decisions', 'labels', 'precision', 'recall'],
        rows: all.flatMap(({ half, judged, missed, labels, typed, decisions }) => {
          const said = judged.filter((j) => j.suggestion.by !== 'similarity')
          const pairs = [decisions, labels, share(count(judged, 'pair', 'right'), count(judged, 'pair', 'right') + count(judged, 'pair', 'wrong')), share(labels - missed.length, labels)] // biome-ignore format: one row
          const types = [decisions, typed, share(count(said, 'type', 'right'), count(said, 'type', 'right') + count(said, 'type', 'wrong')), share(count(said, 'type', 'right'), typed)] // biome-ignore format: one row
          return [
            { what: `${half}: these two go together`, cells: pairs, bound: 'precision ≥ 0.9, recall ≥ 0.7', ok: Number(pairs[2]) >= 0.9 && Number(pairs[3]) >= 0.7 }, // biome-ignore format: one row
            { what: `${half}: by this relation, said in words`, cells: types, bound: 'precision ≥ 0.9, recall ≥ 0.7', ok: Number(types[2]) >= 0.9 && Number(types[3]) >= 0.7 }, // biome-ignore format: one row
          ]
        }),
        notes: [`${median(all.flatMap((h) => h.ms)).toFixed(2)} ms a decision`],
      },
    ]
  },
}
