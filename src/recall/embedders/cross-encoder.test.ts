import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { UserError } from '../../errors.ts'
import { Recaller } from '../recall.ts'
import { crossEncoder } from './cross-encoder.ts'
import { findRuntime, modelsDirectory } from './models.ts'

const models = modelsDirectory()
const runtime = findRuntime(models, models)
const why = runtime ? '' : ` (skipped: no onnxruntime-node in ${models}; \`tidemark models add minilm\` brings it)`

// As much of protobuf as a model needs (onnx.proto3): a field's number, and text, bytes, a whole number or messages.
const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)])
const field = (number: number, value: string | number | Uint8Array): number[] => {
  if (typeof value === 'number') return [...varint(number << 3), ...varint(value)]
  const bytes = Buffer.from(value as string)
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes]
}
const message = (...fields: readonly number[][]): Uint8Array => Uint8Array.from(fields.flat())
const [FLOAT, INT64] = [1, 7]

const tensor = (name: string, values: readonly number[]) =>
  message(field(1, values.length), field(2, FLOAT), field(8, name), field(9, new Uint8Array(Float32Array.from(values).buffer))) // biome-ignore format: one thought
const value = (name: string, type: number, ...dimensions: string[]) => {
  const shape = message(...dimensions.map((d) => field(1, message(field(2, d)))))
  return message(field(1, name), field(2, message(field(1, message(field(1, type), field(2, shape))))))
}
const node = (op: string, inputs: readonly string[], output: string, ...attributes: Uint8Array[]) =>
  message(...inputs.map((i) => field(1, i)), field(2, output), field(4, op), ...attributes.map((a) => field(5, a)))

/** A model whose score is the sum of its pieces' weights, those of the question counted a thousandth. */
function modelOf(weights: readonly number[]): Uint8Array {
  const pairs = ['input_ids', 'attention_mask', 'token_type_ids']
  const graph = message(
    field(1, node('Gather', ['weights', 'input_ids'], 'each')),
    field(1, node('Cast', ['token_type_ids'], 'type', message(field(1, 'to'), field(3, FLOAT), field(20, 2)))),
    field(1, node('Add', ['type', 'thousandth'], 'share')),
    field(1, node('Mul', ['each', 'share'], 'shared')),
    field(1, node('ReduceSum', ['shared'], 'logits', message(field(1, 'axes'), field(8, 1), field(20, 7)))),
    field(2, 'sum of weights'),
    field(5, tensor('weights', weights)),
    field(5, tensor('thousandth', [0.001])),
    ...pairs.map((name) => field(11, value(name, INT64, 'pair', 'piece'))),
    field(12, value('logits', FLOAT, 'pair', 'one')),
  )
  return message(field(1, 7), field(7, graph), field(8, message(field(2, 11))))
}

const WEIGHTS = { '[PAD]': 0, '[UNK]': 0, '[CLS]': 100, '[SEP]': 10, queue: 1, jobs: 2, worker: 3, '##s': 0.5 }

/** A directory of models with one that is called `tiny`, its files as given. */
function withModel(files: { readonly [name: string]: string | Uint8Array }): string {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-models-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'tiny', 'onnx'), { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, 'tiny', name), content)
  return dir
}

const graph = modelOf(Object.values(WEIGHTS))
const vocab = `${Object.keys(WEIGHTS).join('\n')}\n`
const tokenizer = (type = 'WordPiece', lowercase = true) =>
  JSON.stringify({
    normalizer: { type: 'BertNormalizer', lowercase },
    model: { type, vocab: Object.fromEntries(Object.keys(WEIGHTS).map((piece, id) => [piece, id])) },
  })

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((e: unknown) => e)
  expect(error).toBeInstanceOf(UserError)
  return (error as UserError).message
}

test('[V10] a committed configuration names a model, never a path; what is missing is said', async () => {
  const dir = withModel({ 'vocab.txt': vocab })
  for (const name of ['../tiny', '/etc', './tiny', '..', '.hidden', ''])
    expect(await refusal(crossEncoder(name, { models: dir })), name).toContain('is no name of a directory')
  expect(await refusal(crossEncoder('other', { models: dir }))).toContain(`the reranker other is not in ${dir}`)
  expect(await refusal(crossEncoder('tiny', { models: dir }))).toContain('has no model.onnx')
  const of = (files: { readonly [name: string]: string }) =>
    crossEncoder('tiny', { models: withModel({ 'model.onnx': 'x', ...files }) })
  expect(await refusal(of({}))).toContain('neither a vocab.txt nor a tokenizer.json')
  expect(await refusal(of({ 'tokenizer.json': tokenizer('Unigram') }))).toContain('tokenizer.json of WordPiece')
  expect(await refusal(of({ 'tokenizer.json': tokenizer('WordPiece', false) }))).toContain('capitals')
  expect(await refusal(of({ 'tokenizer.json': '{' }))).toContain('the reranker tiny fails')
  expect(await refusal(of({ 'vocab.txt': 'a\nb' }))).toContain('vocabulary of an uncased BERT')
})

