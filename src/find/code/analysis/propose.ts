import type { ActOptions, Memory } from '../../../engine/memory.ts'
import type { Reader } from '../../../engine/read/reader.ts'
import { MAX_ACTIONS } from '../../../engine/write/batch.ts'
import { identityOf, linkId } from '../../../model/entity.ts'
import { languageOf } from '../languages.ts'
import { CodeTree } from '../tree.ts'
import { type Finding, findingsIn, principlesIn, type SourceFile, type Statement } from './analyze.ts'
import { coChangesIn, commitsOf } from './co-change.ts'

/** Words of a sentence that can be a principle; fewer are a heading, or an item of a list. */
const MIN_WORDS = 5
/** Plain words: no code, option, table or link. */
const isSentence = (text: string): boolean =>
  /^\p{Lu}/u.test(text) && !/[`|<>{}=]|--|\]\(/.test(text) && text.split(/\s+/).length >= MIN_WORDS
const MAX_STATEMENTS = 20_000

function* sourcesOf(root: string, progress?: (line: string) => void): Generator<SourceFile> {
  const tree = new CodeTree(root)
  let n = 0
  for (const { path } of tree.files()) {
    if (!languageOf(path)) continue
    const content = tree.read(path)
    if (content) yield { path, text: content.text }
    if (++n % 500 === 0) progress?.(`reading code: ${n} files`)
  }
}

/** The sentences of what decisions, insights and documents say. */
function statementsOf(reader: Reader): Statement[] {
  const all: Statement[] = []
  for (const kind of ['decision', 'insight', 'learning', 'chunk'])
    for (const { id, fields } of reader.list(kind)) {
      const said = [fields.description, fields.rationale, fields.summary, fields.body, fields.content]
      // pieces of one document are one voice
      const from = typeof fields.sourceFile === 'string' ? fields.sourceFile : id
      for (const text of said.flatMap((v) => (typeof v === 'string' ? v.split(/[.!?]\s|\n/) : [])))
        if (isSentence(text.trim())) all.push({ id: from, text: text.trim() })
      if (all.length >= MAX_STATEMENTS) return all
    }
  return all
}

/** Files that somebody has described and that history changes together, as links. */
async function linksOf(reader: Reader, root: string): Promise<Finding[]> {
  const known = new Map(reader.list('file').map((e) => [e.name, e.id]))
  if (known.size < 2) return []
  return coChangesIn(await commitsOf(root)).flatMap(({ files: [a, b], together, of }): Finding[] => {
    const [from, to] = [known.get(a), known.get(b)]
    if (from === undefined || to === undefined) return []
    const evidence = `${together} of ${of} commits that changed one of them changed both`
    return [
      { verb: 'link-entities', args: { from, to, type: 'relates-to' }, evidence, confidence: together / (of + 2) },
    ]
  })
}

/** Whether it was recorded, proposed, rejected or removed before. */
function isKnown(reader: Reader, { verb, args }: Finding): boolean {
  if (verb === 'link-entities') {
    const ends = [String(args.from), String(args.to)].sort() as [string, string]
    return reader.entity(linkId(ends[0], String(args.type), ends[1])) !== undefined
  }
  const kind = reader.registry().recordedBy(verb)!
  const id = identityOf(kind, args)
  return id !== undefined && reader.entity(id) !== undefined
}

export interface Analysis {
  /** What is new, the surest first, at most `limit`. */
  readonly proposed: readonly Finding[]
  /** New ones beyond the limit. */
  readonly more: number
  /** Those that were known already. */
  readonly known: number
  readonly batches: readonly string[]
}

/**
 * Proposes what the code, its history and what was decided show by recurring. Nothing is proposed twice, and nothing
 * that was rejected.
 */
export async function analyze(
  memory: Memory,
  root: string,
  options: ActOptions & { limit: number; dryRun: boolean; progress?: ((line: string) => void) | undefined },
): Promise<Analysis> {
  const { limit, dryRun, progress, ...act } = options
  const { reader } = memory
  const principles = principlesIn(statementsOf(reader))
  const found = [...(await findingsIn(sourcesOf(root, progress))), ...principles, ...(await linksOf(reader, root))]
  const fresh = found.filter((f) => !isKnown(reader, f)).sort((a, b) => b.confidence - a.confidence)
  const proposed = fresh.slice(0, limit)
  const batches: string[] = []
  for (let i = 0; i < proposed.length && !dryRun; i += MAX_ACTIONS) {
    const actions = proposed.slice(i, i + MAX_ACTIONS).map(({ verb, args, evidence, confidence }) => {
      const sure = verb === 'record-fact' ? {} : { confidence: Math.round(confidence * 100) / 100 }
      return ['propose', { action: [verb, { ...args, ...sure }], evidence }]
    })
    const { batch } = memory.act(actions, act)
    if (batch !== null) batches.push(batch)
  }
  return { proposed, more: fresh.length - proposed.length, known: found.length - fresh.length, batches }
}
