import type { Hook } from './hook.ts'

/** Writes the handoff that can be put together without the agent; says whether there is one now. */
export async function handOff(hook: Hook, why: string): Promise<boolean> {
  void hook
  void why
  return false
}
