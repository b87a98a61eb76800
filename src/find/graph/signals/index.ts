import type { Memory } from '../../../engine/memory.ts'
import type { Reader } from '../../../engine/read/reader.ts'
import type { Project } from '../../../engine/store/project.ts'
import { bindingRules, vocabularyOf } from '../../recall/contradictions.ts'
import { topicVocabularyOf } from '../../recall/topic-vocabulary.ts'
import { similarAcross } from './across.ts'
import { supersessionChains } from './chains.ts'
import { correctionHotspots } from './corrections.ts'
import { exceptionClusters } from './exceptions.ts'
import { failureRecurrence } from './failures.ts'
import { mutualConstraints } from './mutual.ts'
import { type Detector, Look, type OtherProject, SEVERITIES, type Signal } from './signal.ts'
import { staleClusters } from './stale.ts'
import { constraintViolations } from './violations.ts'

export type { OtherProject, Signal } from './signal.ts'

/** In the order in which signals of one severity are told. */
const DETECTORS: readonly Detector[] = [
  constraintViolations,
  mutualConstraints,
  exceptionClusters,
  failureRecurrence,
  correctionHotspots,
  staleClusters,
  supersessionChains,
  similarAcross,
]

/** What several signals look at: the knowledge now, or as it was, with its moment. */
export const lookAt = (
  memory: Memory,
  project: Partial<Project>,
  options: { reader?: Reader; now?: number; others?(): readonly OtherProject[] } = {},
): Look => {
  const { reader = memory.reader, now = memory.env.now(), others } = options
  return new Look({
    memory,
    reader,
    now,
    topics: topicVocabularyOf(project),
    alternatives: vocabularyOf(project),
    binding: () => bindingRules(memory, reader, now),
    ...(others && { others }),
  })
}

/** Everything worth a look, the most severe first. Nothing is changed by it. */
export const signalsOf = (look: Look): Signal[] =>
  DETECTORS.flatMap((detect) => detect(look)).sort(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  )
