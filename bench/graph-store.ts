// A store with a graph of any size, always the same for the same numbers: entities in areas of a hundred, three links each.

import { screen } from '../src/base/secrets/screen.ts'
import type { Memory } from '../src/engine/memory.ts'
import { entity, seeded, someWord } from './knowledge.ts'

/** Links within an area; half of all. The relations without cycles stand only here, always to an earlier entity. */
const AREA = 100
const WITHIN = ['supersedes', 'depends-on', 'based-on', 'implements', 'cites', 'constrains', 'caused', 'led-to', 'uses']
const ACROSS = ['cites', 'references', 'informs', 'similar-to', 'relates-to', 'impacts', 'constrains', 'conflicts-with']
const BATCH = 50

/** The link of a number, by the numbers of its ends. Every tenth goes to one of few that everything goes to. */
function link(i: number, entities: number): [from: number, type: string, to: number] | undefined {
  const chance = seeded(i * 2 + 7)
  const from = 1 + Math.floor(chance() * (entities - 1))
  const inArea = from % AREA
  if (chance() < 0.5 && inArea > 0)
    return [from, WITHIN[Math.floor(chance() * WITHIN.length)]!, from - 1 - Math.floor(chance() * Math.min(inArea, 20))]
  const to = Math.floor(chance() * (chance() < 0.2 ? Math.sqrt(entities) : entities))
  return from === to ? undefined : [from, ACROSS[Math.floor(chance() * ACROSS.length)]!, to]
}

const TOPICS = ['auth', 'database', 'deployment', 'caching', 'api', 'billing', 'search', 'frontend', 'testing']

/** The entity of a number; three of twenty are what signals look at, in place of turns of conversations. */
function recorded(i: number): [verb: string, args: Record<string, unknown>] {
  const chance = seeded(i * 2 + 5)
  const words = (n: number) => Array.from({ length: n }, () => someWord(chance)).join(' ')
  const topics = [TOPICS[Math.floor(chance() * TOPICS.length)]!]
  switch (i % 20) {
    case 10:
      return ['record-failed-approach', { approach: `${words(5)} ${i}`, outcome: words(6), lesson: words(5), topics }]
    case 11:
      return ['record-exception', { ruleBroken: `Rule ${i % 997} of the house`, justification: `${words(8)} ${i}` }]
    case 12:
      return ['record-correction', { wrongBelief: words(6), rightBelief: words(6), topics }]
    default:
      return entity(i)
  }
}

/** Fills an empty memory; gives the ids of the entities by their numbers. */
export function fillGraph(memory: Memory, entities: number, links: number): string[] {
  const ids: string[] = []
  for (let i = 0; i < entities; i += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, entities - i) }, (_, j) => recorded(i + j))
    ids.push(...memory.act(batch).results.map((r) => String(r.id)))
  }
  // ids made of made-up words: a few look like a credential and are refused as a reference
  const named = ids.map((id) => (screen({ id }, false).secrets.length > 0 ? undefined : id))
  for (let i = 0; i < links; i += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, links - i) }, (_, j) => {
      const [from, type, to] = link(i + j, entities) ?? [0, '', 0]
      return named[from] && named[to] && type ? [['link-entities', { from: named[from], type, to: named[to] }]] : []
    })
    memory.act(batch.flat())
  }
  return ids
}
