import { oldestFirst } from '../../../engine/read/order.ts'
import { type Entity, madeAt, standingOf } from '../../../model/entity.ts'
import { foldName } from '../../../model/names.ts'
import { minute, onPage } from '../page.ts'
import { addedLines, partsOf, type View, type ViewContext } from './view.ts'

const HEAD = '# Decisions\n\n'

export const escaped = (text: string): string => onPage(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|')

export const decisionLine = (at: string, name: string, rationale: string): string =>
  [at, escaped(name), escaped(rationale)].join(' | ').trimEnd()

const TIME = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?$/

/** What a line says: `time | name | rationale`, the time as good as left out. */
export function readDecisionLine(line: string): { name: string; rationale: string } | undefined {
  const parts = partsOf(line)
  const said = TIME.test(parts[0]!) ? parts.slice(1) : parts
  if (said.length === 0 || said.length > 2 || said[0] === '') return undefined
  if (said.length === 1 && said === parts) return undefined // a sentence is no decision
  return { name: said[0]!, rationale: said[1] ?? '' }
}

/** What was decided, and why; its name may be the former. */
function toldOf({ name, fields }: Entity): string {
  const [what, why] = [fields.description, fields.rationale].map((v) => String(v ?? '').trim()) as [string, string]
  return what === name || what === '' ? why : why === '' ? what : `${what.replace(/\.$/, '')}; why: ${why}`
}

/** The day of the decision where it was recorded later, else that minute. */
const timeOf = (e: Entity): string => (madeAt(e) < e.created ? minute(madeAt(e)).slice(0, 10) : minute(e.created))

/** Decisions that may lack their line. */
function candidates({ memory: { reader }, news }: ViewContext): Entity[] {
  if (news === undefined) return reader.list('decision', { all: true })
  return [...new Set(news.flatMap((n) => n.events.map(({ event }) => event.entity)))]
    .filter((id) => id.startsWith('decision:'))
    .flatMap((id) => reader.entity(id) ?? [])
    .filter((e) => e.live)
}

/** decisions.md: one line per decision, as it was when it was made; lines are added and never changed. */
export const decisionsView: View = {
  name: 'decisions.md',
  concerns: (news) => news.events.some(({ event }) => event.entity.startsWith('decision:')),
  render(context, was) {
    // elsewhere than in the second place a name may be the rationale of another
    const old = new Set(was.split('\n').map((line) => line.split(/ \|(?: |$)/)[1]))
    const fresh = candidates(context).filter((e) => standingOf(e.fields) === 'confirmed' && !old.has(escaped(e.name)))
    if (fresh.length === 0) return was
    const lines = oldestFirst(context.memory.db, fresh).map((e) => `${decisionLine(timeOf(e), e.name, toldOf(e))}\n`)
    return (was || HEAD) + lines.join('')
  },
  read({ memory: { reader } }, text, was) {
    const names = new Map<string, string>()
    return addedLines(text, was, 'gone: delete-decision takes one out', (line, gone) => {
      const said = readDecisionLine(line)
      if (!said) return `no decision can be read in "${line.slice(0, 120)}": time | name | rationale`
      const { name, rationale } = said
      const changed = gone.findIndex((l) => foldName(readDecisionLine(l)?.name ?? '') === foldName(name))
      if (changed >= 0) {
        gone.splice(changed, 1)
        return `the line of "${name}" was changed; lines are only added: record-decision changes a decision`
      }
      const there = reader.find(`decision:${name}`).find((e) => e.kind === 'decision')
      const known = there ? [toldOf(there), String(there.fields.rationale ?? '')] : []
      if (known.some((told) => onPage(told) === onPage(rationale))) return undefined
      const taken = there?.name ?? names.get(foldName(name))
      if (taken !== undefined)
        return `there is a decision "${taken}" already, and a line only adds one: record-decision changes it, supersede puts one of another name in its place`
      names.set(foldName(name), name)
      return {
        // somebody else may take the name in this moment: theirs is not overwritten either
        action: ['record-decision', { name, ...(rationale === '' ? {} : { rationale }), expectedVersion: 0 }],
        says: `decision "${name}"`,
      }
    })
  },
}
