/** tools: one file per tool. The same value serves MCP, the command line and HTTP. */

import type { Tool } from './tool.ts'

/** The groups of `tidemark --help`, in its order. */
export const GROUPS = ['start', 'every day', 'knowledge', 'work', 'together', 'agents', 'set up'] as const

/** A tool or command before it is loaded. Start-up loads only the one that is called. */
export interface Entry<T> {
  /** Where the command line lists it. Without a group only agents use it. */
  readonly group?: (typeof GROUPS)[number]
  /** Offered to agents over MCP (design §3.7: few). */
  readonly mcp?: boolean
  load(): Promise<T>
}

/** Every tool, in the order in which surfaces list them. */
export const TOOLS: Readonly<Record<string, Entry<Tool>>> = {
  status: { group: 'start', load: async () => (await import('./status.ts')).status },
  remember: { group: 'every day', load: async () => (await import('./remember.ts')).remember },
  recall: { group: 'every day', mcp: true, load: async () => (await import('./recall.ts')).recall },
  list: { group: 'every day', load: async () => (await import('./list.ts')).list },
  show: { group: 'every day', load: async () => (await import('./show.ts')).show },
  explain: { group: 'every day', load: async () => (await import('./explain.ts')).explain },
  review: { group: 'every day', load: async () => (await import('./review.ts')).review },
  back: { group: 'every day', load: async () => (await import('./back.ts')).back },
  handoff: { group: 'every day', load: async () => (await import('./handoff.ts')).handoff },
  undo: { group: 'every day', load: async () => (await import('./undo.ts')).undo },
  redo: { group: 'knowledge', load: async () => (await import('./undo.ts')).redo },
  forget: { group: 'knowledge', load: async () => (await import('./forget.ts')).forget },
  retire: { group: 'knowledge', load: async () => (await import('./verbs.ts')).retire },
  supersede: { group: 'knowledge', load: async () => (await import('./verbs.ts')).supersede },
  restore: { group: 'knowledge', load: async () => (await import('./verbs.ts')).restore },
  rename: { group: 'knowledge', load: async () => (await import('./verbs.ts')).rename },
  're-anchor': { group: 'knowledge', load: async () => (await import('./verbs.ts')).reAnchor },
  merge: { group: 'knowledge', load: async () => (await import('./verbs.ts')).merge },
  confirm: { group: 'knowledge', load: async () => (await import('./confirm.ts')).confirm },
  reject: { group: 'knowledge', load: async () => (await import('./verbs.ts')).reject },
  answer: { group: 'knowledge', load: async () => (await import('./verbs.ts')).answer },
  relate: { group: 'knowledge', load: async () => (await import('./relate.ts')).relate },
  questions: { group: 'knowledge', load: async () => (await import('./questions.ts')).questions },
  history: { group: 'knowledge', load: async () => (await import('./history.ts')).history },
  diff: { group: 'knowledge', load: async () => (await import('./diff.ts')).diff },
  mark: { group: 'knowledge', load: async () => (await import('./mark.ts')).mark },
  trace: { group: 'knowledge', load: async () => (await import('./trace.ts')).trace },
  'what-if': { group: 'knowledge', load: async () => (await import('./what-if.ts')).whatIfTool },
  signals: { group: 'knowledge', load: async () => (await import('./signals.ts')).signals },
  conflicts: { group: 'knowledge', load: async () => (await import('./conflicts.ts')).conflicts },
  scan: { group: 'knowledge', load: async () => (await import('./scan.ts')).scan },
  stores: { group: 'knowledge', load: async () => (await import('./stores.ts')).stores },
  tiers: { group: 'knowledge', load: async () => (await import('./tiers.ts')).tiers },
  import: { group: 'knowledge', load: async () => (await import('./import.ts')).importTool },
  export: { group: 'knowledge', load: async () => (await import('./export.ts')).exportTool },
  maturity: { group: 'work', load: async () => (await import('./maturity.ts')).maturity },
  rules: { group: 'work', load: async () => (await import('./rules.ts')).rules },
  observe: { group: 'work', load: async () => (await import('./observe.ts')).observe },
  retro: { group: 'work', load: async () => (await import('./retro.ts')).retro },
  mutation: { group: 'work', load: async () => (await import('./mutation.ts')).mutation },
  goal: { group: 'work', load: async () => (await import('./work.ts')).goal },
  activity: { group: 'work', load: async () => (await import('./work.ts')).activity },
  task: { group: 'work', load: async () => (await import('./task.ts')).task },
  tree: { group: 'work', load: async () => (await import('./tree.ts')).tree },
  next: { group: 'work', load: async () => (await import('./next.ts')).next },
  claim: { group: 'together', load: async () => (await import('./claim.ts')).claim },
  claims: { group: 'together', load: async () => (await import('./claims.ts')).claims },
  release: { group: 'together', load: async () => (await import('./release.ts')).release },
  foresee: { group: 'together', load: async () => (await import('./foresee.ts')).foresee },
  session: { group: 'together', load: async () => (await import('./session.ts')).session },
  reviewers: { group: 'together', load: async () => (await import('./reviewers.ts')).reviewers },
  share: { group: 'together', load: async () => (await import('./share.ts')).share },
  events: { group: 'together', load: async () => (await import('./events.ts')).events },
  pause: { group: 'together', load: async () => (await import('./pause.ts')).pause },
  off: { group: 'together', load: async () => (await import('./pause.ts')).off },
  on: { group: 'together', load: async () => (await import('./pause.ts')).on },
  resume: { group: 'together', load: async () => (await import('./pause.ts')).resume },
  brief: { group: 'agents', mcp: true, load: async () => (await import('./brief.ts')).brief },
  act: { group: 'agents', mcp: true, load: async () => (await import('./act.ts')).act },
  discover: { group: 'agents', mcp: true, load: async () => (await import('./discover.ts')).discover },
  open_questions: { mcp: true, load: async () => (await import('./questions.ts')).openQuestionsTool },
} // biome-ignore format: a line for each
