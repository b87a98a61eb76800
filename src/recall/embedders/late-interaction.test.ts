import { expect, onTestFinished, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { Recaller } from '../recall.ts'
import { lateInteraction } from './late-interaction.ts'
import { minilmState, modelsDirectory } from './models.ts'

const isThere = minilmState(modelsDirectory()).isComplete
const why = isThere ? '' : ' (skipped: no minilm; `tidemark models add minilm` brings it)'

test.skipIf(!isThere)(
  `[V10] late interaction: a text that says it in other words is nearer than one that does not${why}`,
  async () => {
    const reranker = await lateInteraction()
    onTestFinished(() => reranker.close?.())
    const texts = [
      'the database is locked by the backup',
      'a backup holds a lock on the store',
      'quarterly tax report',
      '',
    ]
    const scores = await reranker.rerank('why is the database locked?', texts)
    expect(scores).toHaveLength(4)
    const [same, other, none] = scores
    expect(same).toBeGreaterThan(other!)
    expect(other).toBeGreaterThan(none! + 0.2)
    expect(await reranker.rerank('', texts)).toEqual([0, 0, 0, 0])
    const soon = await lateInteraction(modelsDirectory(), 0)
    onTestFinished(() => soon.close?.())
    expect(await soon.rerank('locked', texts)).toHaveLength(1)
  },
)

test.skipIf(!isThere)(
  `[H3] it counts half beside recall's own order, and says what it had no time for${why}`,
  async () => {
    const t = openTestMemory()
    const contents = [
      'the database is locked by the backup',
      'a lock held while saving copies',
      'what the cook does on Sunday',
    ]
    t.act(contents.map((content) => ['record-chunk', { content }]))
    const recaller = new Recaller(t.memory, undefined, { embedder: { use: 'none' }, reranker: { use: 'minilm' } })
    onTestFinished(() => recaller.close())
    const { results, notes } = await recaller.ask('is the database locked during backups?')
    expect(notes).toEqual([])
    expect(results[0]!.name).toBe(contents[0])
    for (const { score, parts } of results)
      expect(Object.values(parts).reduce((product, x) => product * x, 1)).toBeCloseTo(score, 10)
  },
)
