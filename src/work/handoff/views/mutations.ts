import type { Reader } from '../../../engine/read/reader.ts'
import { type Entity, provenanceOf } from '../../../model/entity.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { minute, onPage } from '../page.ts'
import type { View } from './view.ts'

const HEAD = '# Process Mutations\n'

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const attrsOf = ({ fields: { attrs } }: Pick<Entity, 'fields'>): JsonObject => (isObject(attrs) ? attrs : {})

/** Taken over from another tool's mutations.md: what was decided there is told, and nothing here depends on it. */
export const isHistory = (e: Entity): boolean =>
  e.fields.number === undefined &&
  attrsOf(e).addId !== undefined &&
  provenanceOf(e).some((p) => String(p.source).startsWith('import add '))

/** `M-001`; nothing for one that an agent has recorded and nobody has looked at yet. */
export const numberOf = (e: Entity): string | undefined => {
  const number = e.fields.number ?? (isHistory(e) ? attrsOf(e).addId : undefined)
  return typeof number === 'string' ? number : undefined
}

export const statusOf = (e: Entity): string =>
  String(isHistory(e) ? (attrsOf(e).status ?? 'proposed') : (e.fields.status ?? 'proposed'))

const PLAIN: Readonly<Record<string, string>> = { proposed: 'proposed', rejected: 'rejected' }

/** A section in the form of concept paper 2; what another tool said besides follows. */
export function mutationSection(e: Entity): string {
  const status = statusOf(e).toLowerCase()
  const { date } = attrsOf(e)
  const day = typeof date === 'string' ? date : String(e.fields.decided ?? minute(e.created)).slice(0, 10)
  const lines = [`## ${numberOf(e)} (${day}, ${PLAIN[status] ?? 'approved'})`]
  const say = (key: string, value: unknown) => value !== undefined && lines.push(`**${key}:** ${onPage(String(value))}`)
  say('Trigger', e.fields.trigger)
  say('Change', e.fields.change)
  say('Status', capital(status))
  say('Outcome', e.fields.outcome)
  const { addId: _, date: _day, status: _status, ...more } = isHistory(e) ? attrsOf(e) : {}
  for (const [key, value] of Object.entries(more)) say(capital(key), value)
  return lines.join('\n')
}

/** Mutations with a number, in its order. */
export const numbered = (all: readonly Entity[]): Entity[] =>
  all
    .filter((e) => numberOf(e) !== undefined)
    .sort((a, b) => numberOf(a)!.localeCompare(numberOf(b)!, 'en', { numeric: true }) || (a.id < b.id ? -1 : 1))

/** The number after the greatest that is known. */
export function nextNumber(mutations: readonly Entity[]): string {
  const last = Math.max(0, ...mutations.map((e) => Number(/^M-(\d{1,9})$/.exec(numberOf(e) ?? '')?.[1] ?? 0)))
  return `M-${String(last + 1).padStart(3, '0')}`
}

/** The proposal in the words of the concept paper. */
export const proposalText = (e: Entity): string =>
  `Proposed: ${String(e.fields.change)}. Evidence: ${String(e.fields.trigger ?? 'none')}.`

/** Mutations that wait for a person, the oldest first. */
export const waitingIn = (reader: Pick<Reader, 'list'>): Entity[] =>
  numbered(reader.list('mutation')).filter((e) => e.fields.number !== undefined && statusOf(e) === 'proposed')

/** mutations.md: how the process was changed, and why. It is read only: a person decides with `tidemark mutation`. */
export const mutationsView: View = {
  name: 'mutations.md',
  concerns: (news) => news.events.some(({ event }) => event.entity.startsWith('mutation:')),
  render({ memory: { reader } }) {
    const all = numbered(reader.list('mutation', { all: true }))
    return all.length === 0 ? '' : `${HEAD}\n${all.map(mutationSection).join('\n\n')}\n`
  },
  read: () => ({
    actions: [],
    problems: ['it only shows what was decided: a person decides with `tidemark mutation approve M-001`'],
  }),
}
