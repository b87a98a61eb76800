import { UserError } from '../../errors.ts'
import type { Finding } from './types.ts'

/** What a check found, where a file that cannot be read is a finding and not the end of all checks. */
export function guarded(client: string, check: () => Finding[]): Finding[] {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [{ client, ok: false, message: error.message, hint: error.hint }]
  }
}
