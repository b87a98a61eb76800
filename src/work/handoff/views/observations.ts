import type { Entity } from '../../../model/entity.ts'
import { AGENT_RETRO } from '../../../model/kinds/observation.ts'
import { foldText } from '../../../model/names.ts'
import { defined } from '../../../model/object.ts'
import { minute, onPage } from '../page.ts'
import { addedLines, partsOf, type View } from './view.ts'

const HEAD = '# Process Observations\n\n'
/** The newest are shown. */
const MOST = 500
/** A run of a skill: what goes wrong is counted against those. It is no trouble, unless somebody says that it failed. */
export const RUN = 'run'

/** `/add:deploy` and `Deploy` are one operation. */
export const operationOf = (name: unknown): string =>
  foldText(String(name ?? ''))
    .replace(/^\/?(?:[\w-]{1,40}:)?/, '')
    .trim()

/** A backslash is doubled only where it could be read as part of an escape, so that plain paths stay as they are. */
const escaped = (text: string): string =>
  onPage(text)
    .replace(/\\(?=[\\|])/g, '\\\\')
    .replaceAll('|', '\\|')

export const observedAt = ({ created, fields: { observed } }: Entity): number =>
  typeof observed === 'string' ? Date.parse(observed) : created

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** `YYYY-MM-DD HH:MM | operation | what happened | cost or benefit` (P1); a part that is not known is `-`. */
export function observationLine(e: Entity): string {
  const { operation, what, cost, tags, synthesized } = e.fields
  const marks = [
    ...(Array.isArray(tags) && tags.includes(AGENT_RETRO) ? [`[${AGENT_RETRO}]`] : []),
    ...(typeof synthesized === 'string' ? [`[synthesized ${synthesized}]`] : []),
  ]
  const parts = [text(operation), [...marks, text(what)].join(' '), text(cost)].map((p) => escaped(p) || '-')
  return [minute(observedAt(e)), ...parts].join(' | ')
}

/** Which proposal a line led to. It is Tidemark's own mark and no part of what happened. */
const SYNTHESIZED = /^\[synthesized M-\d{1,9}\]\s{0,9}/

/** A line's arguments for `record-observation`; nothing where it is no such line. */
export function readObservationLine(line: string) {
  const parts = partsOf(line.replace(/^[-*] /, ''), /[\\|]/)
  const [, day, clock] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?$/.exec(parts[0]!) ?? []
  if (day === undefined || parts.length < 2) return undefined
  const [operation, said, ...cost] = parts.length > 2 ? parts.slice(1) : [undefined, parts[1]!]
  const known = (part: string | undefined) => (part === '' || part === '-' ? undefined : part)
  let what = known(said) ?? ''
  const isRetro = what.startsWith(`[${AGENT_RETRO}]`)
  if (isRetro) what = what.slice(AGENT_RETRO.length + 2).trim()
  what = what.replace(SYNTHESIZED, '')
  const observed = clock === undefined ? day : `${day}T${clock}:00.000Z`
  const tags = isRetro ? [AGENT_RETRO] : undefined
  return { ...defined({ operation: known(operation), cost: known(cost.join(' | ')), tags }), what, observed }
}

/** observations.md: how the work went, a line each, oldest first. Lines that somebody adds are recorded. */
export const observationsView: View = {
  name: 'observations.md',
  concerns: (news) => news.events.some(({ event }) => event.entity.startsWith('observation:')),
  render({ memory: { reader } }) {
    const all = reader.list('observation', { limit: MOST })
    const inOrder = all.sort((a, b) => observedAt(a) - observedAt(b) || (a.id < b.id ? -1 : 1))
    return all.length === 0 ? '' : HEAD + inOrder.map((e) => `${observationLine(e)}\n`).join('')
  },
  read: (_context, edited, was) =>
    addedLines(edited, was, 'gone or changed: lines are only added', (line) => {
      const said = readObservationLine(line)
      return said && said.what !== ''
        ? { action: ['record-observation', said], says: `observation "${said.what}"` }
        : `no observation can be read in "${line.slice(0, 120)}": time | operation | what happened | cost`
    }),
}
