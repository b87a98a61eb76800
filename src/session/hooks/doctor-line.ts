/** One thing that `doctor` looked at. What follows from it is decided by its fields, never by its words. */
export interface Check {
  /** What was looked at, for programs: `codex.server`, `store.pages`. */
  readonly id: string
  /** `off`: it is not set up here, so there is no more to look at. */
  readonly state: 'ok' | 'wrong' | 'off'
  readonly text: string
  readonly fix?: string
}

export const ok = (id: string, text: string, fix?: string): Check => ({ id, state: 'ok', text, fix })
export const wrong = (id: string, text: string, fix: string): Check => ({ id, state: 'wrong', text, fix })
export const off = (id: string, text: string, fix: string): Check => ({ id, state: 'off', text, fix })
