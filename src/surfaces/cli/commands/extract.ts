import type { Json } from '../../../model/field.ts'
import { openAt } from '../../../project/open.ts'
import { placeOf } from '../../../session/hooks/extract/consent.ts'
import { type Meter, meterLine, meterOf } from '../../../session/hooks/extract/meter.ts'
import type { Looked } from '../../../session/hooks/extract/run.ts'
import type { Command, CommandCall } from '../command.ts'

/** This process ends by then, whatever holds it. */
const DEADLINE_MS = 60_000
const OFF = 'extraction is off'
const SWITCH_ON = 'tidemark models add extractor --url URL --model NAME --budget TOKENS'

const told = ({ session, proposed, why, tokens }: Looked): string =>
  `${session}: ${why ?? `${proposed.length} proposed`}${tokens === undefined ? '' : `, ${tokens} tokens`}${proposed.map((id) => `\n  ${id}`).join('')}`

const meterJson = (m: Meter | undefined): Json =>
  m
    ? {
        on: true,
        place: placeOf(m.allowed),
        model: m.allowed.model,
        used: m.tokens,
        budget: m.allowed.budget,
        calls: m.calls,
        waiting: m.waiting,
        error: m.error ?? null,
      }
    : { on: false }

function showMeter(call: CommandCall, meter: Meter | undefined): { json: Json } {
  call.out(meter ? `${meterLine(meter)}, by ${placeOf(meter.allowed)}` : `${OFF}: \`${SWITCH_ON}\``)
  return { json: meterJson(meter) }
}

export const extract: Command = {
  name: 'extract',
  about:
    'reads what sessions said and proposes what is worth keeping, with the model you allowed (`tidemark models add extractor`)',
  example: 'tidemark extract --meter',
  flags: {
    meter: { type: 'flag', about: 'only say how many tokens were used today, and of how many' },
    of: { type: 'text', value: 'SESSION', about: 'only of this session' },
    due: { type: 'flag', about: 'only what is due; what hooks start' },
  },
  async run(call): Promise<{ json: Json; code?: number }> {
    setTimeout(() => process.exit(1), DEADLINE_MS).unref()
    const session = typeof call.flags.of === 'string' ? call.flags.of : undefined
    const { memory, project } = openAt({ projectPath: call.directory })
    using _open = memory
    if (call.flags.meter) return showMeter(call, meterOf(project, memory.env.now()))
    const { extractWaiting } = await import('../../../session/hooks/extract/run.ts')
    const done = await extractWaiting(memory, project, {
      ...(session === undefined ? {} : { session }),
      dueOnly: call.flags.due === true,
    })
    const meter = meterOf(project, memory.env.now())
    if (!done.ran) {
      call.out(done.why === 'off' ? `${OFF}: \`${SWITCH_ON}\`` : `nothing was sent: ${done.why}`)
      return { json: { looked: [], why: done.why, meter: meterJson(meter) } }
    }
    for (const looked of done.looked) call.out(told(looked))
    if (done.looked.length === 0)
      call.out(session === undefined ? 'nothing waits' : `nothing is known of session ${session}`)
    if (done.looked.some((l) => l.proposed.length > 0)) call.out('`tidemark review` lists what waits for you')
    if (meter) call.out(meterLine(meter))
    return { json: { looked: done.looked as unknown as Json, meter: meterJson(meter) } }
  },
}
