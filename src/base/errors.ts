/** A value that is safe to print in an error and in `--json` output. */
export type ErrorDetails = Record<string, unknown>

/** The caller's mistake: what is wrong, and in `hint` what to do next. Anything else that is thrown is a bug. */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly code: string
  readonly hint: string
  readonly details: ErrorDetails

  constructor(code: string, message: string, hint = '', details: ErrorDetails = {}) {
    super(message)
    this.code = code
    this.hint = hint
    this.details = details
  }
}

/** Called wrongly, whatever the store holds: something is missing, or is none of what there is. Exit 2 on the command line. */
export class UsageError extends UserError {
  constructor(message: string, hint = '', details: ErrorDetails = {}) {
    super('bad-argument', message, hint, details)
  }
}

export function refuse(code: string, message: string, hint: string): never {
  throw new UserError(code, message, hint)
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What a part gives; undefined where it throws, whatever that is. */
export function attempt<T>(part: () => T): T | undefined {
  try {
    return part()
  } catch {
    return undefined
  }
}

/** What a part gives; where it is refused, what `otherwise` makes of that. Anything else that it throws is a bug, and goes on. */
export function unlessRefused<T, U = undefined>(part: () => T, otherwise?: (error: UserError) => U): T | U {
  try {
    return part()
  } catch (error) {
    if (error instanceof UserError) return otherwise?.(error) as U
    throw error
  }
}

export const errorJson = ({ code, message, hint, details }: UserError) => ({ code, message, hint, details })
