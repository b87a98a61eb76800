import { purge } from '../../project/verbs/purge.ts'
import { many } from '../../session/briefing/format.ts'
import { findOne, undoLine } from './format.ts'
import { actingAs, defineTool, REF, written } from './tool.ts'
import { paramOf } from './verb-params.ts'

export const forget = defineTool({
  name: 'forget',
  title: 'Forget an entity',
  about:
    'deletes an entity: it leaves every list, its history stays, undo brings it back; with --erase, nothing of it stays anywhere',
  example: 'tidemark forget use-json-files --reason "never happened"',
  params: {
    ref: { ...REF, required: true, place: 'rest' },
    reason: paramOf(purge.args.reason),
    erase: { type: 'flag', about: 'erase it from rows, log, documents and snapshots; cannot be undone' },
  },
  destructive: true,
  run(context, { ref, reason, erase = false }) {
    const e = findOne(context.memory.reader, ref, erase)
    const action = erase
      ? ['purge', { ref: e.id, reason: reason ?? 'erased on request' }]
      : [`delete-${e.kind}`, { ref: e.id, reason: reason || undefined }]
    const done = context.memory.act([action], actingAs(context))
    const lines =
      done.results[0]!.standing === 'proposed'
        ? [`proposed to ${erase ? 'erase' : 'forget'} ${e.kind} ${e.name}`]
        : erase
          ? [`erased ${e.kind}, and what ${many(Number(done.results[0]!.batches), 'batch', 'batches')} held of it`]
          : [`forgot ${e.kind} ${e.name}`, undoLine(done.batch!, 'brings it back')]
    return written(done, lines)
  },
})
