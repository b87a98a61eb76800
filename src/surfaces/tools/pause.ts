import { UsageError } from '../../base/errors.ts'
import { offUntil, pauseAt, pausedSince, resumeNow, switchOff } from '../../session/hooks/pause.ts'
import { ago, moment, oneLine } from './format.ts'
import { mustBeNoAgent } from './person.ts'
import { defineTool } from './tool.ts'

export const pause = defineTool({
  name: 'pause',
  title: 'Pause capture',
  about:
    'hooks capture nothing until `tidemark resume`: no proposals, no automatic handoff; briefings and claims go on',
  example: 'tidemark pause',
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
})

export const off = defineTool({
  name: 'off',
  title: 'Switch everything off',
  about:
    'Tidemark says, keeps and claims nothing here until `tidemark on`, or for a time: no hook, no briefing, no tool or command of an agent. The knowledge stays, and so do commands that you type',
  example: 'tidemark off --for 8h',
  params: { for: { type: 'text', about: 'so long: 30m, 8h, 2d' } },
  run(context, args) {
    const { memory, local } = context
    mustBeNoAgent(context, 'off')
    const now = memory.env.now()
    const [, count, unit] = /^(\d{1,4}) ?([mhd])$/.exec(args.for ?? '') ?? []
    if (args.for !== undefined && unit === undefined)
      throw new UsageError(`--for ${oneLine(args.for, 40)} is not a time`, 'give one such as 30m, 8h or 2d')
    const until =
      unit === undefined ? undefined : now + Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit]!
    switchOff(memory.db, now, until)
    return {
      text: `Tidemark is off here${until === undefined ? '' : ` until ${moment(until, local)}`}; agents are told nothing and nothing of them is kept. Your commands still work; \`tidemark on\` switches it on`,
      json: { off: true, until: until === undefined ? null : new Date(until).toISOString() },
    }
  },
})

export const resume = defineTool({
  name: 'resume',
  title: 'Resume capture',
  about: 'hooks capture again, after `tidemark pause`',
  example: 'tidemark resume',
  run(context) {
    const { memory } = context
    const now = memory.env.now()
    if (offUntil(memory.db, now) !== undefined) mustBeNoAgent(context, 'on')
    const was = offUntil(memory.db, now) ? 'Tidemark' : pausedSince(memory.db) !== undefined && 'capture'
    if (was) resumeNow(memory.db, now)
    return {
      text: was ? `${was} is on again` : 'nothing was off or paused',
      json: { paused: false, was: was !== false },
    }
  },
})

export const on = defineTool({
  ...resume,
  name: 'on',
  title: 'Switch everything on',
  about: 'switches on again what `tidemark off` or `tidemark pause` switched off',
  example: 'tidemark on',
})
