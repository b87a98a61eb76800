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

/** What a part gives; where it throws, whatever that is, what `otherwise` makes of it, else undefined. */
export function attempt<T, U = undefined>(part: () => T, otherwise?: (error: Error) => U): T | U {
  try {
    return part()
  } catch (error) {
    return otherwise?.(error as Error) as U
  }
}

/** For `catch` and `attempt`: what `otherwise` makes of an error that counts. Any other is thrown on. */
export const when =
  <E = Error, U = undefined>(counts: (error: unknown) => boolean, otherwise?: (error: E) => U) =>
  (error: unknown): U => {
    if (counts(error)) return otherwise?.(error as E) as U
    throw error
  }

/** The same of a refusal, with one of these codes if any are named. */
export const whenRefused = <U = undefined>(otherwise?: (error: UserError) => U, ...codes: readonly string[]) =>
  when((e) => e instanceof UserError && (codes.length === 0 || codes.includes(e.code)), otherwise)

/** The same of an error of the system with one of these codes. */
export const whenCode = <U = undefined>(codes: readonly string[], otherwise?: (error: Error) => U) =>
  when((e) => codes.includes((e as NodeJS.ErrnoException).code ?? ''), otherwise)

/** What a part gives; where it is refused, with one of these codes if any are named, what `otherwise` makes of that. */
export const unlessRefused = <T, U = undefined>(
  part: () => T,
  otherwise?: (error: UserError) => U,
  ...codes: readonly string[]
): T | U => attempt(part, whenRefused(otherwise, ...codes))

export const errorJson = ({ code, message, hint, details }: UserError) => ({ code, message, hint, details })
