import type { Json } from '../schema/field.ts'
import { actingAs } from './act.ts'
import type { Tool } from './tool.ts'

export const undo: Tool = {
  name: 'undo',
  title: 'Undo a batch',
  about: 'takes the last batch back, or the one named, or everything a session wrote; itself undoable',
  example: 'tidemark undo --last',
  params: {
    batch: { type: 'text', about: 'the batch, as act printed it', place: 0 },
    last: { type: 'flag', about: 'the last batch (the default)' },
    session: { type: 'text', about: 'everything this session wrote' },
    force: { type: 'flag', about: 'although later batches build on it' },
  },
  readOnly: false,
  run(context, args) {
    const target =
      typeof args.session === 'string'
        ? { session: args.session }
        : { batch: typeof args.batch === 'string' ? args.batch : 'last' }
    const done = context.memory.act(
      [['undo', { ...target, ...(args.force === true ? { force: true } : {}) }]],
      actingAs(context),
    )
    const r = done.results[0]!
    const text = done.batch
      ? `took back ${String(r.undone)}\ntidemark undo ${done.batch} redoes it`
      : 'nothing was left of it to take back'
    return { text, json: done as unknown as Json }
  },
}
