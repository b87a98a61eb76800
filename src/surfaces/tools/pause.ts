import { pauseAt, pausedSince, resumeNow } from '../../session/hooks/pause.ts'
import { ago } from './format.ts'
import { mustBeNoAgent } from './person.ts'
import type { Tool } from './tool.ts'

export const pause: Tool = {
  name: 'pause',
  title: 'Pause capture',
  about:
    'hooks capture nothing until `tidemark resume`: no proposals, no automatic handoff; briefings and claims go on',
  example: 'tidemark pause',
  params: {},
  readOnly: false,
  run(context) {
    const { memory } = context
    mustBeNoAgent(context, 'pause')
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

export const resume: Tool = {
  name: 'resume',
  title: 'Resume capture',
  about: 'hooks capture again, after `tidemark pause`',
  example: 'tidemark resume',
  params: {},
  readOnly: false,
  run({ memory }) {
    const was = pausedSince(memory.db) !== undefined
    if (was) resumeNow(memory.db, memory.env.now())
    return { text: was ? 'capture goes on' : 'capture was not paused', json: { paused: false, was } }
  },
}