describe.skipIf(!runtime)(`a cross-encoder of this machine${why}`, () => {
  const withRuntime = (files: Parameters<typeof withModel>[0]) => {
    const dir = withModel(files)
    vi.stubEnv('NODE_PATH', join(runtime!, '..', '..', '..'))
    onTestFinished(() => void vi.unstubAllEnvs())
    return dir
  }
  const loaded = async (files: Parameters<typeof withModel>[0], time?: number) => {
    const made = await crossEncoder('tiny', { models: withRuntime(files), ...(time === undefined ? {} : { time }) })
    onTestFinished(() => made.close())
    return made
  }

  test('[V10] reads [CLS] question [SEP] text [SEP], the text as the second part', async () => {
    const texts = ['Workers', 'jobs queue', '']
    const expected = [3.5 + 10, 3 + 10, 10].map((text) => text * 1.001 + (100 + 1 + 10) * 0.001)
    const exported: Parameters<typeof withModel>[0][] = [
      { 'model.onnx': graph, 'vocab.txt': vocab },
      { 'onnx/model_quantized.onnx': graph, 'tokenizer.json': tokenizer() },
    ]
    for (const files of exported) {
      const scores = await (await loaded(files)).rerank('Queue', texts)
      for (const [i, score] of scores.entries()) expect(score).toBeCloseTo(expected[i]!, 3)
    }
  })

  test('[V10] a pair is cut to what the model reads; question and text share it', async () => {
    const config = JSON.stringify({ max_position_embeddings: 13 })
    const { rerank } = await loaded({ 'model.onnx': graph, 'vocab.txt': vocab, 'config.json': config })
    const long = 'jobs '.repeat(40)
    const of = async (question: string, text: string) => (await rerank(question, [text]))[0]
    expect(await of(long, long)).toBeCloseTo((5 * 2 + 10) * 1.001 + (100 + 5 * 2 + 10) * 0.001, 3)
    expect(await of('queue', long)).toBeCloseTo((9 * 2 + 10) * 1.001 + (100 + 1 + 10) * 0.001, 3)
    expect(await of(long, 'queue')).toBeCloseTo((1 + 10) * 1.001 + (100 + 9 * 2 + 10) * 0.001, 3)
  })

  test('[V10] where time runs out, the first texts have their scores; a file that is no model is said', async () => {
    const { rerank } = await loaded({ 'model.onnx': graph, 'vocab.txt': vocab }, 0)
    expect(await rerank('queue', ['a', 'b', 'c'])).toHaveLength(1)
    const none = withRuntime({ 'model.onnx': 'not a model', 'vocab.txt': vocab })
    expect(await refusal(crossEncoder('tiny', { models: none }))).toContain('the reranker tiny fails')
  })

  test('[H3] recall puts the first results into its order, and closing waits for nothing', async () => {
    vi.stubEnv('TIDEMARK_MODELS', withRuntime({ 'model.onnx': graph, 'vocab.txt': vocab }))
    const t = openTestMemory()
    const contents = ['the queue has two ends', 'a queue of jobs', 'each worker has a queue']
    t.act(contents.map((content) => ['record-chunk', { content }]))
    const asking = (reranker: object) => {
      const recaller = new Recaller(t.memory, undefined, { embedder: { use: 'none' }, reranker })
      onTestFinished(() => recaller.close())
      return recaller.ask('ends of the queue')
    }
    const first = await asking({ use: 'onnx', model: 'tiny' })
    expect(first.notes).toEqual([])
    expect(first.results.map((r) => r.name)).toEqual([contents[2], contents[1], contents[0]])
    const absent = await asking({ use: 'onnx', model: 'absent' })
    expect(absent.results[0]!.name).toBe(contents[0])
    expect(absent.notes.join()).toContain('not reranked: the reranker absent is not in')
  })
})
