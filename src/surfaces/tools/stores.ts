import { basename, dirname, resolve } from 'node:path'
import { UsageError, UserError } from '../../base/errors.ts'
import { inspect } from '../../base/files.ts'
import type { Json } from '../../model/field.ts'
import { applyMerge, mergeOf, revertOf, shownMerge } from '../../project/ownership/merge.ts'
import { findOverlaps, type Overlap, overlapSummary } from '../../project/ownership/overlaps.ts'
import { oneLine } from './format.ts'
import { mustBePerson } from './person.ts'
import { actingAs, defineTool, type Output } from './tool.ts'

const ABOUT: Readonly<Record<Overlap['type'], string>> = {
  same: 'stands in several stores',
  alike: 'stands in several stores in other words',
  copies: 'stands in the files of several clients',
  misplaced: 'stands in the wrong store',
}

/** One finding: its number, what it says, where it stands, and whose it is. */
function lines(o: Overlap, i: number): string[] {
  const [owner, ...others] = o.places
  const more = o.count > 1 ? `, and ${o.count - 1} more` : ''
  const head = `${i + 1}. "${oneLine(owner!.texts[0]!, 100)}"${more} ${ABOUT[o.type]}`
  if (o.type === 'misplaced') return [head, `   ${owner!.where} → ${o.owner}: ${o.why}`]
  const said = others.map(
    (p) =>
      `   ${p.where}${p.texts[0]!.toLowerCase() !== owner!.texts[0]!.toLowerCase() && o.type === 'alike' ? `: "${oneLine(p.texts[0]!, 100)}"` : ''}`,
  )
  return [head, `   ${owner!.where}${o.type === 'copies' ? ` (${o.why})` : ` owns it: ${o.why}`}`, ...said]
}

const json = (overlaps: readonly Overlap[]): Json =>
  overlaps.map(({ places, ...o }) => ({
    ...o,
    places: places.map(({ store, where, texts }) => ({ store, where, text: texts[0]! })),
  }))

const NOTHING: Output = { text: 'nothing was changed', json: { changed: false } }
const DECIDES = 'decides what is merged'

export const stores = defineTool({
  name: 'stores',
  title: 'Which file owns what',
  about:
    'lists what stands in several stores (CLAUDE.md, AGENTS.md, MEMORY.md, .add/, the knowledge …) or in the wrong one, and which should own it; merge takes the others out, revert restores them. Only a person on a terminal decides',
  example: 'tidemark stores',
  params: {
    do: { type: 'text', about: 'what to do (list)', place: 0, choices: ['list', 'merge', 'revert'] },
    which: { type: 'text', about: 'merge: the number in the list; revert: S-001', place: 1 },
    memory: { type: 'text', about: 'a MEMORY.md outside of the project, as Claude Code keeps it' },
  },
  local: true,
  async run(context, { do: action = 'list', which, memory: named }): Promise<Output> {
    const { memory, project } = context
    const { root } = project
    const file = named === undefined ? undefined : resolve(named)
    if (file !== undefined && inspect(dirname(file), basename(file)).is !== 'file')
      throw new UserError('no-file', `there is no file ${named}`, 'give the path of a MEMORY.md')
    if (action === 'revert') {
      if (which === undefined) throw new UsageError('it is not said which merge', '`tidemark stores revert S-001`')
      const restore = revertOf(root, which, file)
      const ask = mustBePerson(context, DECIDES, `stores revert ${which}`)
      if (!(await ask(`${restore.diff}\n\nTake ${which} back?`))) return NOTHING
      restore.run(memory, actingAs(context))
      return { text: `${which} is reverted`, json: { reverted: which } }
    }
    const found = findOverlaps(memory, root, file)
    if (action === 'list') {
      const next = found.length === 0 ? [] : ['', 'tidemark stores merge 1 shows what it would change and asks']
      return { text: [overlapSummary(found), ...found.flatMap(lines), ...next].join('\n'), json: json(found) }
    }
    const overlap = /^\d{1,6}$/.test(which ?? '') ? found[Number(which) - 1] : undefined
    if (!overlap)
      throw new UserError(
        'not-found',
        `there is no finding ${which ?? 'without a number'}`,
        '`tidemark stores` numbers them',
      )
    const merge = mergeOf(overlap)
    const ask = mustBePerson(context, DECIDES, `stores merge ${which}`)
    const head = lines(overlap, Number(which) - 1).join('\n')
    if (!(await ask(`${head}\n\n${shownMerge(merge)}\n\nMerge it so?`))) return NOTHING
    const id = applyMerge(memory, root, merge, actingAs(context))
    return {
      text: `merged into ${overlap.owner}; tidemark stores revert ${id} takes it back`,
      json: { merged: id, owner: overlap.owner, files: merge.edits.map((e) => e.store) },
    }
  },
})
