import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { typist } from '../../../coordination/caller.ts'
import { UsageError, UserError } from '../../../errors.ts'
import { readEdits, refreshViews } from '../../../handoff/views/index.ts'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/field.ts'
import { fieldsOf } from '../../../model/kind.ts'
import { openAt } from '../../../open.ts'
import { findOne } from '../../../tools/format.ts'
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
    const dir = mkdtempSync(join(tmpdir(), 'tidemark-edit-'))
    try {
      const e = findOne(memory.reader, call.place.join(' '))
      const kind = memory.registry().kind(e.kind)
      if (!kind || kind.internal)
        throw new UserError('not-editable', `a ${e.kind} cannot be edited`, 'links are changed with link-entities')
      const fields = fieldsOf(kind)
      const said = Object.fromEntries(
        Object.keys(fields).flatMap((f) => (e.fields[f] === undefined || fields[f]!.system ? [] : [[f, e.fields[f]!]])),
      )
      const file = join(dir, `${e.kind}.json`)
      writeFileSync(file, `${JSON.stringify(said, null, 2)}\n`)
      const editor = process.env.VISUAL || process.env.EDITOR
      if (!editor) throw new UserError('no-editor', 'neither $VISUAL nor $EDITOR is set', 'set one, e.g. EDITOR=nano')
      const [program = '', ...args] = editor.split(/\s+/)
      const done = spawnSync(program, [...args, file], { stdio: 'inherit' })
      if (done.status !== 0)
        throw new UserError(
          'editor-failed',
          `${program} ended with ${done.error?.message ?? `status ${done.status}`}`,
          'nothing was changed',
        )
      let changed: { [field: string]: Json }
      try {
        changed = JSON.parse(readFileSync(file, 'utf8')) as { [field: string]: Json }
      } catch (error) {
        throw new UserError(
          'not-json',
          `what was saved is not JSON: ${(error as Error).message}`,
          'nothing was changed; edit again',
        )
      }
      const args2: { [field: string]: Json } = {}
      for (const field of new Set([...Object.keys(said), ...Object.keys(changed)])) {
        const now = changed[field]
        if (now !== undefined && said[field] !== undefined && canonical(now) === canonical(said[field]!)) continue
        const list = fields[field]?.type === 'set' || fields[field]?.type === 'list'
        args2[field] = now === undefined ? null : list && Array.isArray(now) ? { set: now } : now
      }
      const renamed =
        typeof args2[kind.key[0]] === 'string' && kind.identity === 'name' ? String(args2[kind.key[0]]) : undefined
      if (renamed !== undefined) delete args2[kind.key[0]]
      const actions: Json[] = []
      if (renamed !== undefined) actions.push(['rename', { ref: e.id, name: renamed, expectedVersion: e.version }])
      if (Object.keys(args2).length > 0)
        actions.push([`record-${e.kind}`, { ref: e.id, expectedVersion: e.version, ...args2 }])
      if (actions.length === 0) {
        call.out('nothing was changed')
        return { json: { changed: [] } }
      }
      const edits = readEdits(memory, project)
      const result = memory.act(actions, {
        by: typist(memory),
        ...(call.session !== undefined ? { session: call.session } : {}),
      })
      for (const note of [...edits, ...result.notes, ...refreshViews(memory, project)]) call.out(`note: ${note}`)
      call.out(
        `${result.results.some((r) => r.standing === 'proposed') ? 'proposed' : 'changed'} ${[...(renamed !== undefined ? [kind.key[0]] : []), ...Object.keys(args2)].join(', ')}\ntidemark undo ${result.batch} takes it back`,
      )
      return { json: result as unknown as Json }
    } finally {
      rmSync(dir, { recursive: true, force: true })
      memory.close()
    }
  },
}
