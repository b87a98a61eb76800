import type { Hook } from './hook.ts'

/**
 * Writes the handoff that can be put together without the agent; says whether there is one now. Nothing is put together
 * again where nothing happened in the project since the last time.
 */
export async function handOff(hook: Hook, why: string): Promise<boolean> {
  const { memory, project, session, sessions, call } = hook
  if (session === '' || hook.paused !== undefined) return false
  if (hook.kept('handedOff') === memory.cursor) return true
  const written = await hook.attemptLater('handoff', async () =>
    (await import('../sessions/compose.ts')).writeAutomatic(memory, project, session, { why, agent: call.client }),
  )
  if (written !== undefined) hook.attempt('handed off', () => sessions.patch(session, { handedOff: memory.cursor }))
  return written !== undefined
}
