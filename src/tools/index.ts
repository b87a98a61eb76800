/**
 * tools: one file per tool. The same value serves MCP, the command line and HTTP: its name, parameters, run, and how a
 * person reads its answer.
 */

import type { Tool } from './tool.ts'

/**
 * Every tool, loaded when it is called: start-up pays for one. The command line, MCP and HTTP all offer what stands
 * here, in this order.
 */
export const TOOLS: Readonly<Record<string, () => Promise<Tool>>> = {
  brief: async () => (await import('./brief.ts')).brief,
  recall: async () => (await import('./recall.ts')).recall,
  discover: async () => (await import('./discover.ts')).discover,
  act: async () => (await import('./act.ts')).act,
  goal: async () => (await import('./goal.ts')).goal,
  activity: async () => (await import('./activity.ts')).activity,
  task: async () => (await import('./task.ts')).task,
  tree: async () => (await import('./tree.ts')).tree,
  next: async () => (await import('./next.ts')).next,
  handoff: async () => (await import('./handoff.ts')).handoff,
  share: async () => (await import('./share.ts')).share,
  events: async () => (await import('./events.ts')).events,
  session: async () => (await import('./session.ts')).session,
  claim: async () => (await import('./claim.ts')).claim,
  release: async () => (await import('./release.ts')).release,
  claims: async () => (await import('./claims.ts')).claims,
  back: async () => (await import('./back.ts')).back,
  remember: async () => (await import('./remember.ts')).remember,
  list: async () => (await import('./list.ts')).list,
  show: async () => (await import('./show.ts')).show,
  forget: async () => (await import('./forget.ts')).forget,
  undo: async () => (await import('./undo.ts')).undo,
  confirm: async () => (await import('./confirm.ts')).confirm,
  review: async () => (await import('./review.ts')).review,
  reject: async () => (await import('./verbs.ts')).reject,
  supersede: async () => (await import('./verbs.ts')).supersede,
  answer: async () => (await import('./verbs.ts')).answer,
  retire: async () => (await import('./verbs.ts')).retire,
  rename: async () => (await import('./verbs.ts')).rename,
  merge: async () => (await import('./verbs.ts')).merge,
  pause: async () => (await import('./pause.ts')).pause,
  resume: async () => (await import('./resume.ts')).resume,
  status: async () => (await import('./status.ts')).status,
  history: async () => (await import('./history.ts')).history,
  questions: async () => (await import('./questions.ts')).questions,
  open_questions: async () => (await import('./open-questions.ts')).openQuestionsTool,
  conflicts: async () => (await import('./conflicts.ts')).conflicts,
  import: async () => (await import('./import.ts')).importTool,
  export: async () => (await import('./export.ts')).exportTool,
}
