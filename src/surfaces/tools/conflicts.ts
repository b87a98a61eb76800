import { sayMore, waitingChanges } from '../../engine/replication/waiting.ts'
import { cyclesIn } from '../../find/graph/cycles.ts'
import type { Conflict } from '../../model/entity.ts'
import { referenceTo } from '../../project/discover/values.ts'
import { moment, oneLine } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { defineTool } from './tool.ts'

export const conflicts = defineTool({
  name: 'conflicts',
  title: 'Conflicts',
  about:
    'lists values that were written concurrently and still stand beside each other; writing one again settles it; and cycles that links closed when they met',
  example: 'tidemark conflicts',
  params: { 'as-of': AS_OF },
  readOnly: true,
  async run(context, args) {
    const { local, memory } = context
    const { reader } = await at(context, args)
    const found = reader.conflicts().flatMap((e) => {
      const events = memory.history(e.id)
      // a snapshot of a compaction has no author
      const by = ({ at: ms, replica }: Conflict['values'][number]) =>
        events.find(({ event: { stamp } }) => stamp.ms === ms && stamp.replica === replica)?.author
      return e.conflicts.map((c) => ({ e, c: { ...c, values: c.values.map((v) => ({ ...v, by: by(v) })) } }))
    })
    const lines = found.map(({ e, c }) => {
      const values = c.values.map(
        (v) =>
          `${v.value === undefined ? '(cleared)' : JSON.stringify(v.value)} at ${moment(v.at, local)} by ${[v.by?.user, v.by?.agent].filter(Boolean).join(', ') || `replica ${v.replica}`}`,
      )
      return `${referenceTo(reader, e.id)} · ${c.field === '$' ? 'deleted while it was edited' : c.field}\n  ${values.join('\n  ')}`
    })
    const { all: waiting, more } =
      args['as-of'] === undefined ? waitingChanges(memory.db) : { all: [], more: new Map<string, number>() }
    for (const { entity: e, by, wants } of waiting)
      lines.push(
        `${referenceTo(reader, e.id)} · ${oneLine(by, 60)}, unverified, ${oneLine(wants, 600)}\n  tidemark review`,
      )
    for (const [by, n] of more) lines.push(oneLine(sayMore(by, n), 120))
    const cycles = cyclesIn(reader)
    for (const { relation, ids } of cycles)
      lines.push(
        `${[...ids, ids[0]!].map((id) => referenceTo(reader, id)).join(' → ')} · a cycle of ${relation}\n  unlink-entities takes one of them away`,
      )
    return {
      text: lines.join('\n') || 'no conflicts',
      json: [
        ...found.map(({ e, c }) => ({
          id: e.id,
          field: c.field === '$' ? 'existence' : c.field,
          values: c.values.map(({ value = null, at: ms, replica, by }) => ({
            ...{ value, at: new Date(ms).toISOString(), replica },
            ...{ user: by?.user ?? null, agent: by?.agent ?? null },
          })),
        })),
        ...waiting.map(({ entity: e, by, wants }) => ({ id: e.id, field: 'waiting', values: [], by, wants })),
        ...cycles.map(({ relation, ids }) => ({ id: ids[0]!, field: relation, values: [], cycle: ids })),
      ],
    }
  },
})
