import { oldestFirst } from '../../../engine/read/order.ts'
import { type Entity, standingOf } from '../../../model/entity.ts'
import { foldName } from '../../../model/names.ts'
import { minute, onPage } from '../page.ts'
import { CUT_OFF, lineEdit, partsOf, type Taken, type View, type ViewContext } from './view.ts'

const HEAD = '# Decisions\n\n'

export const escaped = (text: string): string => onPage(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|')

export const decisionLine = (at: number, name: string, rationale: string): string =>
  [minute(at), escaped(name), escaped(rationale)].join(' | ').trimEnd()

const TIME = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?$/

/** What a line says: `time | name | rationale`, the time as good as left out. */
export function readDecisionLine(line: string): { name: string; rationale: string } | undefined {
  const parts = partsOf(line)
  const said = TIME.test(parts[0]!) ? parts.slice(1) : parts
  if (said.length === 0 || said.length > 2 || said[0] === '') return undefined
  if (said.length === 1 && said === parts) return undefined // a sentence is no decision
  return { name: said[0]!, rationale: said[1] ?? '' }
}

const toldOf = (e: Entity): string => String(e.fields.rationale ?? e.fields.description ?? '')

/** Decisions that may lack their line. */
function candidates({ memory: { reader }, news }: ViewContext): Entity[] {
  if (news === undefined) return reader.list('decision', { all: true })
  return [...new Set(news.flatMap((n) => n.events.map(({ event }) => event.entity)))]
    .filter((id) => id.startsWith('decision:'))
    .flatMap((id) => reader.entity(id) ?? [])
    .filter((e) => e.live)
}

/** How long a time is at the start of a line. */
const TIME_LENGTH = 16

/** Whether a line has its name in its second place; elsewhere it may be the rationale of another. */
function isTold(e: Entity, was: string): boolean {
  const name = ` | ${escaped(e.name)}`
  for (let at = was.indexOf(name); at >= 0; at = was.indexOf(name, at + 1)) {
    const rest = was.slice(at + name.length, at + name.length + 2)
    if (was[at - TIME_LENGTH - 1] === '\n' && (rest === ' |' || rest.startsWith('\n'))) return true
  }
  return false
}

/** decisions.md: one line per decision, as it was when it was made; lines are added and never changed. */
export const decisionsView: View = {
  name: 'decisions.md',
  concerns: (news) => news.events.some(({ event }) => event.entity.startsWith('decision:')),
  render(context, was) {
    const fresh = candidates(context).filter((e) => standingOf(e.fields) === 'confirmed' && !isTold(e, was))
    if (fresh.length === 0) return was
    const lines = oldestFirst(context.memory.db, fresh).map((e) => `${decisionLine(e.created, e.name, toldOf(e))}\n`)
    return (was || HEAD) + lines.join('')
  },
  read({ memory: { reader } }, text, was) {
    const edit = lineEdit(text, was)
    if (!edit) return CUT_OFF
    const { fresh, gone } = edit
    const problems: string[] = []
    const actions: Taken[] = []
    const names = new Map<string, string>()
    for (const line of fresh) {
      const said = readDecisionLine(line)
      if (!said) {
        problems.push(`no decision can be read in "${line.slice(0, 120)}": time | name | rationale`)
        continue
      }
      const { name, rationale } = said
      const changed = gone.findIndex((l) => foldName(readDecisionLine(l)?.name ?? '') === foldName(name))
      if (changed >= 0) {
        gone.splice(changed, 1)
        problems.push(`the line of "${name}" was changed; lines are only added: record-decision changes a decision`)
        continue
      }
      const there = reader.find(`decision:${name}`).find((e) => e.kind === 'decision')
      if (there && onPage(toldOf(there)) === onPage(rationale)) continue // known, and told
      const taken = there?.name ?? names.get(foldName(name))
      if (taken !== undefined) {
        problems.push(
          `there is a decision "${taken}" already, and a line only adds one: record-decision changes it, supersede puts one of another name in its place`,
        )
        continue
      }
      names.set(foldName(name), name)
      actions.push({
        // somebody else may take the name in this moment: theirs is not overwritten either
        action: ['record-decision', { name, ...(rationale === '' ? {} : { rationale }), expectedVersion: 0 }],
        says: `decision "${name}"`,
      })
    }
    if (gone.length > 0)
      problems.push(`${gone.length} line${gone.length === 1 ? ' is' : 's are'} gone: delete-decision takes one out`)
    return { actions, problems }
  },
}
