import type { Section } from '../types.ts'
import { decisions, failures } from './decisions.ts'
import { handoff } from './handoff.ts'
import { news } from './news.ts'
import { review } from './review.ts'
import { rules } from './rules.ts'
import { sessions } from './sessions.ts'
import { shared } from './shared.ts'
import { unconfirmed } from './unconfirmed.ts'

/** The sections of a briefing in their order, the most important first; their shares are what each is sure of. */
export const SECTIONS: readonly Section[] = [
  rules,
  handoff,
  sessions,
  shared,
  decisions,
  failures,
  news,
  review,
  unconfirmed,
]
