export const WORK_KINDS = ['goal', 'activity', 'task'] as const
export type WorkKind = (typeof WORK_KINDS)[number]

export const isWork = (kind: string): kind is WorkKind => (WORK_KINDS as readonly string[]).includes(kind)
