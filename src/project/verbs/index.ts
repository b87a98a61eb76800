/**
 * verbs: the write verbs that are not derived from a kind, a file for each subject. A verb judges its arguments and adds events to the
 * plan (`engine/write/plan.ts`); it never touches the store.
 */

import { assignTask, claim, handOver, release } from './claims.ts'
import { confirm, reject } from './confirm.ts'
import { defineKind, defineRelation } from './definitions.ts'
import { addEvidence, answerQuestion, curate, reAnchor, rename, retire, updateConfidence } from './entities.ts'
import { lift, linkEntities, supersede, unlinkEntities } from './links.ts'
import { propose } from './propose.ts'
import { purge } from './purge.ts'
import { shareAppend, shareDelete, shareMerge, shareSet } from './shared-context.ts'
import { redo, restore, undo } from './undo.ts'
import { abandon, addTask, complete, startActivity, startGoal, startTask } from './work.ts'
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
  redo,
  defineKind,
  defineRelation,
  purge,
] as const
