import type { Hook } from './hook.ts'

/** Writes the handoff that can be put together without the agent; says whether there is one now. */
export async function handOff(hook: Hook, why: string): Promise<boolean> {
  const { memory, project, session, call } = hook
  if (session === '' || hook.paused !== undefined) return false
  const written = await hook.attemptLater('handoff', async () =>
    (await import('../sessions/compose.ts')).writeAutomatic(memory, project, session, { why, agent: call.client }),
  )
  return written !== undefined
}
