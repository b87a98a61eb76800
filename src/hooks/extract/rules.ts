import { capturedIn } from '../capture/patterns.ts'
import { CAPTURE_SOURCE } from '../capture/propose.ts'
import type { Extractor } from './extractor.ts'

/** Words decide, as they do when a prompt is given: no model, nothing is sent. */
export const rules: Extractor = {
  source: CAPTURE_SOURCE,
  most: 1_000_000,
  cost: () => 0,
  extract: async (turns) => ({
    candidates: turns
      .filter((t) => t.who === 'user')
      .flatMap((t) => capturedIn(t.text))
      .map(({ kind, action, said }) => ({ kind, action, quote: said, confidence: 1 })),
  }),
}
