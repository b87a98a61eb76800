import { pauseAt, pausedSince } from '../hooks/pause.ts'
import { ago } from './format.ts'
import type { Tool } from './tool.ts'

export const pause: Tool = {
  name: 'pause',
  title: 'Pause capture',
  about:
    'hooks capture nothing until `tidemark resume`: no proposals, no automatic handoff; briefings and claims go on',
  example: 'tidemark pause',
  params: {},
  readOnly: false,
  run({ memory }) {
    const now = memory.env.now()
    const since = pausedSince(memory.db)
    if (since === undefined) pauseAt(memory.db, now)
    return {
      text:
        since === undefined
          ? 'capture is paused; `tidemark resume` goes on'
          : `capture is paused already, since ${ago(since, now)}`,
      json: { paused: true, since: new Date(since ?? now).toISOString() },
    }
  },
}
