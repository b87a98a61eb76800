import { UsageError, UserError } from '../../base/errors.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import { undo as verb } from '../../project/verbs/undo.ts'
import { many } from '../../session/briefing/format.ts'
import { moment } from './format.ts'
import { actingAs, defineTool, type Output, type ToolContext, written } from './tool.ts'
import { paramOf } from './verb-params.ts'

/** What the session wrote, to be looked at before it is taken back; undefined where that is nothing. */
function listOf({ memory, local }: ToolContext, session: string): string | undefined {
  const own = memory.newsSince(0).filter((n) => !n.presence && n.author.session === session)
  if (own.length === 0) return undefined
  const lines = own.map((n) => `  ${shortBatch(n.batch)}  ${moment(n.at, local)}  ${n.summary}`)
  return [`session ${session} wrote ${many(own.length, 'batch', 'batches')}:`, ...lines].join('\n')
}

export const undo = defineTool({
  name: 'undo',
  title: 'Undo a batch',
  about:
    'takes back the last batch of the acting session. Without a session, it is the last one that was written without one. BATCH names another one; --all-of takes back everything a session wrote, but for what was changed or linked since. Said twice, it goes two steps back; `tidemark redo` goes forward again',
  example: 'tidemark undo --last',
  params: {
    batch: { type: 'text', about: 'the batch, as act printed it', place: 0 },
    last: { type: 'flag', about: 'the last batch of the acting session (the default)' },
    'all-of': { type: 'text', about: 'everything that this session wrote; shows the list and asks' },
    yes: { type: 'flag', about: 'with --all-of: do not ask' },
    force: paramOf(verb.args.force),
  },
  ofSession: (args) => args.batch === undefined && args['all-of'] === undefined,
  run(context, args) {
    const { batch, last, force, yes, 'all-of': allOf } = args
    if ([batch, last, allOf].filter((x) => x !== undefined && x !== false).length > 1)
      throw new UsageError('BATCH, --last and --all-of name different things', 'give one of them')
    const takeBack = (): Output => {
      const target = allOf === undefined ? { batch: batch ?? 'last' } : { allOf }
      const done = context.memory.act([['undo', { ...target, force }]], actingAs(context))
      const [result] = done.results
      if (result!.standing === 'proposed') return written(done, [`proposed to ${result!.name}`])
      if (!done.batch) return written(done, ['nothing was left of it to take back'])
      const undone = String(result!.undone)
      return written(done, [undone], done, [
        `tidemark ${undone.startsWith('redid') ? 'undo takes' : 'redo brings'} it back`,
      ])
    }
    // an agent is not asked to agree to what only a person may do
    const isOthers = context.by === 'agent' && allOf !== context.session
    const list = allOf === undefined || yes || isOthers ? undefined : listOf(context, allOf)
    if (list === undefined) return takeBack()
    if (context.ask === undefined)
      throw new UserError('not-agreed', `${list}\nnothing was undone`, 'give --yes to take all of it back')
    return context.ask(`${list}\ntake all of it back?`).then((agreed) => {
      if (agreed) return takeBack()
      throw new UserError('not-agreed', 'nothing was undone')
    })
  },
})

export const redo = defineTool({
  name: 'redo',
  title: 'Redo what was undone',
  about:
    'brings back what the last undo of the acting session took away. Said twice, it goes two steps forward; once something else is written, nothing is left to redo',
  example: 'tidemark redo',
  ofSession: () => true,
  run(context) {
    const done = context.memory.act([['redo', {}]], actingAs(context))
    const [result] = done.results
    if (result!.standing === 'proposed') return written(done, [`proposed to ${result!.name}`])
    return written(done, [String(result!.undone), 'tidemark undo takes it back'])
  },
})
