import type { Section } from '../types.ts'
import { decisions, failures, learnings } from './decisions.ts'
import { handoff } from './handoff.ts'
import { news } from './news.ts'
import { review } from './review.ts'
import { ruleFiles, unconfirmedRuleFiles } from './rule-files.ts'
import { rules } from './rules.ts'
import { sessions } from './sessions.ts'
import { shared } from './shared.ts'
import { unconfirmed } from './unconfirmed.ts'
import { libraryRules, wider } from './wider.ts'
import { work } from './work.ts'

/** The sections of a briefing in their order, the most important first; their shares are what each is sure of. */
export const SECTIONS: readonly Section[] = [
  rules, libraryRules, work, handoff, sessions, shared, decisions, failures, learnings, ruleFiles, unconfirmedRuleFiles,
  news, review, wider, unconfirmed,
] // biome-ignore format: a list to read at a glance
