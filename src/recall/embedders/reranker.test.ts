import { expect, onTestFinished, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { UserError } from '../../errors.ts'
import { Recaller } from '../recall.ts'
import { RERANKED, type Reranker } from './reranker.ts'

/** What somebody knows, and recall by words alone with a reranker to which a text is the better the more it cries. */
function knowing(texts: readonly string[]) {
  const t = openTestMemory()
  t.act(texts.map((content) => ['record-chunk', { content }]))
  const sent: (readonly string[])[] = []
  const state = { failing: false, closed: 0 }
  const load = async (): Promise<Reranker> => ({
    async rerank(_, asked) {
      sent.push(asked)
      if (state.failing) throw new UserError('no-model', 'the model is out of memory', 'free some')
      return asked.map((text) => text.split('!').length)
    },
    close: () => void state.closed++,
  })
  const settings = { embedder: { use: 'none' }, reranker: { use: 'minilm' } } as const
  const recaller = new Recaller(t.memory, undefined, settings, load)
  onTestFinished(() => recaller.close())
  const names = async (question: string) => (await recaller.ask(question)).results.map((r) => r.name)
  return { ...t, recaller, names, sent, state }
}

/** By their words the first is a little better than the second, and both much better than the third. */
const [ENDS, LATER, JOBS] = [
  'a queue has two ends',
  'a queue of some length has two ends!!!',
  'one queue of jobs!',
] as const

test('[H3] the first results come in the reranker’s order, what is called by name stays first, and the parts make the score', async () => {
  const { act, recaller, names } = knowing([ENDS, LATER, JOBS, 'nothing of it!!!!'])
  expect(await names('ends of a queue')).toEqual([LATER, ENDS, JOBS])
  for (const { score, parts } of (await recaller.ask('ends of a queue')).results)
    expect(Object.values(parts).reduce((product, x) => product * x, 1)).toBeCloseTo(score, 10)
  act([['record-decision', { name: 'ends of a queue', rationale: 'bursts' }]])
  expect((await names('ends of a queue')).slice(0, 2)).toEqual(['ends of a queue', LATER])
})

test('[H3] no more than the first are read; what is behind them stays behind', async () => {
  const nouns = 'ant bee cat dog elk fox gnu hen ibis jay koi lynx mole newt owl'.split(' ')
  const both = nouns.flatMap((n, i) => [
    `${n} ${i * 31} feeds a queue of workers`,
    `${i * 17} workers: ${n}, in a queue!`,
  ])
  const { recaller, sent } = knowing([...both, ...nouns.map((n, i) => `the ${n} has ${i * 13} workers!!`)])
  const { results } = await recaller.ask('workers of a queue', { limit: 45 })
  expect(sent[0]).toHaveLength(RERANKED)
  expect(results.length).toBeGreaterThan(RERANKED)
  expect(
    results
      .slice(0, RERANKED)
      .map((r) => r.text)
      .sort(),
  ).toEqual([...sent[0]!].sort())
})

test('[H3] a reranker that fails is told, the order is recall’s own, and it is asked again after a minute', async () => {
  const { recaller, names, clock, sent, state } = knowing([ENDS, LATER, JOBS])
  const plain = new Recaller(knowing([ENDS, LATER, JOBS]).memory, undefined, { embedder: { use: 'none' } })
  const own = (await plain.ask('ends of a queue')).results.map((r) => r.name)
  const reranked = await names('ends of a queue')
  expect([own, reranked]).toEqual([
    [ENDS, LATER, JOBS],
    [LATER, ENDS, JOBS],
  ])
  state.failing = true
  clock.now += 1_000
  const { results, notes } = await recaller.ask('ends of a queue')
  expect(results.map((r) => r.name)).toEqual(own)
  expect(notes).toEqual(['not reranked: the model is out of memory → free some'])
  await Promise.resolve()
  expect(state.closed).toBe(1)
  const tried = sent.length
  expect((await recaller.ask('ends of a queue')).notes.join()).toContain('not reranked')
  expect(sent).toHaveLength(tried)
  state.failing = false
  clock.now += 61_000
  expect(await names('ends of a queue')).toEqual(reranked)
})
