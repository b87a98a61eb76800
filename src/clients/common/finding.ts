import { UserError } from '../../errors.ts'
import type { HookClient } from '../../hooks/call.ts'
import type { Finding } from './types.ts'

/** That nothing of a client starts Tidemark; `checkWiring` tells whether that is a fault. */
export const notWired = (client: HookClient, message: string): Finding => ({
  client,
  ok: false,
  wired: false,
  message,
  hint: `run \`tidemark init --client ${client}\` to wire it`,
})

/** What a check found, where a file that cannot be read is a finding and not the end of all checks. */
export function guarded(client: string, check: () => Finding[]): Finding[] {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [{ client, ok: false, message: error.message, hint: error.hint }]
  }
}
