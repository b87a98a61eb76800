import { shellWord } from '../../../model/shell.ts'
import { wordSet } from '../../recall/word-overlap.ts'
import { capital, type Detector, fieldOf, inCommon, joined, said, signalOn, times } from './signal.ts'
import { areSimilar, MOST_COMPARED, type Saying } from './similar.ts'

/** So many similar failures are told. */
const LEAST = 2

/** Approaches that failed, were tried again in a similar way, and failed again. */
export const failureRecurrence: Detector = (look) => {
  const failed = look.agreed('failed-approach', { limit: MOST_COMPARED })
  const topics = look.topicsOf(failed)
  const linked = Map.groupBy(
    look.edgesAt(failed, 'similar-to').flatMap((e) => [e, { from: e.to, to: e.from }]),
    (e) => e.from,
  )
  const clusters: Saying[][] = []
  const placeOf = new Map<string, number>()
  /** Word → the clusters whose oldest has it: the oldest stands for its cluster, so small steps do not join what is unlike. */
  const byWord = new Map<string, number[]>()
  for (const entity of failed) {
    const one: Saying = { entity, words: wordSet(entity.name), topics: topics.get(entity.id) ?? [] }
    const near = new Set([...one.words].flatMap((word) => byWord.get(word) ?? []))
    const similar = [...near].filter((place) => areSimilar(clusters[place]![0]!, one))
    const joined = (linked.get(entity.id) ?? []).flatMap((e) => placeOf.get(e.to) ?? [])
    const place = Math.min(clusters.length, ...similar, ...joined)
    placeOf.set(entity.id, place)
    if (place < clusters.length) clusters[place]!.push(one)
    else {
      clusters.push([one])
      for (const word of one.words) byWord.set(word, [...(byWord.get(word) ?? []), place])
    }
  }
  return clusters
    .filter((c) => c.length >= LEAST)
    .map((cluster) => {
      const last = cluster.at(-1)!.entity
      const [topic] = inCommon(cluster.map((c) => c.topics))
      const lesson = fieldOf(last, 'lesson')
      const learned = lesson ? `lesson: "${said(lesson)}"` : `outcome: "${said(fieldOf(last, 'outcome') || 'unknown')}"`
      return {
        ...signalOn('failures', 'medium', cluster[0]!.entity.id),
        line: `🔄 ${topic === undefined ? 'Similar' : capital(topic)} approaches failed ${times(cluster.length)} — last attempt: "${said(last.name)}", ${learned}`,
        entities: cluster.map((c) => c.entity.id),
        evidence: cluster.map(({ entity: e }) => joined([e.name, fieldOf(e, 'outcome')], ': ')),
        next: `tidemark show ${shellWord(last.id)}`,
      }
    })
}
