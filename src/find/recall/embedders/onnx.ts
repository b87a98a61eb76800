import { setImmediate } from 'node:timers/promises'
import type { Embedder } from './embedder.ts'
import { END, START, UNKNOWN, WEIGHTS_NAME, WIDTH } from './minilm.ts'
import { modelsDirectory, readMinilm } from './models.ts'
import { batches, feedsOf, loadRuntime, threads } from './onnx-run.ts'
import { staticEmbedder } from './static.ts'
import { toUnit } from './unit-vector.ts'
import { indexPieces, wordPiece } from './wordpiece.ts'

/** What the model was trained to see of a text; the rest is not looked at. */
const LONGEST_TEXT = 256
/** As calibration.ts finds them; `npm run bench -- embedders` prints them again. */
const FLOOR = 0.25
const CEILING = 0.76
/** From 1.25 to 1.5 it found the most where documents are long, and lost nothing elsewhere. */
const WEIGHT = 1.4

/** MiniLM by onnxruntime-node, which `tidemark models add minilm` brings. */
async function openMinilm(models: string) {
  const { graph, weights, vocab } = readMinilm(models)
  const runtime = loadRuntime(models)
  const session = await runtime.InferenceSession.create(graph, {
    ...threads(),
    externalData: [{ path: WEIGHTS_NAME, data: weights }],
  })
  return {
    encode: wordPiece(indexPieces(vocab), UNKNOWN),
    /** The last state of each piece of texts that have equally many, marks included: `WIDTH` numbers each, one text after another. */
    async states(texts: readonly (readonly number[])[]): Promise<Float32Array> {
      const inputs = texts.map((pieces) => [START, ...pieces, END])
      return (await session.run(feedsOf(runtime, inputs))).last_hidden_state!.data
    },
    close: () => void session.release(),
  }
}

/** MiniLM's vector followed by the built-in one, in equal parts: that one sees the whole of a long text. */
export async function onnxEmbedder(models = modelsDirectory()): Promise<Embedder> {
  const minilm = await openMinilm(models)
  const beside = staticEmbedder()

  async function run(group: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const length = group[0]!.length + 2
    const states = await minilm.states(group)
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
      const tokens = texts.map((text) => minilm.encode(text, LONGEST_TEXT - 2))
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
        await setImmediate() // the runtime works on this thread: others get their turn between runs
      }
      return vectors.map(toUnit)
    },
    close: minilm.close,
  }
}
