import { redact } from '../../base/secrets/find.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import { dataLine } from './delivery.ts'
import type { Hook } from './hook.ts'

const LINES = 3
const SAID_MAX = 300

function answerOf({ call, captures, sessions, session }: Hook): string | undefined {
  const { request, requestAt, askedAt } = sessions.get(session)?.data ?? {}
  if (call.said === undefined || !captures || request === undefined || requestAt !== askedAt) return undefined
  const lines = redact(withoutPrivate(call.said)).split('\n')
  const said = lines.filter((line) => line.trim() !== '').slice(0, LINES)
  return dataLine(said.join(' '), SAID_MAX)
}

/** Writes the handoff that needs no agent, where something has changed; true if there is one now. */
export async function handOff(hook: Hook, why: string): Promise<boolean> {
  const { memory, project, session, sessions, call } = hook
  if (session === '' || hook.paused !== undefined) return false
  const said = hook.attempt('answer', () => answerOf(hook))
  if (hook.kept('handedOff') === memory.cursor && said === undefined) return true
  if (said !== undefined) hook.attempt('answer', () => sessions.patch(session, { said }))
  const was = call.event === 'stop' ? hook.kept('handedOffAs') : undefined
  const written = await hook.attemptLater('handoff', async () =>
    (await import('../../work/handoff/compose.ts')).writeAutomatic(memory, project, session, {
      why,
      was,
      agent: hook.author.agent,
    }),
  )
  // what is only kept with the session is to be written at its end
  const handedOff = said === undefined || written?.changed ? memory.cursor : null
  if (written !== undefined)
    hook.attempt('handed off', () => sessions.patch(session, { handedOff, handedOffAs: written.as }))
  return written !== undefined
}
