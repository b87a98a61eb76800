import { FENCE_BEGIN, FENCE_END, plain } from '../briefing/fence.ts'
import type { Hook } from './hook.ts'

/** Keeps what was put before the session: which entities, and what it cost at most (M7). */
export async function keepTold(hook: Hook, ids: readonly string[], text: string): Promise<void> {
  if (hook.session === '' || text === '') return
  await hook.attemptLater('told', async () => {
    const { upperTokens } = await import('../recall/upper.ts')
    hook.sessions.told(hook.session, {
      door: `${hook.call.client} ${hook.call.event}`,
      ids: [...ids].slice(0, 100),
      tokens: upperTokens(text),
      chars: text.length,
    })
  })
}

/** What the session was told of already. */
export const toldIds = (hook: Hook): Set<string> =>
  new Set(hook.session === '' ? [] : hook.sessions.toldOf(hook.session).flatMap((t) => t.ids))

/** A text that somebody recorded, as data on one line. */
export const dataLine = (text: unknown, most = 240): string => plain(String(text), most)

/** Lines of what others recorded, behind the fence that they cannot open. */
export const fenced = (title: string, lines: readonly string[]): string =>
  [title, FENCE_BEGIN, ...lines.map((l) => `- ${l}`), FENCE_END].join('\n')
