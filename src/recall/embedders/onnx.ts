import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { UserError } from '../../errors.ts'
import type { Embedder } from './embedder.ts'
import { END, START, UNKNOWN, WEIGHTS_NAME, WIDTH } from './minilm.ts'
import { ADD_MINILM, findRuntime, modelsDirectory, readMinilm } from './models.ts'
import { staticEmbedder } from './static.ts'
import { toUnit } from './unit-vector.ts'
import { indexPieces, wordPiece } from './wordpiece.ts'

/** What the model was trained to see of a text; the rest is not looked at. */
const LONGEST_TEXT = 256
/** A run holds up everything else in the process; one twice as large was no faster. */
const PIECES_PER_RUN = 512

/** As calibration.ts finds them; `npm run bench -- embedders` prints them again. */
const FLOOR = 0.25
const CEILING = 0.76
/** From 1.25 to 1.5 it found the most where documents are long, and lost nothing elsewhere. */
const WEIGHT = 1.4

/** As much of onnxruntime-node as is used. */
interface Runtime {
  readonly InferenceSession: {
    create(graph: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<Session>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dimensions: readonly number[]) => unknown
}

interface Session {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>
  release(): Promise<void>
}

function loadRuntime(directory: string, models: string): Runtime {
  const file = findRuntime(directory, models)
  if (file === undefined)
    throw new UserError(
      'no-runtime',
      'onnxruntime-node, which runs the model, is not installed',
      `run \`${ADD_MINILM}\`, or use the built-in embedder`,
    )
  try {
    return createRequire(import.meta.url)(file) as Runtime
  } catch (error) {
    throw new UserError(
      'no-runtime',
      `onnxruntime-node does not load here: ${(error as Error).message.split('\n')[0]}`,
      `run \`tidemark models remove minilm\` and \`${ADD_MINILM}\`, or use the built-in embedder`,
      { file },
    )
  }
}

/** Texts of equal length together, so that none is padded: a text's vector is the same in whatever company. */
function batches(tokens: readonly (readonly number[])[]): number[][] {
  const byLength = Map.groupBy(tokens.keys(), (i) => tokens[i]!.length)
  return [...byLength].flatMap(([length, members]) => {
    const size = Math.max(1, Math.floor(PIECES_PER_RUN / Math.max(1, length)))
    return Array.from({ length: Math.ceil(members.length / size) }, (_, b) => members.slice(b * size, (b + 1) * size))
  })
}

/**
 * MiniLM by onnxruntime-node, which `tidemark models add minilm` brings. Its vector is followed by the built-in
 * embedder's, in equal parts: that one sees the whole of a long text, and the two err differently. Together they found
 * 3 of 100 answers more than MiniLM alone.
 */
export async function onnxEmbedder(directory = process.cwd(), models = modelsDirectory()): Promise<Embedder> {
  const { graph, weights, vocab } = readMinilm(models)
  const { InferenceSession, Tensor } = loadRuntime(directory, models)
  const beside = staticEmbedder()
  const encode = wordPiece(indexPieces(vocab), UNKNOWN)
  const session = await InferenceSession.create(graph, {
    // more threads than idle cores wait for each other: on two busy cores, two threads took twice as long as one
    intraOpNumThreads: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
    interOpNumThreads: 1,
    externalData: [{ path: WEIGHTS_NAME, data: weights }],
  })

  /** The means of the last states over all pieces, marks included. */
  async function run(group: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const length = group[0]!.length + 2
    const shape = [group.length, length]
    const ids = BigInt64Array.from(
      group.flatMap((pieces) => [START, ...pieces, END]),
      BigInt,
    )
    const { last_hidden_state } = await session.run({
      input_ids: new Tensor('int64', ids, shape),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
    })
    const states = last_hidden_state!.data
    return group.map((_, k) => {
      const sum = new Float32Array(WIDTH)
      for (let at = k * length * WIDTH, i = 0; i < length * WIDTH; i++) sum[i % WIDTH]! += states[at + i]!
      return toUnit(sum)
    })
  }

  return {
    id: `onnx:minilm-l6-v2:1+${beside.id}`,
    dimensions: WIDTH + beside.dimensions,
    floor: FLOOR,
    ceiling: CEILING,
    weight: WEIGHT,
    async embed(texts) {
      const tokens = texts.map((text) => encode(text, LONGEST_TEXT - 2))
      const vectors = beside.embedNow!(texts).map((rest) => {
        const vector = new Float32Array(WIDTH + rest.length)
        vector.set(rest, WIDTH)
        return vector
      })
      for (const members of batches(tokens)) {
        // a text of nothing but unknown pieces has no direction
        const known = members.filter((i) => tokens[i]!.some((id) => id !== UNKNOWN))
        if (known.length === 0) continue
        const done = await run(known.map((i) => tokens[i]!))
        known.forEach((i, k) => {
          vectors[i]!.set(done[k]!)
        })
        // the runtime works on this thread: others get their turn between runs
        await new Promise((next) => setImmediate(next))
      }
      return vectors.map(toUnit)
    },
    close: () => void session.release(),
  }
}
