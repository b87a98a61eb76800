import { handOff } from './automatic-handoff.ts'
import { caughtUp, contextUsedBy } from './context-usage.ts'
import { type Hook, joined } from './hook.ts'

/** A status line that told it so lately knows better than the transcript. */
const FRESH_MS = 5 * 60_000

async function usedNow(hook: Hook): Promise<number | undefined> {
  const { call, sessions, session, memory } = hook
  if (call.contextUsed !== undefined) return call.contextUsed
  const info = sessions.get(session)
  const at = Number(info?.data.contextAt ?? 0)
  if (info?.contextUsed !== undefined && memory.env.now() - at < FRESH_MS) return info.contextUsed
  if (call.transcript === undefined) return info?.contextUsed
  if (call.event === 'stop') await caughtUp(call.client, call.transcript)
  const told = info?.data.contextWindow
  const window = typeof told === 'number' && told > 0 ? told : undefined
  return contextUsedBy(call.client, call.transcript, process.env, window) ?? info?.contextUsed
}

/** Above the mark, once until a compaction: writes the handoff and asks the agent to complete it. */
export async function nearlyFull(hook: Hook): Promise<string | undefined> {
  const { session, sessions, config, memory, call } = hook
  if (session === '' || call.parent !== undefined || config.handoffAt === 0) return undefined
  const used = await hook.attemptLater('context used', () => usedNow(hook))
  if (used === undefined) return undefined
  const whole = Math.round(used)
  const info = sessions.get(session)
  const keep = (nearlyFull: true | null) =>
    sessions.patch(session, { nearlyFull, contextUsed: whole, contextAt: memory.env.now() })
  if (used < config.handoffAt) {
    // after a compaction there is room again, and a next time
    if (info?.data.nearlyFull === true && used < config.handoffAt - 20) hook.attempt('context used', () => keep(null))
    return undefined
  }
  if (info?.data.nearlyFull === true) return undefined
  // tools that ran at the same time end at the same time: one of them asks
  const first = hook.attempt('context used', () =>
    memory.db.write(() => {
      if (sessions.get(session)?.data.nearlyFull === true) return false
      keep(true)
      return true
    }),
  )
  if (first !== true) return undefined
  const written = await handOff(hook, `context ${whole}% used`)
  return joined(
    [
      `Tidemark: ${whole}% of this session's context is used.${written ? ' A handoff was put together from what is known of the session.' : ''}`,
      `${written ? 'Complete it' : 'Write a handoff'} now, while you still know: act [["write-handoff", {"inProgress": ["…"], "decisionsMade": ["…"], "blockers": ["…"], "nextSteps": ["…"]}]]. Next steps matter most; at most 50 lines.`,
    ].join('\n'),
    await hook.attemptLater('to judge', async () => (await import('./ask-agent.ts')).toJudge(hook)),
  )
}
