import { shellWord } from '../../../model/shell.ts'
import { byTopic, capital, type Detector, fieldOf, said, signalOn, times } from './signal.ts'

/** So many corrections in a topic are told. */
const LEAST = 2
const SHOWN = 5

/** Topics in which what was believed was often wrong; a correction has the topics of what it corrects. */
export const correctionHotspots: Detector = (look) =>
  byTopic(look, look.agreed('correction'), LEAST).map(([topic, found]) => ({
    ...signalOn('corrections', 'medium', topic),
    line: `⚠️ ${capital(topic)} corrected ${times(found.length)} — understanding may be incomplete`,
    entities: found.map((e) => e.id),
    evidence: found
      .slice(-SHOWN)
      .map((e) => `${said(fieldOf(e, 'wrongBelief') || '?')} → ${said(fieldOf(e, 'rightBelief'))}`),
    next: `tidemark discover ${shellWord(`(decisions-by-topic ${JSON.stringify(topic)})`)}`,
  }))
