import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UserError } from '../../errors.ts'
import { isObject } from '../../model/object.ts'
import { modelsDirectory } from './models.ts'
import { feedsOf, loadRuntime, scoresInTime, TIME, threads } from './onnx-run.ts'
import type { Reranker } from './reranker.ts'
import { indexPieces, wordPiece } from './wordpiece.ts'

/** Pieces of a question and a text together: twice as many take twice as long, and the beginning says what a text is about. */
const LONGEST_PAIR = 256
/** More pieces than this cannot be numbered by `indexPieces`. */
const MOST_PIECES = 65_534

const bad = (model: string, why: string) =>
  new UserError(
    'bad-reranker',
    `the reranker ${model} ${why}`,
    'it takes a cross-encoder of BERT’s family as Hugging Face exports it, cross-encoder/ms-marco-MiniLM-L6-v2 say',
  )

/** Where a model lies: the configuration comes with a repository, so it only names one that the user put beside the others. */
function folderOf(model: string, models: string): string {
  if (model === '' || basename(model) !== model || model.startsWith('.'))
    throw bad(model, `is no name of a directory in ${models}, where models lie`)
  const folder = join(models, model)
  if (existsSync(folder)) return folder
  throw new UserError(
    'no-model',
    `the reranker ${model} is not in ${models}`,
    'copy its directory there (model.onnx and vocab.txt or tokenizer.json), or set recall.reranker.use to none',
  )
}

/** The graph: `model.onnx`, else the first by name, as a quantized one is called; in the directory or in its `onnx`. */
function graphOf(folder: string): string | undefined {
  const found = [folder, join(folder, 'onnx')].flatMap((dir) =>
    existsSync(dir)
      ? readdirSync(dir)
          .filter((name) => name.endsWith('.onnx'))
          .sort()
          .map((name) => join(dir, name))
      : [],
  )
  return found.find((file) => basename(file) === 'model.onnx') ?? found[0]
}

function read(folder: string, name: string): { readonly [key: string]: unknown } {
  const value: unknown = existsSync(join(folder, name)) ? JSON.parse(readFileSync(join(folder, name), 'utf8')) : {}
  return isObject(value) ? value : {}
}

/** The pieces by their ids. */
function piecesOf(folder: string, model: string): string[] {
  if (existsSync(join(folder, 'vocab.txt')))
    return readFileSync(join(folder, 'vocab.txt'), 'utf8').trimEnd().split(/\r?\n/)
  const { model: pieces, normalizer } = read(folder, 'tokenizer.json')
  if (!isObject(pieces) || pieces.type !== 'WordPiece' || !isObject(pieces.vocab))
    throw bad(model, 'has neither a vocab.txt nor a tokenizer.json of WordPiece')
  if (isObject(normalizer) && normalizer.lowercase === false)
    throw bad(model, 'tells capitals from small letters, which is not supported')
  const inOrder = Object.entries(pieces.vocab).sort(([, a], [, b]) => Number(a) - Number(b))
  if (inOrder.some(([, id], i) => id !== i)) throw bad(model, 'has a vocabulary whose pieces are not numbered in a row')
  return inOrder.map(([piece]) => piece)
}

type Closing = Reranker & { close(): void }

/** What goes wrong within, as the user's to mend. */
async function telling<T>(model: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UserError ? error : bad(model, `fails: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** A cross-encoder in a directory of the user's models: reads question and text as one and gives one number. Nothing leaves the machine. */
export const crossEncoder = (model: string, { models = modelsDirectory(), time = TIME } = {}): Promise<Closing> =>
  telling(model, () => loaded(model, models, time))

async function loaded(model: string, models: string, time: number): Promise<Closing> {
  const folder = folderOf(model, models)
  const graph = graphOf(folder)
  if (graph === undefined) throw bad(model, 'has no model.onnx')
  const pieces = piecesOf(folder, model)
  const [start, end, unknown] = ['[CLS]', '[SEP]', '[UNK]'].map((name) => pieces.indexOf(name))
  if (start! < 0 || end! < 0 || unknown! < 0 || pieces.length > MOST_PIECES)
    throw bad(model, 'has not the vocabulary of an uncased BERT')
  const { max_position_embeddings: most } = read(folder, 'config.json')
  const room = Math.min(LONGEST_PAIR, typeof most === 'number' && most > 3 ? most : LONGEST_PAIR) - 3
  const encode = wordPiece(indexPieces(pieces.join('\n')), unknown!)
  // not the project's own runtime: a repository must not be able to bring one
  const runtime = loadRuntime(models, models)
  const session = await runtime.InferenceSession.create(graph, threads())

  /** How well a text answers, both as pieces; the longer one gives way, down to the half. */
  async function scoreOf(asked: readonly number[], body: readonly number[]): Promise<number> {
    const first = asked.slice(0, Math.max(room >> 1, room - body.length))
    const ids = [start!, ...first, end!, ...body.slice(0, room - first.length), end!]
    const types = ids.map((_, i) => (i < first.length + 2 ? 0 : 1))
    const feeds = Object.entries(feedsOf(runtime, [ids], [types])).filter(([name]) => session.inputNames.includes(name))
    const out = (await session.run(Object.fromEntries(feeds)))[session.outputNames[0]!]!.data
    if (out.length !== 1 || !Number.isFinite(out[0]))
      throw bad(model, `gives ${out.length} numbers for a pair, not one`)
    return out[0]!
  }

  return {
    rerank: (question, texts) =>
      telling(model, () => {
        const asked = encode(question, room)
        return scoresInTime(texts, time, (text) => scoreOf(asked, encode(text, room)))
      }),
    close: () => void session.release(),
  }
}
