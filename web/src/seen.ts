/** What changes under the pointer is not agreed to: a yes names the version that has been on the screen for so long. */
const READ_MS = 1_500

const seen = new Map<string, { version: number; at: number; before: number | undefined }>()

/** To be called with whatever is drawn that waits for a yes. */
export function drawn({ id, version }: { id: string; version: number }): void {
  const there = seen.get(id)
  if (there?.version !== version) seen.set(id, { version, at: performance.now(), before: there?.version })
}

/** The version that the person can have read; of one that just changed the one before, which the server refuses. */
export function readVersion({ id, version }: { id: string; version: number }): number {
  const { at = 0, before } = seen.get(id) ?? {}
  return before !== undefined && performance.now() - at < READ_MS ? before : version
}
