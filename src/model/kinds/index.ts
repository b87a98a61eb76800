import { actionNote } from './action-note.ts'
import { activity } from './activity.ts'
import { chunk } from './chunk.ts'
import { concept } from './concept.ts'
import { context } from './context.ts'
import { correction } from './correction.ts'
import { decision } from './decision.ts'
import { eventNote } from './event-note.ts'
import { exception } from './exception.ts'
import { fact } from './fact.ts'
import { failedApproach } from './failed-approach.ts'
import { file } from './file.ts'
import { goal } from './goal.ts'
import { handoff } from './handoff.ts'
import { hypothesis } from './hypothesis.ts'
import { insight } from './insight.ts'
import { learning } from './learning.ts'
import { mark } from './mark.ts'
import { measurement } from './measurement.ts'
import { mutation } from './mutation.ts'
import { observation } from './observation.ts'
import { pattern } from './pattern.ts'
import { person } from './person.ts'
import { principle } from './principle.ts'
import { projectKind } from './project-kind.ts'
import { projectRelation } from './project-relation.ts'
import { proposal } from './proposal.ts'
import { question } from './question.ts'
import { relationship } from './relationship.ts'
import { result } from './result.ts'
import { retroScore } from './retro-score.ts'
import { task } from './task.ts'

export const KINDS = [
  principle, pattern, decision, fact, learning, correction, exception, failedApproach, insight, question,
  concept, hypothesis, file, chunk, mark, measurement, person, eventNote, goal, activity, task, actionNote,
  result, observation, mutation, retroScore, handoff, context, relationship, proposal, projectKind,
  projectRelation,
] as const // biome-ignore format: a list to read at a glance
