import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, refuse, UsageError, UserError } from '../../../base/errors.ts'
import { temporaryDirectory } from '../../../base/files.ts'
import type { ActResult } from '../../../engine/memory.ts'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/field.ts'
import { fieldsOf } from '../../../model/kind.ts'
import { openAt } from '../../../project/open.ts'
import { typist } from '../../../work/coordination/caller.ts'
import { act } from '../../tools/act.ts'
import { findOne, undoLine } from '../../tools/format.ts'
import { run } from '../../tools/run.ts'
import type { Command } from '../command.ts'

export const edit: Command = {
  name: 'edit',
  about:
    'opens an entity in $EDITOR as JSON and records what was changed; refused if somebody else changed it meanwhile',
  usage: 'REF',
  example: 'EDITOR=vim tidemark edit use-sqlite',
  flags: {},
  async run(call) {
    if (call.place.length === 0) throw new UsageError('REF is missing', 'give an id, kind:name, a path or a name')
    const { memory, project } = openAt({ projectPath: call.directory })
    using _open = memory
    using dir = temporaryDirectory(tmpdir(), 'tidemark-edit-')
    const e = findOne(memory.reader, call.place.join(' '))
    const kind = memory.registry().kind(e.kind)
    if (!kind || kind.internal)
      throw new UserError('not-editable', `a ${e.kind} cannot be edited`, 'links are changed with link-entities')
    const fields = fieldsOf(kind)
    const said = Object.fromEntries(
      Object.keys(fields).flatMap((f) => (e.fields[f] === undefined || fields[f]!.system ? [] : [[f, e.fields[f]!]])),
    )
    const file = join(dir.path, `${e.kind}.json`)
    writeFileSync(file, `${JSON.stringify(said, null, 2)}\n`)
    const editor = process.env.VISUAL || process.env.EDITOR
    if (!editor) throw new UserError('no-editor', 'neither $VISUAL nor $EDITOR is set', 'set one, e.g. EDITOR=nano')
    const [program = '', ...args] = editor.split(/\s+/)
    const done = spawnSync(program, [...args, file], { stdio: 'inherit' })
    if (done.status !== 0) {
      const why = done.error?.message ?? `status ${done.status}`
      throw new UserError('editor-failed', `${program} ended with ${why}`, 'nothing was changed')
    }
    const saved = attempt(
      () => JSON.parse(readFileSync(file, 'utf8')) as { [field: string]: Json },
      (error) => refuse('not-json', `what was saved is not JSON: ${error.message}`, 'nothing was changed; edit again'),
    )
    const changes: { [field: string]: Json } = {}
    for (const field of new Set([...Object.keys(said), ...Object.keys(saved)])) {
      const now = saved[field]
      if (now !== undefined && said[field] !== undefined && canonical(now) === canonical(said[field]!)) continue
      const list = fields[field]?.type === 'set' || fields[field]?.type === 'list'
      changes[field] = now === undefined ? null : list && Array.isArray(now) ? { set: now } : now
    }
    const { [kind.key[0]]: name, ...others } = changes
    const renames = typeof name === 'string' && kind.identity === 'name'
    const of = { ref: e.id, expectedVersion: e.version }
    const actions: Json[] = renames ? [['rename', { ...of, name }]] : []
    const more = renames ? others : changes
    if (Object.keys(more).length > 0) actions.push([`record-${e.kind}`, { ...of, ...more }])
    if (actions.length === 0) {
      call.out('nothing was changed')
      return { json: { changed: [] } }
    }
    const context = { memory, project, by: typist(memory), session: call.session }
    const result = (await run(act, context, { actions })).json as unknown as ActResult
    for (const note of result.notes) call.out(`note: ${note}`)
    const did = result.results.some((r) => r.standing === 'proposed') ? 'proposed' : 'changed'
    call.out(`${did} ${Object.keys({ ...(renames && { [kind.key[0]]: name }), ...more }).join(', ')}`)
    call.out(undoLine(result.batch!))
    return { json: result as unknown as Json }
  },
}
