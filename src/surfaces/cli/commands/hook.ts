import { CLIENT_NAMES } from '../../../work/coordination/clients.ts'
import type { Command } from '../command.ts'

/** Listed and explained like any command; `main.ts` has a faster way in. */
export const hook: Command = {
  name: 'hook',
  about:
    'what clients call at their lifecycle events: the payload on stdin, the answer on stdout; never fails its client',
  usage: 'CLIENT EVENT',
  example: `echo '{"session_id":"s1","source":"startup"}' | tidemark hook claude SessionStart`,
  flags: {
    chain: { type: 'text', value: 'COMMAND', about: 'with status-line: the command whose line is printed before ours' },
  },
  async run(call) {
    const { hook: answer } = await import('../../hook/hook.ts')
    if (call.place.length !== 2)
      call.err(`tidemark hook CLIENT EVENT: clients are ${CLIENT_NAMES.join(', ')}; events as the client spells them`)
    return answer([...call.place, ...(typeof call.flags.chain === 'string' ? ['--chain', call.flags.chain] : [])])
  },
}
