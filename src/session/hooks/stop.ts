import { handOff } from './automatic-handoff.ts'
import type { HookReply } from './call.ts'
import type { Hook } from './hook.ts'
import { agentsRetro } from './session-end.ts'
import { recordedBy } from './session-records.ts'

/** A session is long after so many prompts or files, or so much time with at least one file in hand. */
const LONG = { prompts: 5, files: 3, ms: 30 * 60_000 }

function isLong(hook: Hook): boolean {
  const info = hook.sessions.get(hook.session)
  if (!info) return false
  return (
    Number(info.data.prompts ?? 0) >= LONG.prompts ||
    info.files.length >= LONG.files ||
    (info.files.length > 0 && hook.memory.env.now() - info.started >= LONG.ms)
  )
}

/** The agent stops: the handoff is written. It is never kept from stopping; reminders go with the next prompt. */
export async function stop(hook: Hook): Promise<HookReply> {
  if (hook.session === '' || hook.call.parent !== undefined) return {}
  const reply = await atStop(hook)
  if (hook.paused !== undefined) return reply
  const visible = await hook.attemptLater('question', async () => {
    const { agentAsked, askAbout, proposedSince } = await import('./ask-person.ts')
    const asked = askAbout(hook, proposedSince(hook))
    agentAsked(hook)
    return asked
  })
  return visible === undefined ? reply : { ...reply, visible }
}

async function atStop(hook: Hook): Promise<HookReply> {
  const { session, sessions, config } = hook
  const full = await hook.attemptLater('context used', async () =>
    (await import('./context-warning.ts')).nearlyFull(hook),
  )
  await hook.attemptLater('observed', async () => (await import('./observe.ts')).stopped(hook))
  await agentsRetro(hook, session)
  if (full !== undefined) {
    sessions.patch(session, { asked: true }) // what to record, too
    return { context: full }
  }
  await handOff(hook, 'stop')
  if (!config.askAtStop || hook.paused !== undefined) return {}
  const ask = hook.attempt('asked', () => {
    if (hook.kept('asked') === true || !isLong(hook) || recordedBy(hook).length > 0) return false
    sessions.patch(session, { asked: true })
    return true
  })
  if (!ask) return {}
  return {
    context:
      'Tidemark: this session has recorded nothing yet. What the next session should know (a decision and why, what did not work, how a file works) is recorded with act, beside the work. Told only once.',
  }
}
