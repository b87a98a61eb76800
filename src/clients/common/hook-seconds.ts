// The hook answers in some tens of milliseconds; what is allowed here is for a disk that stalls. Ending is cut short by
// the clients themselves (Claude Code 1.5 s, Codex 3 s).
export const START = 10
export const TURN = 5
export const TOOL = 5
export const END = 3
