/**
 * verbs: one file per write verb that is not derived from a kind. A verb judges its arguments and adds events to the
 * plan (`engine/write/plan.ts`); it never touches the store.
 */

import { abandon } from './abandon.ts'
import { addEvidence } from './add-evidence.ts'
import { addTask } from './add-task.ts'
import { answerQuestion } from './answer-question.ts'
import { assignTask } from './assign-task.ts'
import { claim } from './claim.ts'
import { complete } from './complete.ts'
import { confirm } from './confirm.ts'
import { curate } from './curate.ts'
import { defineKind } from './define-kind.ts'
import { defineRelation } from './define-relation.ts'
import { handOver } from './hand-over.ts'
import { lift } from './lift.ts'
import { linkEntities } from './link-entities.ts'
import { propose } from './propose.ts'
import { purge } from './purge.ts'
import { reAnchor } from './re-anchor.ts'
import { reject } from './reject.ts'
import { release } from './release.ts'
import { rename } from './rename.ts'
import { restore } from './restore.ts'
import { retire } from './retire.ts'
import { shareAppend } from './share-append.ts'
import { shareDelete } from './share-delete.ts'
import { shareMerge } from './share-merge.ts'
import { shareSet } from './share-set.ts'
import { startActivity } from './start-activity.ts'
import { startGoal } from './start-goal.ts'
import { startTask } from './start-task.ts'
import { supersede } from './supersede.ts'
import { undo } from './undo.ts'
import { unlinkEntities } from './unlink-entities.ts'
import { updateConfidence } from './update-confidence.ts'
import { writeHandoff } from './write-handoff.ts'

/** Every write verb that is not derived from a kind, in the order in which help and docs show them. */
export const VERBS = [
  linkEntities,
  unlinkEntities,
  updateConfidence,
  addEvidence,
  supersede,
  answerQuestion,
  startGoal,
  startActivity,
  startTask,
  addTask,
  complete,
  abandon,
  lift,
  writeHandoff,
  claim,
  release,
  handOver,
  assignTask,
  shareSet,
  shareAppend,
  shareMerge,
  shareDelete,
  retire,
  restore,
  rename,
  reAnchor,
  curate,
  propose,
  confirm,
  reject,
  undo,
  defineKind,
  defineRelation,
  purge,
] as const
