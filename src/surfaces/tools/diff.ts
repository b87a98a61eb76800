import { UserError } from '../../base/errors.ts'
import type { StateValue } from '../../engine/log/cells.ts'
import { touchedBetween } from '../../engine/store/log.ts'
import { CHANGES, type Changed, differenceOf } from '../../find/graph/difference.ts'
import { inWords as momentInWords } from '../../find/recall/moment.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { inWords, kindNamed, moment, oneLine } from './format.ts'
import { momentAsked } from './moment.ts'
import { defineTool, type ToolContext } from './tool.ts'

const SHOWN = 8
const NAME = 80
const WHY = 100

export const diff = defineTool({
  name: 'diff',
  title: 'What we learned',
  about: 'tells what was added, changed, superseded and retracted since a moment, or between two, with the reasons',
  example: 'tidemark diff "1 month ago"',
  params: {
    from: { type: 'text', about: 'a day (its end), "3 months ago", a commit, or a mark', required: true, place: 0 },
    to: { type: 'text', about: 'the same; now unless given', place: 1 },
    kind: { type: 'text', about: 'only this kind' },
    all: { type: 'flag', about: `everything, not only ${SHOWN} of each` },
  },
  readOnly: true,
  async run(context, args) {
    const { memory, local } = context
    const to = args.to === undefined ? memory.env.now() : await momentAsked(context, args.to)
    const end = await momentAsked(context, args.from)
    // of a day that is not over, what it has brought so far
    const from = args.to === undefined && end > to ? (momentInWords(args.from, to, 'since') ?? end) : end
    if (to < from)
      throw new UserError('bad-time', 'the second moment lies before the first', 'give the earlier one first')
    const before = { reader: memory.asOf(from), now: from }
    const after = { reader: args.to === undefined ? memory.reader : memory.asOf(to), now: to }
    const kind = args.kind === undefined ? undefined : kindNamed(after.reader.registry(), args.kind)
    const found = touchedBetween(memory.db, from, args.to === undefined ? Number.MAX_SAFE_INTEGER : to)
      .flatMap((id) => differenceOf(id, before, after, (id) => deletedBecause(context, id, to)) ?? [])
      .filter((c) => !kind || c.entity.kind === kind.name)
      .sort(({ entity: a }, { entity: b }) => a.kind.localeCompare(b.kind) || newestUpdate(a, b))
    const lines = [`${moment(from, local)} to ${args.to === undefined ? 'now' : moment(to, local)}`]
    for (const change of CHANGES) {
      const all = found.filter((c) => c.change === change)
      if (all.length === 0) continue
      lines.push('', `${change} (${all.length})`)
      const shown = args.all ? all : all.slice(0, SHOWN)
      lines.push(...shown.map((c) => `  ${told(c)}`))
      if (all.length > shown.length) lines.push(`  … ${all.length - shown.length} more: --all shows them`)
    }
    if (found.length === 0) lines.push('nothing that is known changed')
    const json = found.map(({ change, entity: e, why, by, fields: all }) => {
      const fields = all.map(({ field, was = null, is = null }) => ({ field, was, is }))
      const more = { why, by: by?.id, fields: fields.length > 0 ? fields : undefined }
      return defined({ change, id: e.id, kind: e.kind, name: e.name, ...more })
    })
    const iso = (ms: number) => new Date(ms).toISOString()
    return { text: lines.join('\n'), json: { from: iso(from), to: iso(to), changes: json as unknown as Json } }
  },
})

const newestUpdate = (a: Entity, b: Entity): number => b.updated - a.updated || (a.id < b.id ? -1 : 1)

function told({ entity: e, why, by, fields }: Changed): string {
  const said = (value: Json | undefined) => (value === undefined ? 'nothing' : inWords(value, 40))
  const changes = fields.map((f) => `${f.field} ${said(f.was)} → ${said(f.is)}`).join('; ')
  const rest = [by && `by ${oneLine(by.name, NAME)}`, changes && oneLine(changes, 2 * WHY)].filter(Boolean).join(': ')
  return `${e.kind}  ${oneLine(e.name, NAME)}${rest && `  ${rest}`}${why ? `  because: ${oneLine(why, WHY)}` : ''}`
}

/** What the one who deleted it gave as the reason. */
function deletedBecause({ memory }: ToolContext, id: string, at: number): string | undefined {
  const last = memory.history(id).findLast((x) => x.event.field === '$' && x.event.stamp.ms <= at)
  const state = last?.event.value as StateValue | undefined
  return (state?.s === 'deleted' ? state.reason : undefined) ?? last?.author?.intent
}
