import type { ActOptions, Memory } from '../../../engine/memory.ts'
import type { Reader } from '../../../engine/read/reader.ts'
import { MAX_ACTIONS } from '../../../engine/write/batch.ts'
import { identityOf } from '../../../model/entity.ts'
import { CodeTree } from '../code-files.ts'
import { languageOf } from '../languages.ts'
import { type Finding, findingsIn, principlesIn, type SourceFile, type Statement } from './analyze.ts'

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

/** Whether it was recorded, proposed, rejected or removed before. */
function isKnown(reader: Reader, { verb, args }: Finding): boolean {
  const id = identityOf(reader.registry().recordedBy(verb)!, args)
  return id !== undefined && reader.entity(id) !== undefined
}

/**
 * Proposes what recurs in the code and in what was decided, the surest first; never again what was proposed or rejected. `more`: new ones
 * beyond the limit, `known`: those that were known already.
 */
export async function analyze(
  memory: Memory,
  root: string,
  options: ActOptions & { limit: number; dryRun: boolean; progress?: ((line: string) => void) | undefined },
) {
  const { limit, dryRun, progress, ...act } = options
  const { reader } = memory
  const found = [...(await findingsIn(sourcesOf(root, progress))), ...principlesIn(statementsOf(reader))]
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
