import { fenced, plain } from '../briefing/fence.ts'
import type { Hook } from './hook.ts'

export async function keepDelivered(hook: Hook, ids: readonly string[], text: string): Promise<void> {
  if (hook.session === '' || text === '') return
  await hook.attemptLater('told', async () => {
    const { estimateTokens } = await import('../../find/recall/token-estimate.ts')
    hook.sessions.told(hook.session, {
      door: `${hook.call.client} ${hook.call.event}`,
      ids: [...ids].slice(0, 100),
      tokens: estimateTokens(text),
      chars: text.length,
    })
  })
}

/** What the conversation holds of what the session was told, and since when: a compaction takes out what came before it. */
export function deliveredSince({ sessions, session }: Hook): Map<string, number> {
  if (session === '') return new Map()
  const from = Number(sessions.get(session)?.data.compacted ?? 0)
  const delivered = sessions.toldOf(session).filter((t) => t.at >= from)
  return new Map(delivered.flatMap((t) => t.ids.map((id) => [id, t.at])))
}

export const dataLine = (text: unknown, most = 240): string => plain(String(text), most)

export const dataList = (title: string, lines: readonly string[]): string =>
  fenced(lines.map((l) => `- ${l}`), title) // biome-ignore format: a row
