import { WIDTH } from './minilm.ts'
import { modelsDirectory } from './models.ts'
import { openMinilm } from './onnx.ts'
import { turn } from './onnx-run.ts'
import type { Reranker } from './reranker.ts'
import { cosine, toUnit } from './unit-vector.ts'

/** Pieces of a question and of a text that are compared. */
const QUESTION = 126
const TEXT = 254
/** Milliseconds: what is not read by then keeps its place. */
const TIME = 2_000

/** Late interaction with MiniLM: each piece of the question meets the piece of the text that is nearest to it where both stand. */
export async function lateInteraction(models = modelsDirectory(), time = TIME): Promise<Reranker> {
  const { encode, states, close } = await openMinilm(models, models)
  const pieces = async (text: string, most: number) => {
    const all = await states([encode(text, most)])
    return Array.from({ length: all.length / WIDTH }, (_, i) => toUnit(all.slice(i * WIDTH, (i + 1) * WIDTH)))
  }
  return {
    async rerank(question, texts) {
      const asked = (await pieces(question, QUESTION)).slice(1, -1)
      const until = performance.now() + time
      const scores: number[] = []
      for (const text of texts) {
        if (scores.length > 0 && performance.now() > until) break
        const there = await pieces(text, TEXT)
        const nearest = asked.map((piece) => there.reduce((best, other) => Math.max(best, cosine(piece, other)), -1))
        scores.push(nearest.reduce((sum, near) => sum + near, 0) / Math.max(1, asked.length))
        await turn()
      }
      return scores
    },
    close,
  }
}
