import { flag, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

/** The tag of what one agent found in the work of another; the papers write it before the words. */
export const AGENT_RETRO = 'agent-retro'
const MARK = `[${AGENT_RETRO}]`

export const observation = defineKind({
  name: 'observation',
  about: 'one data point about how the work went',
  identity: 'event',
  key: ['what'],
  positional: ['operation', 'what'],
  fields: {
    operation: text('what was being done: deploy, verify, tdd-cycle …', { weight: 0.8, also: ['type'] }),
    what: text('what happened', { weight: 1, also: ['observation', 'text', 'description', 'content'] }),
    severity: text('how bad it is', { weight: 0 }),
    cost: text('what it cost or saved: `cost: 2 h debugging`, `saved: 30 min`', { weight: 0.5 }),
    succeeded: flag('whether the operation did what it was to do'),
    observed: time('when it was observed (now)'),
    synthesized: text('the mutation that was proposed because of it', { system: true }),
  },
  halfLifeDays: 30,
  travels: 'machine',
  read: ({ what, tags = [], ...said }) =>
    typeof what === 'string' && what.startsWith(MARK) && Array.isArray(tags)
      ? { ...said, what: what.slice(MARK.length).trim(), tags: [AGENT_RETRO, ...tags] }
      : undefined,
  example: { operation: 'deploy', what: 'skipped the smoke test', cost: 'cost: 2 h debugging' },
})
